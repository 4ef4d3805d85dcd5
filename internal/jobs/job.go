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

// Job is one outbound request and when to make it.
type Job struct {
	Account       string        `json:"-"`
	UID           string        `json:"-"` // differs between jobs that had the same key one after the other
	Key           string        `json:"-"`
	RequestID     string        `json:"-"` // of the stored configuration
	Name          string        `json:"name"`
	Description   *string       `json:"description"`
	Enabled       bool          `json:"enabled"`
	Type          string        `json:"type"`
	Schedule      string        `json:"schedule"`
	Configuration Configuration `json:"configuration"`
	Concurrency   string        `json:"concurrency_policy"`
	NextRunAt     *time.Time    `json:"next_run_at"`
	CreatedAt     time.Time     `json:"created_at"`
	UpdatedAt     time.Time     `json:"updated_at"`
	DeletedAt     *time.Time    `json:"deleted_at"`
	Version       int           `json:"version"`

	// What is observed, and neither part of the history nor of the ETag.
	LastRun   *LastRun   `json:"-"` // the newest; nil for none
	SkippedAt *time.Time `json:"-"` // the last instant that its schedule skipped; nil for none
}

// Lane returns the queue of the job's runs.
func (j Job) Lane() string { return Lane(j.Account, j.Configuration.Host()) }

// shownTo returns the job as a caller may see it: with the secrets of its
// configuration only for those who can replace it.
func (j Job) shownTo(caller accounts.Caller) Job {
	if !caller.Role.Covers(accounts.Member) || caller.Environments != nil {
		j.Configuration = NewConfiguration(j.Configuration.plain.redacted())
	}
	return j
}

// Recorded returns the job as the history has it. The id of the configuration tells
// two apart whose secrets differ, and finds them again.
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
}

// Show returns the job with its configuration in the clear.
func (j Job) Show() Shown {
	return Shown{Job: j, Configuration: j.Configuration.Plain(), LastRun: j.LastRun.attributes(), SkippedAt: j.SkippedAt}
}

// Definition returns the job without what only time changes. Secrets are left out
// too: everybody sees the same ETag, which must not confirm a guess; a change of
// one changes the version.
func (s Shown) Definition() any {
	s.NextRunAt, s.LastRun, s.SkippedAt = nil, nil, nil
	s.Configuration = s.Configuration.redacted()
	return s
}
