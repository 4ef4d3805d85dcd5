package signalbox

import (
	"context"
	"iter"
	"net/url"
	"time"
)

const (
	jobKind        = "job"
	jobsCollection = "jobs"
)

// ScheduleNow is the schedule of a job that runs once, as soon as possible.
const ScheduleNow = "now"

// Job is one outbound HTTP request and when to make it.
type Job struct {
	Resource
	// Name is what people call it.
	Name string `json:"name"`
	// Description says what it is for; nil means nothing.
	Description *string `json:"description"`
	// Enabled tells whether it fires. A one-off disables itself when it has.
	Enabled bool `json:"enabled"`
	// Schedule is a date and time, five cron fields in UTC, or [ScheduleNow].
	Schedule string `json:"schedule"`
	// Configuration is what it sends, secrets included.
	Configuration JobConfiguration `json:"configuration"`
	// NextRunAt is when it fires next; nil when it does not.
	NextRunAt *time.Time `json:"next_run_at"`
	// CreatedAt and UpdatedAt are when it was made and last changed.
	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"`
	// Version starts at 1 and grows with every Replace.
	Version int `json:"version"`
}

// JobConfiguration is the request that a job makes. Zero members are the
// server's defaults.
type JobConfiguration struct {
	// Method is GET, POST, PUT, PATCH or DELETE; POST when it is empty.
	Method string `json:"method,omitempty"`
	// URL is absolute, http or https.
	URL string `json:"url"`
	// Headers are sent as they are. Their values are encrypted at rest.
	Headers []JobHeader `json:"headers"`
	// SuccessStatus is a status such as "204" or a class such as "2xx", which
	// it is when it is empty.
	SuccessStatus string `json:"success_status,omitempty"`
	// TLSVerify tells whether the receiver's certificate is verified; nil is
	// true.
	TLSVerify *bool `json:"tls_verify,omitempty"`
	// CACert is PEM certificates that are trusted beside the system's.
	CACert *string `json:"ca_cert"`
	// Body is sent as it is; nil sends none.
	Body *string `json:"body"`
	// Timeout is in seconds; 0 means 30. The plan has a maximum.
	Timeout int `json:"timeout,omitempty"`
}

// JobHeader is one header of a job's request.
type JobHeader struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// JobDraft is what a job is to become.
type JobDraft struct {
	// Name is what people call it.
	Name string `json:"name"`
	// Description says what it is for. nil means nothing, and clears the one
	// that is stored.
	Description *string `json:"description"`
	// Enabled tells whether it fires; nil is true.
	Enabled *bool `json:"enabled,omitempty"`
	// Schedule is a date and time, five cron fields in UTC, or [ScheduleNow].
	Schedule string `json:"schedule"`
	// Configuration is what it sends.
	Configuration JobConfiguration `json:"configuration"`
}

// JobParams choose jobs.
type JobParams struct {
	Paging
	// Search is a part of the id or the name, in any case.
	Search string
	// Enabled is the state to list; nil lists both.
	Enabled *bool
}

// JobsAPI is the scheduled requests of the account.
type JobsAPI struct{ transport *transport }

// Draft is the draft that changes nothing.
func (j Job) Draft() JobDraft {
	return JobDraft{Name: j.Name, Description: j.Description, Enabled: &j.Enabled, Schedule: j.Schedule, Configuration: j.Configuration}
}

func (p JobParams) query() url.Values {
	query := p.Paging.query()
	filter(query, "search", p.Search)
	filterBool(query, "enabled", p.Enabled)
	return query
}

// List gives one page of jobs, the newest first.
func (a JobsAPI) List(ctx context.Context, params JobParams) (Page[Job], error) {
	return listed[Job](ctx, a.transport, params.query(), jobsCollection)
}

// All gives every job from the page of the params on. It ends after the first
// error.
func (a JobsAPI) All(ctx context.Context, params JobParams) iter.Seq2[Job, error] {
	return every(params.Paging, func(paging Paging) (Page[Job], error) {
		params.Paging = paging
		return a.List(ctx, params)
	})
}

// Get gives one job.
func (a JobsAPI) Get(ctx context.Context, id string) (Job, error) {
	return one[Job](ctx, a.transport, get(jobsCollection, id))
}

// Create makes a job, which takes a slot of the plan when it is enabled: see
// [IsLimitReached]. The id of a deleted job may be used again. It needs the
// role MEMBER.
func (a JobsAPI) Create(ctx context.Context, id string, draft JobDraft) (Job, error) {
	return one[Job](ctx, a.transport, post(enclose(jobKind, id, draft), jobsCollection))
}

// Replace changes a job. When it fires next is decided anew if the schedule
// changes or it is enabled. It needs the role MEMBER.
func (a JobsAPI) Replace(ctx context.Context, id string, draft JobDraft, options ...WriteOption) (Job, error) {
	return one[Job](ctx, a.transport, put(enclose(jobKind, id, draft), jobsCollection, id).with(options))
}

// Delete removes a job. Runs of it that wait are cancelled, those under way
// finish, and all stay in the list of runs. It needs the role MEMBER.
func (a JobsAPI) Delete(ctx context.Context, id string, options ...WriteOption) error {
	_, err := a.transport.call(ctx, remove(jobsCollection, id).with(options), nil)
	return err
}

// Run queues a run, whether the job is enabled or not, and does not wait for
// it: see [RunsAPI.Wait]. It is not repeated by itself, because the job would
// run twice. It needs the role MEMBER.
func (a JobsAPI) Run(ctx context.Context, id string) (Run, error) {
	return one[Run](ctx, a.transport, post(nil, jobsCollection, id, "actions", "run"))
}
