package signalbox

import "time"

// JobOverlap says what happens when a job is due and an earlier run of it has not ended.
type JobOverlap string

// The policies for overlapping runs.
const (
	OverlapAllow JobOverlap = "allow" // the runs overlap
	OverlapSkip  JobOverlap = "skip"  // the due time makes no run
	OverlapWait  JobOverlap = "wait"  // the run waits; a newer due time replaces it
)

// JobBackoff says how the delay between attempts grows.
type JobBackoff string

// The kinds of backoff.
const (
	BackoffFixed       JobBackoff = "fixed"
	BackoffExponential JobBackoff = "exponential"
)

// JobRetry says which failed runs are attempted again. Zero members are the server's defaults.
type JobRetry struct {
	// MaxAttempts is 2 to 10, including the first attempt.
	MaxAttempts int `json:"max_attempts"`
	// DelaySeconds is 60 when it is 0. MaxDelaySeconds is 3600 when it is 0.
	DelaySeconds    int `json:"delay_seconds,omitempty"`
	MaxDelaySeconds int `json:"max_delay_seconds,omitempty"`
	// Backoff is [BackoffExponential] when it is empty.
	Backoff JobBackoff `json:"backoff,omitempty"`
	// On has the reasons that are retried; nil is TIMEOUT, CONNECTION_ERROR and NON_SUCCESS_STATUS. After WORKER_LOST the
	// request may have been sent already.
	On []FailureReason `json:"on,omitempty"`
	// Statuses are the statuses or classes for which NON_SUCCESS_STATUS is retried; nil is 408, 429 and 5xx.
	Statuses []string `json:"statuses,omitempty"`
}

// JobAlerts says when the health of a job is an event. Zero members are the server's defaults.
type JobAlerts struct {
	// AfterFailures is how many final failures in a row make the job failing; 1 when it is 0.
	AfterFailures int `json:"after_failures,omitempty"`
	// RecoverAfter is how many successes in a row make a failing job ok again; 1 when it is 0.
	RecoverAfter int `json:"recover_after,omitempty"`
	// LateAfterSeconds is how long after its due time a run may start; nil is without limit.
	LateAfterSeconds *int `json:"late_after_seconds"`
	// NoSuccessForSeconds is how long the job may be without a success; nil is without limit.
	NoSuccessForSeconds *int `json:"no_success_for_seconds"`
	// RemindEverySeconds is how often webhooks are reminded of a job that stays failing or late; nil is never.
	RemindEverySeconds *int `json:"remind_every_seconds"`
}

// JobHealthState is the state of a job's health.
type JobHealthState string

// The states of a job's health.
const (
	HealthNew     JobHealthState = "new"     // no outcome yet
	HealthOK      JobHealthState = "ok"      // the last outcome was a success, or not enough failures followed it
	HealthFailing JobHealthState = "failing" // too many final failures in a row
	HealthLate    JobHealthState = "late"    // a run did not start in time, or there was no success for too long
	HealthPaused  JobHealthState = "paused"  // disabled by a write
)

// JobHealth says whether a job works, and since when.
type JobHealth struct {
	State JobHealthState `json:"state"`
	Since time.Time      `json:"since"`
	// Failures counts the final failures in a row: attempts that were retried do not count.
	Failures int `json:"failures"`
	// LastSuccessAt is nil if no run has succeeded.
	LastSuccessAt *time.Time `json:"last_success_at"`
}
