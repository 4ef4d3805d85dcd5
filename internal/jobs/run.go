package jobs

import (
	"math"
	"strconv"
	"time"
)

// Trigger says why a run was made.
type Trigger string

// The triggers.
const (
	OnSchedule Trigger = "SCHEDULE"
	Manual     Trigger = "MANUAL"
	Rerun      Trigger = "RERUN"
)

// Status is how far a run is. The last three are final.
type Status string

// The states of a run.
const (
	Pending   Status = "PENDING"
	Running   Status = "RUNNING"
	Succeeded Status = "SUCCEEDED"
	Failed    Status = "FAILED"
	Canceled  Status = "CANCELED"
)

// Final tells whether a run stays as it is.
func (s Status) Final() bool { return s == Succeeded || s == Failed || s == Canceled }

// Reason says why a run failed.
type Reason string

// The reasons.
const (
	Timeout          Reason = "TIMEOUT"
	ConnectionError  Reason = "CONNECTION_ERROR"
	NonSuccessStatus Reason = "NON_SUCCESS_STATUS"
	SSRFBlocked      Reason = "SSRF_BLOCKED"
	QuotaExceeded    Reason = "QUOTA_EXCEEDED"
	WorkerLost       Reason = "WORKER_LOST"
)

// Timings are the phases of an exchange in milliseconds. A connection that was
// open already has no phases before the first byte.
type Timings struct {
	DNS       float64 `json:"dns_ms"`
	Connect   float64 `json:"connect_ms"`
	TLS       float64 `json:"tls_ms"`
	FirstByte float64 `json:"first_byte_ms"`
	Total     float64 `json:"total_ms"`
}

// Result is the response to a run's request.
type Result struct {
	Status        int               `json:"status"`
	Headers       map[string]string `json:"headers"` // names in lower case
	Body          string            `json:"body"`
	BodyTruncated bool              `json:"body_truncated"`
	BodyBytes     int64             `json:"body_bytes"`
	Timings       *Timings          `json:"timings,omitempty"`
}

// StatusText is the status as it is written.
func (r Result) StatusText() string { return strconv.Itoa(r.Status) }

// Run is one execution of a job.
type Run struct {
	ID      string
	Account string
	JobUID  string
	JobKey  string
	// Lane is the account and the host that the run goes to: what is limited
	// and served in turn.
	Lane         string
	JobVersion   *int
	Trigger      Trigger
	RerunOf      *string
	ScheduledFor *time.Time
	Status       Status
	Reason       *Reason
	Error        *string
	Request      *Request
	Result       *Result
	CreatedAt    time.Time
	StartedAt    *time.Time
	FinishedAt   *time.Time
}

// Lane joins an account and a host. Accounts are UUIDs, so lanes sort by account.
func Lane(account, host string) string { return account + laneSeparator + host }

const laneSeparator = ":"

// RunAttributes are what a run shows.
type RunAttributes struct {
	Job             string     `json:"job"`
	JobVersion      *int       `json:"job_version"`
	Trigger         Trigger    `json:"trigger"`
	RerunOf         *string    `json:"rerun_of"`
	ScheduledFor    *time.Time `json:"scheduled_for"`
	Status          Status     `json:"status"`
	StartedAt       *time.Time `json:"started_at"`
	FinishedAt      *time.Time `json:"finished_at"`
	PendingDuration *int64     `json:"pending_duration_ms"`
	RunDuration     *int64     `json:"run_duration_ms"`
	TotalDuration   *int64     `json:"total_duration_ms"`
	FailureReason   *Reason    `json:"failure_reason"`
	Error           *string    `json:"error"`
	Request         *Request   `json:"request"`
	Result          *Result    `json:"result"`
	CreatedAt       time.Time  `json:"created_at"`
}

// Attributes gives what a run shows.
func (r Run) Attributes() RunAttributes {
	return RunAttributes{
		Job: r.JobKey, JobVersion: r.JobVersion, Trigger: r.Trigger, RerunOf: r.RerunOf, ScheduledFor: r.ScheduledFor, Status: r.Status,
		StartedAt: r.StartedAt, FinishedAt: r.FinishedAt, CreatedAt: r.CreatedAt,
		PendingDuration: r.pending(), RunDuration: between(r.StartedAt, r.FinishedAt), TotalDuration: between(&r.CreatedAt, r.FinishedAt),
		FailureReason: r.Reason, Error: r.Error, Request: r.Request, Result: r.Result,
	}
}

// pending is how long the run waited: until it started, or until it ended
// without having started.
func (r Run) pending() *int64 {
	if r.StartedAt != nil {
		return between(&r.CreatedAt, r.StartedAt)
	}
	return between(&r.CreatedAt, r.FinishedAt)
}

// between is a duration in whole milliseconds that fit 32 bits. The clocks of
// two nodes may disagree, but no duration is negative.
func between(from, to *time.Time) *int64 {
	if from == nil || to == nil {
		return nil
	}
	took := min(max(to.Sub(*from).Milliseconds(), 0), math.MaxInt32)
	return &took
}

// Usage is what an account has used in a month.
type Usage struct {
	Period          string `json:"period"`
	RunsUsed        int    `json:"runs_used"`
	RunsIncluded    int    `json:"runs_included"`
	ActiveJobs      int    `json:"active_jobs"`
	ActiveJobsLimit int    `json:"active_jobs_limit"`
}

// Period is the calendar month that an instant is metered in.
func Period(at time.Time) string { return at.UTC().Format("2006-01") }
