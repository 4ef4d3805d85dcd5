package signalbox

import (
	"context"
	"encoding/json"
	"iter"
	"net/url"
	"time"
)

// ScheduleNow is the schedule of a job that runs once, as soon as possible.
const ScheduleNow = "now"

// Job is an HTTP request with a schedule.
type Job struct {
	Resource
	Name        string  `json:"name"`
	Description *string `json:"description"`
	// Enabled reports whether the job fires. A one-off job is disabled after it fired.
	Enabled bool `json:"enabled"`
	// Schedule is a date and time, five cron fields, or [ScheduleNow].
	Schedule string `json:"schedule"`
	// Timezone is the IANA time zone of the schedule; nil is UTC.
	Timezone *string `json:"timezone"`
	// Overlap says what happens while an earlier run has not ended.
	Overlap JobOverlap `json:"overlap"`
	// Retry says which failed runs are attempted again; nil attempts each run at most once.
	Retry *JobRetry `json:"retry"`
	// Alerts says when the health of the job is an event; nil is never.
	Alerts *JobAlerts `json:"alerts"`
	// Health says whether the job works.
	Health JobHealth `json:"health"`
	// Configuration is the request. Values of headers are "<redacted>" for keys that cannot replace the job.
	Configuration JobConfiguration `json:"configuration"`
	// NextRunAt is when the job fires next; nil for never.
	NextRunAt *time.Time `json:"next_run_at"`
	// LastRun is the newest run, which may not have ended yet; nil when there is none.
	LastRun *LastRun `json:"last_run"`
	// SkippedAt is the last due time for which no run was created, because of Overlap or too many pending runs; nil for
	// none.
	SkippedAt *time.Time `json:"skipped_at"`
	Timestamps
	// Version starts at 1 and grows with every Replace.
	Version int `json:"version"`
}

// JobConfiguration is the request that a job sends. Zero members are the server's defaults.
type JobConfiguration struct {
	// Method is GET, POST, PUT, PATCH or DELETE; POST when it is empty.
	Method string `json:"method,omitempty"`
	// URL is an absolute http or https URL.
	URL string `json:"url"`
	// Headers are sent as they are. Their values are encrypted at rest.
	Headers []JobHeader `json:"headers"`
	// SuccessStatus is a status such as "204" or a class such as "2xx", the default.
	SuccessStatus string `json:"success_status,omitempty"`
	// TLSVerify says whether to verify the receiver's certificate; nil is true.
	TLSVerify *bool `json:"tls_verify,omitempty"`
	// CACert has PEM certificates that are trusted in addition to the system's.
	CACert *string `json:"ca_cert"`
	// Body is sent as it is; nil sends no body.
	Body *string `json:"body"`
	// Timeout is in seconds; 0 is 30. The plan has a maximum.
	Timeout int `json:"timeout,omitempty"`
}

// JobHeader is one header of the requests of a job or a webhook.
type JobHeader struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// LastRun is a summary of a job's newest run.
type LastRun struct {
	ID            string         `json:"id"`
	Status        RunStatus      `json:"status"`
	FailureReason *FailureReason `json:"failure_reason"`
	// FailureStatus is the HTTP status with which the run failed; nil if it did not fail, or failed for another reason.
	FailureStatus *int       `json:"failure_status"`
	Trigger       RunTrigger `json:"trigger"`
	// StartedAt is nil until the run has started. FinishedAt and RunMillis are nil until it has ended.
	StartedAt  *time.Time `json:"started_at"`
	FinishedAt *time.Time `json:"finished_at"`
	RunMillis  *int64     `json:"run_duration_ms"`
}

// JobDraft creates or replaces a job.
type JobDraft struct {
	Name        string  `json:"name"`
	Description *string `json:"description"`
	// Enabled says whether the job fires; nil is true.
	Enabled *bool `json:"enabled,omitempty"`
	// Schedule is a date and time, five cron fields, or [ScheduleNow].
	Schedule string `json:"schedule"`
	// Timezone is the IANA time zone of the schedule; nil is UTC.
	Timezone      *string          `json:"timezone,omitempty"`
	Configuration JobConfiguration `json:"configuration"`
	// Overlap says what happens while an earlier run has not ended; [OverlapAllow] when it is empty.
	Overlap JobOverlap `json:"overlap,omitempty"`
	// Retry says which failed runs are attempted again; nil attempts each run at most once.
	Retry *JobRetry `json:"retry,omitempty"`
	// Alerts says when the health of the job is an event; nil is the server's default.
	Alerts *JobAlerts `json:"alerts,omitempty"`
	// NoAlerts says that the health of the job is never an event. Alerts must be nil.
	NoAlerts bool `json:"-"`
}

