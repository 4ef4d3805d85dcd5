package signalbox

import (
	"context"
	"iter"
	"net/url"
	"time"
)

const runsCollection = "runs"

// RunTrigger says why a run was made.
type RunTrigger string

// The triggers.
const (
	RunTriggerSchedule RunTrigger = "SCHEDULE"
	RunTriggerManual   RunTrigger = "MANUAL"
	RunTriggerRerun    RunTrigger = "RERUN"
)

// RunStatus is how far a run is.
type RunStatus string

// The states of a run. The last three are final.
const (
	RunPending   RunStatus = "PENDING"
	RunRunning   RunStatus = "RUNNING"
	RunSucceeded RunStatus = "SUCCEEDED"
	RunFailed    RunStatus = "FAILED"
	RunCanceled  RunStatus = "CANCELED"
)

// Final tells whether a run stays as it is.
func (s RunStatus) Final() bool { return s == RunSucceeded || s == RunFailed || s == RunCanceled }

// FailureReason says why a run failed.
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
	// JobVersion is the version that was executed; nil before it starts.
	JobVersion *int `json:"job_version"`
	// Trigger says why the run was made, and RerunOf of which run it is a rerun.
	Trigger RunTrigger `json:"trigger"`
	RerunOf *string    `json:"rerun_of"`
	// ScheduledFor is the instant that a scheduled run was made for.
	ScheduledFor *time.Time `json:"scheduled_for"`
	// Status is how far the run is.
	Status RunStatus `json:"status"`
	// StartedAt and FinishedAt are nil until it has started and finished.
	StartedAt  *time.Time `json:"started_at"`
	FinishedAt *time.Time `json:"finished_at"`
	// PendingMillis, RunMillis and TotalMillis are how long it waited, ran, and
	// both, in milliseconds; nil while that is not known.
	PendingMillis *int64 `json:"pending_duration_ms"`
	RunMillis     *int64 `json:"run_duration_ms"`
	TotalMillis   *int64 `json:"total_duration_ms"`
	// FailureReason and Error say why a run failed; nil when it did not.
	FailureReason *FailureReason `json:"failure_reason"`
	Error         *string        `json:"error"`
	// Request is what was sent, without secrets; nil before it starts.
	Request *RunRequest `json:"request"`
	// Result is what came back; nil when nothing did.
	Result *RunResult `json:"result"`
	// CreatedAt is when it was queued.
	CreatedAt time.Time `json:"created_at"`
}

// RunRequest is the request of a run. The values of its headers are hidden.
type RunRequest struct {
	Method  string      `json:"method"`
	URL     string      `json:"url"`
	Headers []JobHeader `json:"headers"`
	Body    *string     `json:"body"`
}

// RunResult is the response that a run got.
type RunResult struct {
	// Status is the HTTP status.
	Status int `json:"status"`
	// Headers have names in lower case.
	Headers map[string]string `json:"headers"`
	// Body is at most the first 64 KiB; BodyTruncated tells whether there was
	// more, and BodyBytes how much there was.
	Body          string `json:"body"`
	BodyTruncated bool   `json:"body_truncated"`
	BodyBytes     int64  `json:"body_bytes"`
	// Timings are where the time went.
	Timings *RunTimings `json:"timings"`
}

// RunTimings are the phases of an exchange in milliseconds.
type RunTimings struct {
	DNS       float64 `json:"dns_ms"`
	Connect   float64 `json:"connect_ms"`
	TLS       float64 `json:"tls_ms"`
	FirstByte float64 `json:"first_byte_ms"`
	Total     float64 `json:"total_ms"`
}

// RunParams choose runs. The newest come first, always.
type RunParams struct {
	// Job is the id of the job, and of deleted ones that had it; empty means
	// all.
	Job string
	// Status and Trigger are those to list; empty means all.
	Status  RunStatus
	Trigger RunTrigger
	// From and To bound when they were queued: From is included, To is not. A
	// zero time is an open end.
	From, To time.Time
	// Size is how many a page has at most, up to 1000; 0 is the server's default.
	Size int
	// After is where the page begins: Next of the page before it, or empty.
	After string
}

// RunsAPI is the executions of the account's jobs.
type RunsAPI struct{ transport *transport }

func (p RunParams) query() url.Values {
	query := cursorQuery(p.Size, p.After)
	filter(query, "job", p.Job)
	filter(query, "status", string(p.Status))
	filter(query, "trigger", string(p.Trigger))
	filterRange(query, "created_at", p.From, p.To)
	return query
}

// List gives one page of runs.
func (a RunsAPI) List(ctx context.Context, params RunParams) (CursorPage[Run], error) {
	return stream[Run](ctx, a.transport, params.query(), runsCollection)
}

// All gives every run from the page of the params on, the newest first. It
// ends after the first error.
func (a RunsAPI) All(ctx context.Context, params RunParams) iter.Seq2[Run, error] {
	return following(params.After, func(after string) (CursorPage[Run], error) {
		params.After = after
		return a.List(ctx, params)
	})
}

// Get gives one run.
func (a RunsAPI) Get(ctx context.Context, id string) (Run, error) {
	return one[Run](ctx, a.transport, get(runsCollection, id))
}

// Wait asks for a run, after a growing pause of up to two seconds, until it has
// ended or the context has.
func (a RunsAPI) Wait(ctx context.Context, id string) (Run, error) {
	const first, longest = 50 * time.Millisecond, 2 * time.Second
	for pause := first; ; pause = min(2*pause, longest) {
		run, err := a.Get(ctx, id)
		if err != nil || run.Status.Final() {
			return run, err
		}
		if err := a.transport.wait(ctx, pause); err != nil {
			return run, err
		}
	}
}

// Cancel ends a run: one that waits never starts, and the request of one that
// runs is aborted. One that has ended stays as it is: see [IsRunFinished]. It
// needs the role MEMBER.
func (a RunsAPI) Cancel(ctx context.Context, id string) (Run, error) {
	return one[Run](ctx, a.transport, post(nil, runsCollection, id, "actions", "cancel"))
}

// Rerun queues a run of the same job as it is now. A deleted job does not run
// again: see [IsJobDeleted]. It is not repeated by itself, because the job
// would run twice. It needs the role MEMBER.
func (a RunsAPI) Rerun(ctx context.Context, id string) (Run, error) {
	return one[Run](ctx, a.transport, post(nil, runsCollection, id, "actions", "rerun"))
}
