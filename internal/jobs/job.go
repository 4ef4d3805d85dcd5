package jobs

import (
	"time"

	"github.com/signalbox/signalbox/internal/accounts"
)

// The JSON:API types of this package.
const (
	Kind      = "job"
	KindRun   = "run"
	KindUsage = "usage"

	KindPreview = "schedule_preview"
	KindStats   = "job_stats"
)

const (
	// HTTP is the only type of job.
	HTTP = "http"
	// Allow is the only concurrency policy: runs of one job may overlap.
	Allow = "ALLOW"
)

// Job is one outbound request and its schedule.
type Job struct {
	Account       string        `json:"-"`
	UID           string        `json:"-"` // a job that is created again with the same key has another UID
	Key           string        `json:"-"`
	RequestID     string        `json:"-"` // of the stored configuration
	Name          string        `json:"name"`
	Description   *string       `json:"description"`
	Enabled       bool          `json:"enabled"`
	Type          string        `json:"type"`
	Schedule      string        `json:"schedule"`
	Timezone      *string       `json:"timezone"` // an IANA name; nil is UTC
	Configuration Configuration `json:"configuration"`
	Concurrency   string        `json:"concurrency_policy"`
	Overlap       Overlap       `json:"overlap"`
	Retry         *Retry        `json:"retry"`  // nil: a run is attempted at most once
	Alerts        *Alerts       `json:"alerts"` // nil: health is computed, without events
	NextRunAt     *time.Time    `json:"next_run_at"`
	CreatedAt     time.Time     `json:"created_at"`
	UpdatedAt     time.Time     `json:"updated_at"`
	DeletedAt     *time.Time    `json:"deleted_at"`
	Version       int           `json:"version"`

	// Observed members are part of neither the history nor the ETag.
	LastRun   *LastRun   `json:"-"` // the newest run; nil for none
	Health    Health     `json:"-"`
	SkippedAt *time.Time `json:"-"` // the last instant of the schedule that was skipped; nil for none
}

// Lane returns the queue of the job's runs.
func (j Job) Lane() string { return Lane(j.Account, j.Configuration.Host()) }

// LateCheckAt returns when to check first whether the job is late after it was written, or when the next reminder is due;
// nil for never.
func (j Job) LateCheckAt() *time.Time {
	if j.Enabled && j.Health.isBad() && j.Alerts != nil && j.Alerts.RemindEvery != nil {
		return new(j.Health.nextReminder(*j.Alerts.RemindEvery, j.UpdatedAt))
	}
	if !j.Enabled || j.Alerts == nil || j.Alerts.LateAfter == nil && j.Alerts.NoSuccessFor == nil {
		return nil
	}
	return &j.UpdatedAt
}

// shownTo returns the job as a caller may see it: callers who may not replace the job
// do not see the secrets of its configuration.
func (j Job) shownTo(caller accounts.Caller) Job {
	if !caller.Role.Covers(accounts.Member) || caller.Environments != nil {
		j.Configuration = NewConfiguration(j.Configuration.plain.redacted())
	}
	return j
}

// Recorded returns the job as the history stores it. Configurations that differ only in
// secrets have different ids, and a revert finds the configuration by its id.
func (j Job) Recorded() any {
	return struct {
		Job

		ConfigurationID string `json:"configuration_id"`
	}{j, j.RequestID}
}

// Shown is a job with its configuration in the clear.
type Shown struct {
	Job

	Configuration Plain              `json:"configuration"`
	LastRun       *LastRunAttributes `json:"last_run"`
	SkippedAt     *time.Time         `json:"skipped_at"`
	Health        *Health            `json:"health"`
}

// Show returns the job with its configuration in the clear.
func (j Job) Show() Shown {
	return Shown{Job: j, Configuration: j.Configuration.Plain(), LastRun: j.LastRun.attributes(), SkippedAt: j.SkippedAt, Health: &j.Health}
}

// Definition returns the job for the ETag: without secrets and without times of runs.
// Every caller sees the same ETag, which must not confirm the guess of a secret. A new
// secret still changes the ETag through the version.
func (s Shown) Definition() any {
	s.NextRunAt, s.LastRun, s.SkippedAt, s.Health = nil, nil, nil, nil
	s.Configuration = s.Configuration.redacted()
	return s
}