// MarshalJSON writes null alerts if NoAlerts is set.
func (d JobDraft) MarshalJSON() ([]byte, error) {
	type plain JobDraft
	if !d.NoAlerts {
		return json.Marshal(plain(d))
	}
	return json.Marshal(struct {
		plain
		Alerts *JobAlerts `json:"alerts"`
	}{plain: plain(d)})
}

// JobParams filter jobs.
type JobParams struct {
	Paging
	// Search is a part of the id or the name, ignoring case.
	Search string
	// Enabled lists only enabled or only disabled jobs; nil lists both.
	Enabled *bool
	// LastStatus is the status of the newest run; empty lists all.
	LastStatus RunStatus
	// Health is the state of the job's health; empty lists all.
	Health JobHealthState
}

// JobsAPI manages the jobs of the account. Lists have the newest first.
type JobsAPI struct{ jobs collection[Job, *Job] }

// Draft returns a draft of the job's current state.
func (j Job) Draft() JobDraft {
	return JobDraft{Name: j.Name, Description: j.Description, Enabled: &j.Enabled, Schedule: j.Schedule, Timezone: j.Timezone, Configuration: j.Configuration,
		Overlap: j.Overlap, Retry: j.Retry, Alerts: j.Alerts, NoAlerts: j.Alerts == nil}
}

func (p JobParams) query() url.Values {
	return filtered(p.Paging.query(), "search", p.Search, "enabled", boolFilter(p.Enabled), "last_status", string(p.LastStatus), "health", string(p.Health))
}

// Get returns a job with its schedule, its request and its newest run. [IsNotFound] reports that there is no job with
// this id. Any role may read; only callers that may replace the job see the secrets in its request.
func (a JobsAPI) Get(ctx context.Context, id string) (Job, error) { return a.jobs.get(ctx, id) }

// List returns one page of jobs, by default the newest first. [Paging.Sort] takes created_at, name, key (the id),
// updated_at and next_run_at. Any role may read.
func (a JobsAPI) List(ctx context.Context, params JobParams) (Page[Job], error) {
	return a.jobs.list(ctx, params)
}

// All iterates over every job that params select, starting at their page. It ends after the first error.
func (a JobsAPI) All(ctx context.Context, params JobParams) iter.Seq2[Job, error] {
	return a.jobs.all(ctx, params)
}

// Create creates a job, which counts against the plan when it is enabled: see [IsLimitReached]. [IsAlreadyExists]
// reports that its id is in use. The id of a deleted job may be used again. It needs the role MEMBER.
func (a JobsAPI) Create(ctx context.Context, id string, draft JobDraft, options ...WriteOption) (Job, error) {
	return a.jobs.create(ctx, id, draft, options)
}

// Replace replaces a job. [IsNotFound] reports that there is none with this id. NextRunAt is computed anew if the
// schedule changes or the job is enabled. It needs the role MEMBER.
func (a JobsAPI) Replace(ctx context.Context, id string, draft JobDraft, options ...WriteOption) (Job, error) {
	return a.jobs.replace(ctx, id, draft, options)
}

// Apply replaces a job, or creates it if there is none. It needs the role MEMBER.
func (a JobsAPI) Apply(ctx context.Context, id string, draft JobDraft, options ...WriteOption) (Job, error) {
	return a.jobs.apply(ctx, id, draft, options)
}

// Delete deletes a job. Pending runs are canceled and running ones finish. All runs stay in the list of runs. It needs
// the role MEMBER.
func (a JobsAPI) Delete(ctx context.Context, id string, options ...WriteOption) error {
	return a.jobs.delete(ctx, id, options)
}

// Run queues a run, even of a disabled job, and does not wait for it: see [RunsAPI.Wait]. [IsAlreadyRunning] reports
// that the job's runs must not overlap and one has not ended. A request that is retried queues one run: see [Once]. It
// needs the role MEMBER.
func (a JobsAPI) Run(ctx context.Context, id string) (Run, error) {
	return fetch[Run](ctx, a.jobs.transport, post(nil, a.jobs.path, id, "actions", "run"))
}
