package jobs

import (
	"math"
	"strings"
	"time"
	"unicode/utf8"
)

// Trigger says why a run was created.
type Trigger string

// Status is the state of a run. The last three are final.
type Status string

// The triggers, states and failure reasons of runs.
const (
	OnSchedule Trigger = "SCHEDULE"
	Manual     Trigger = "MANUAL"
	Rerun      Trigger = "RERUN"

	Pending   Status = "PENDING"
	Running   Status = "RUNNING"
	Succeeded Status = "SUCCEEDED"
	Failed    Status = "FAILED"
	Canceled  Status = "CANCELED"

	Timeout          Reason = "TIMEOUT"
	ConnectionError  Reason = "CONNECTION_ERROR"
	NonSuccessStatus Reason = "NON_SUCCESS_STATUS"
	SSRFBlocked      Reason = "SSRF_BLOCKED"
	QuotaExceeded    Reason = "QUOTA_EXCEEDED"
	WorkerLost       Reason = "WORKER_LOST"
)

// Reason says why a run failed.
type Reason string

// Timings are the phases of an exchange in milliseconds. A reused connection has
// no phases before the first byte.
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

// maxRecordedBody is how much of a response's body is kept.
const maxRecordedBody = 64 << 10

// RecordedBody returns the part of a response's body that is stored, and whether the
// body was cut. Bytes that are not UTF-8 become replacement characters, which are
// longer; a character that was cut in two is left out.
func RecordedBody(body string, truncated bool) (recorded string, cut bool) {
	if truncated {
		body = wholeCharacters(body)
	}
	if !utf8.ValidString(body) { // checking first saves ToValidUTF8 50 µs for 64 KiB of valid text
		body = strings.ToValidUTF8(body, string(utf8.RuneError))
	}
	if len(body) <= maxRecordedBody {
		return body, truncated
	}
	return wholeCharacters(body[:maxRecordedBody]), true
}

// wholeCharacters removes an incomplete character at the end.
func wholeCharacters(text string) string {
	for i := len(text) - 1; i >= max(0, len(text)-utf8.UTFMax); i-- {
		if utf8.RuneStart(text[i]) {
			if utf8.FullRuneInString(text[i:]) {
				break
			}
			return text[:i]
		}
	}
	return text
}

// Run is one execution of a job.
type Run struct {
	ID           string     `json:"-"`
	Account      string     `json:"-"`
	JobUID       string     `json:"-"`
	JobKey       string     `json:"job"`
	Lane         string     `json:"-"` // account and host: lanes are limited, and served in turn
	JobVersion   *int       `json:"job_version"`
	Trigger      Trigger    `json:"trigger"`
	RerunOf      *string    `json:"rerun_of"`
	ScheduledFor *time.Time `json:"scheduled_for"`
	Attempt      int        `json:"attempt"`    // from 1 on
	NotBefore    *time.Time `json:"not_before"` // of a further attempt: when it may start
	DueAt        *time.Time `json:"-"`          // of a further attempt: the instant of the chain
	Retried      bool       `json:"-"`          // another attempt follows
	Status       Status     `json:"status"`
	Reason       *Reason    `json:"failure_reason"`
	Error        *string    `json:"error"`
	Request      *Request   `json:"request"`
	Result       *Result    `json:"result"`
	CreatedAt    time.Time  `json:"created_at"`
	StartedAt    *time.Time `json:"started_at"`
	FinishedAt   *time.Time `json:"finished_at"`
}

// Lane joins an account and a host. Accounts are UUIDs, so lanes sort by account.
func Lane(account, host string) string { return account + ":" + host }

// RunAttributes is a run as the API shows it.
type RunAttributes struct {
	Run

	PendingDuration *int64 `json:"pending_duration_ms"`
	RunDuration     *int64 `json:"run_duration_ms"`
	TotalDuration   *int64 `json:"total_duration_ms"`
	Final           bool   `json:"final"` // it has ended, and no further attempt follows
}

// Attributes returns the run with its durations. A run that never started was
// pending until it ended.
func (r Run) Attributes() RunAttributes {
	pending := between(&r.CreatedAt, r.FinishedAt)
	if r.StartedAt != nil {
		pending = between(&r.CreatedAt, r.StartedAt)
	}
	return RunAttributes{r, pending, between(r.StartedAt, r.FinishedAt), between(&r.CreatedAt, r.FinishedAt),
		r.FinishedAt != nil && !r.Retried}
}

// LastRun is the part of its newest run that a job shows.
type LastRun struct {
	ID         string     `json:"id"`
	Status     Status     `json:"status"`
	Reason     *Reason    `json:"failure_reason"`
	HTTPStatus *int       `json:"failure_status"` // of NonSuccessStatus
	Trigger    Trigger    `json:"trigger"`
	StartedAt  *time.Time `json:"started_at"`
	FinishedAt *time.Time `json:"finished_at"`
}

// LastRunAttributes is a LastRun with its duration.
type LastRunAttributes struct {
	LastRun

	RunDuration *int64 `json:"run_duration_ms"`
}

// attributes returns the run with its duration; nil for none.
func (r *LastRun) attributes() *LastRunAttributes {
	if r == nil {
		return nil
	}
	return &LastRunAttributes{*r, between(r.StartedAt, r.FinishedAt)}
}

// between returns a duration in whole milliseconds that fits 32 bits. It is never
// negative, although the clocks of two nodes may differ.
func between(from, to *time.Time) *int64 {
	if from == nil || to == nil {
		return nil
	}
	return new(min(max(to.Sub(*from).Milliseconds(), 0), math.MaxInt32))
}

// Usage is the usage of an account in a month.
type Usage struct {
	Period          string `json:"period"`
	RunsUsed        int    `json:"runs_used"`
	RunsIncluded    int    `json:"runs_included"`
	ActiveJobs      int    `json:"active_jobs"`
	ActiveJobsLimit int    `json:"active_jobs_limit"`
}

// Period returns the calendar month of an instant, in UTC.
func Period(at time.Time) string { return at.UTC().Format("2006-01") }
