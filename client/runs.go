package signalbox

import (
	"context"
	"iter"
	"net/url"
	"time"
)

// RunTrigger is why a run was created.
type RunTrigger string

// The triggers.
const (
	RunTriggerSchedule RunTrigger = "SCHEDULE"
	RunTriggerManual   RunTrigger = "MANUAL"
	RunTriggerRerun    RunTrigger = "RERUN"
)

// RunStatus is the state of a run.
type RunStatus string

// The states of a run. The last three are final.
const (
	RunPending   RunStatus = "PENDING"
	RunRunning   RunStatus = "RUNNING"
	RunSucceeded RunStatus = "SUCCEEDED"
	RunFailed    RunStatus = "FAILED"
	RunCanceled  RunStatus = "CANCELED"
)

// Final reports whether the run has ended.
func (s RunStatus) Final() bool { return s == RunSucceeded || s == RunFailed || s == RunCanceled }

// FailureReason is why a run failed.
type FailureReason string

// The reasons.
const (
	FailureTimeout          FailureReason = "TIMEOUT"
	FailureConnectionError  FailureReason = "CONNECTION_ERROR"
	FailureNonSuccessStatus FailureReason = "NON_SUCCESS_STATUS"
	FailureSSRFBlocked      FailureReason = "SSRF_BLOCKED"
	FailureQuotaExceeded    FailureReason = "QUOTA_EXCEEDED"
	FailureWorkerLost       FailureReason = "WORKER_LOST"
)

// Run is one execution of a job.
type Run struct {
	Resource
	// Job is the id of the job, which may have been deleted since.
	Job string `json:"job"`
	// JobVersion is the executed version; nil before the run starts.
	JobVersion *int       `json:"job_version"`
	Trigger    RunTrigger `json:"trigger"`
	// RerunOf is the id of the run that this one repeats.
	RerunOf *string `json:"rerun_of"`
	// ScheduledFor is when a scheduled run was due.
	ScheduledFor *time.Time `json:"scheduled_for"`
	Status       RunStatus  `json:"status"`
	// StartedAt is nil until the run has started, FinishedAt until it has ended.
	StartedAt  *time.Time `json:"started_at"`
	FinishedAt *time.Time `json:"finished_at"`
	// PendingMillis is how long the run waited, RunMillis how long it ran, and TotalMillis their sum; nil if not known yet.
	PendingMillis *int64 `json:"pending_duration_ms"`
	RunMillis     *int64 `json:"run_duration_ms"`
	TotalMillis   *int64 `json:"total_duration_ms"`
	// FailureReason and Error are why a run failed; nil when it did not.
	FailureReason *FailureReason `json:"failure_reason"`
	Error         *string        `json:"error"`
	// Request is the sent request without secrets; nil before the run starts.
	Request *RunRequest `json:"request"`
	// Result is the response; nil when there was none.
	Result *RunResult `json:"result"`
	// CreatedAt is when the run was queued.
	CreatedAt time.Time `json:"created_at"`
}

// RunRequest is the request of a run. The values of its headers are hidden.
type RunRequest struct {
	Method  string      `json:"method"`
	URL     string      `json:"url"`
	Headers []JobHeader `json:"headers"`
	Body    *string     `json:"body"`
}

// RunResult is the response that a run received.
type RunResult struct {
	Status int `json:"status"`
	// Headers have names in lower case.
	Headers map[string]string `json:"headers"`
	// Body is at most the first 64 KiB; BodyTruncated reports whether the body was longer. BodyBytes is its full length.
	Body          string      `json:"body"`
	BodyTruncated bool        `json:"body_truncated"`
	BodyBytes     int64       `json:"body_bytes"`
	Timings       *RunTimings `json:"timings"`
}

// RunTimings are the phases of an exchange in milliseconds.
type RunTimings struct {
	DNS       float64 `json:"dns_ms"`
	Connect   float64 `json:"connect_ms"`
	TLS       float64 `json:"tls_ms"`
	FirstByte float64 `json:"first_byte_ms"`
	Total     float64 `json:"total_ms"`
}

// RunParams filter runs. The newest come first.
type RunParams struct {
	// Job selects the job with this id, and deleted jobs that had this id; empty lists the runs of all jobs.
	Job string
	// Status and Trigger to list; empty lists all.
	Status  RunStatus
	Trigger RunTrigger
	// From (inclusive) and To (exclusive) limit when the runs were queued; the zero time is an open end.
	From, To time.Time
	// Size is the number of runs per page, up to 1000; 0 is the server's default.
	Size int
	// After is the Next of the previous page; empty selects the first page.
	After string
}

// RunsAPI reads and controls the executions of the account's jobs.
type RunsAPI struct{ runs collection[Run, *Run] }

func (p RunParams) query() url.Values {
	return filtered(cursorQuery(p.Size, p.After), "job", p.Job, "status", string(p.Status), "trigger", string(p.Trigger),
		"created_at", rangeFilter(p.From, p.To))
}

// Get returns a run with its request and response. [IsNotFound] reports that the run does not exist or is no longer kept.
// Any role may read.
func (a RunsAPI) Get(ctx context.Context, id string) (Run, error) { return a.runs.get(ctx, id) }

// List returns one page of runs, the newest first. A page may have fewer than [RunParams.Size] runs when the recorded
// responses are large: [CursorPage.Next] is set if more follow. Any role may read.
func (a RunsAPI) List(ctx context.Context, params RunParams) (CursorPage[Run], error) {
	return a.runs.listAfter(ctx, params)
}

// All iterates over every run that params select, the newest first, starting at their page. It ends after the first error.
func (a RunsAPI) All(ctx context.Context, params RunParams) iter.Seq2[Run, error] {
	return a.runs.allAfter(ctx, params)
}

// Wait polls a run until it has ended or ctx is done. The pauses grow from 50 ms to 2 s.
func (a RunsAPI) Wait(ctx context.Context, id string) (Run, error) {
	const first, longest = 50 * time.Millisecond, 2 * time.Second
	for pause := first; ; pause = min(2*pause, longest) {
		run, err := a.runs.get(ctx, id)
		if err != nil || run.Status.Final() {
			return run, err
		}
		if err := a.runs.transport.wait(ctx, pause); err != nil {
			return run, err
		}
	}
}

// Cancel ends a run: a pending run never starts, and the request of a running run is aborted. A run that has ended cannot
// be canceled: see [IsRunFinished]. It needs the role MEMBER.
func (a RunsAPI) Cancel(ctx context.Context, id string) (Run, error) { return a.act(ctx, id, "cancel") }

// Rerun queues another run of the job in its current version. A deleted job cannot run again: see [IsJobDeleted]. The
// request is not retried, because the job could run twice. It needs the role MEMBER.
func (a RunsAPI) Rerun(ctx context.Context, id string) (Run, error) { return a.act(ctx, id, "rerun") }

func (a RunsAPI) act(ctx context.Context, id, action string) (Run, error) {
	return fetch[Run](ctx, a.runs.transport, post(nil, a.runs.path, id, "actions", action))
}
