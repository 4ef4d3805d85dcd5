package jobs

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/signalbox/signalbox/internal/optional"
)

// Overlap says what happens to an instant at which an earlier run of the job has not ended.
type Overlap string

// The policies for overlapping runs.
const (
	OverlapAllow Overlap = "allow" // the runs overlap
	OverlapSkip  Overlap = "skip"  // the instant makes no run
	OverlapWait  Overlap = "wait"  // the run waits; a newer instant replaces it
)

// How the delay between attempts grows.
const (
	BackoffFixed       = "fixed"
	BackoffExponential = "exponential"
)

// Retry says which failed runs are attempted again, how often and when.
type Retry struct {
	MaxAttempts int      `json:"max_attempts"`
	Delay       int      `json:"delay_seconds"`
	Backoff     string   `json:"backoff"`
	MaxDelay    int      `json:"max_delay_seconds"`
	On          []Reason `json:"on"`
	Statuses    []string `json:"statuses"` // that NON_SUCCESS_STATUS is retried for
}

// Alerts says when a job's health changes.
type Alerts struct {
	AfterFailures int  `json:"after_failures"`
	RecoverAfter  int  `json:"recover_after"`
	LateAfter     *int `json:"late_after_seconds"`
	NoSuccessFor  *int `json:"no_success_for_seconds"`
	RemindEvery   *int `json:"remind_every_seconds"`
}

// DefaultAlerts returns the alerts of a job that sets none.
func DefaultAlerts() Alerts { return Alerts{AfterFailures: 1, RecoverAfter: 1} }

// RetryDraft is the retry that a caller asks for, not yet validated.
type RetryDraft struct {
	MaxAttempts, Delay, MaxDelay optional.Value[float64]
	Backoff                      optional.Value[string]
	On, Statuses                 optional.Value[[]string]
}

// AlertsDraft is the alerts that a caller asks for, not yet validated.
type AlertsDraft struct {
	AfterFailures, RecoverAfter, LateAfter, NoSuccessFor, RemindEvery optional.Value[float64]
}

// The bounds of a job's policies.
const (
	minAttempts, maxAttempts   = 2, 10
	maxDelaySeconds            = 86_400
	defaultDelay, defaultLimit = 60, 3600
	maxInARow                  = 100
	minLate                    = 10
	minNoSuccess, maxNoSuccess = 60, 2_592_000
	minRemind                  = 300
)

// retryReasons returns the failures that may be retried. All but the last are retried by default: after WORKER_LOST the
// request may have been sent.
func retryReasons() []Reason { return []Reason{Timeout, ConnectionError, NonSuccessStatus, WorkerLost} }

// policies checks the policies of a job and adds them to it.
func (d *Draft) policies(job *Job) {
	job.Overlap = Overlap(d.Overlap.Or(string(OverlapAllow)))
	if !slices.Contains([]Overlap{OverlapAllow, OverlapSkip, OverlapWait}, job.Overlap) {
		d.Problems.Attribute("overlap", "must be allow, skip or wait")
	}
	if draft, sent := d.Retry.Get(); sent {
		job.Retry = d.retry(draft)
	}
	switch draft, sent := d.Alerts.Get(); {
	case sent:
		job.Alerts = d.alerts(draft)
	case !d.Alerts.IsNull():
		job.Alerts = new(DefaultAlerts())
	}
}

func (d *Draft) retry(draft RetryDraft) *Retry {
	retry := Retry{Backoff: draft.Backoff.Or(BackoffExponential), Statuses: draft.Statuses.Or([]string{"408", "429", "5xx"})}
	if draft.MaxAttempts.IsAbsent() || draft.MaxAttempts.IsNull() {
		d.Problems.Attribute("retry/max_attempts", "is required: a whole number from %d to %d", minAttempts, maxAttempts)
	}
	retry.MaxAttempts = d.whole("retry/max_attempts", draft.MaxAttempts, minAttempts, minAttempts, maxAttempts)
	retry.Delay = d.whole("retry/delay_seconds", draft.Delay, defaultDelay, 1, maxDelaySeconds)
	retry.MaxDelay = d.whole("retry/max_delay_seconds", draft.MaxDelay, max(defaultLimit, retry.Delay), 1, maxDelaySeconds)
	if retry.MaxDelay < retry.Delay {
		d.Problems.Attribute("retry/max_delay_seconds", "must not be less than delay_seconds")
	}
	if retry.Backoff != BackoffFixed && retry.Backoff != BackoffExponential {
		d.Problems.Attribute("retry/backoff", "must be fixed or exponential")
	}
	retry.On = d.reasons(draft.On)
	d.statuses(retry.Statuses)
	return &retry
}

// reasons returns the failures that are retried, in one order and each once.
func (d *Draft) reasons(sent optional.Value[[]string]) []Reason {
	known := retryReasons()
	names, given := sent.Get()
	if !given {
		return known[:3]
	}
	for i, name := range names {
		if !slices.Contains(known, Reason(name)) {
			d.Problems.Attribute("retry/on/"+strconv.Itoa(i), "must be TIMEOUT, CONNECTION_ERROR, NON_SUCCESS_STATUS or WORKER_LOST")
		}
	}
	if len(names) == 0 {
		d.Problems.Attribute("retry/on", "must have at least one reason; send retry as null to retry nothing")
	}
	return slices.DeleteFunc(known, func(reason Reason) bool { return !slices.Contains(names, string(reason)) })
}

func (d *Draft) statuses(list []string) {
	const most = 50
	if len(list) > most {
		d.Problems.Attribute("retry/statuses", "must have at most %d entries", most)
	}
	for i, text := range list[:min(len(list), most)] {
		if list[i] = strings.ToLower(text); !successPattern.MatchString(text) {
			d.Problems.Attribute("retry/statuses/"+strconv.Itoa(i), "must be a status such as 503 or a class such as 5xx")
		}
	}
}

func (d *Draft) alerts(draft AlertsDraft) *Alerts {
	return &Alerts{
		AfterFailures: d.whole("alerts/after_failures", draft.AfterFailures, 1, 1, maxInARow),
		RecoverAfter:  d.whole("alerts/recover_after", draft.RecoverAfter, 1, 1, maxInARow),
		LateAfter:     d.wholeOrNull("alerts/late_after_seconds", draft.LateAfter, minLate, maxDelaySeconds),
		NoSuccessFor:  d.wholeOrNull("alerts/no_success_for_seconds", draft.NoSuccessFor, minNoSuccess, maxNoSuccess),
		RemindEvery:   d.wholeOrNull("alerts/remind_every_seconds", draft.RemindEvery, minRemind, maxNoSuccess),
	}
}

// whole returns a whole number within bounds; without one, the fallback.
func (d *Draft) whole(member string, sent optional.Value[float64], fallback, low, high int) int {
	number, given := sent.Get()
	if !given {
		return fallback
	}
	if number != math.Trunc(number) || number < float64(low) || number > float64(high) {
		d.Problems.Attribute(member, "must be a whole number from %d to %d", low, high)
		return fallback
	}
	return int(number)
}

func (d *Draft) wholeOrNull(member string, sent optional.Value[float64], low, high int) *int {
	if _, given := sent.Get(); !given {
		return nil
	}
	return new(d.whole(member, sent, low, low, high))
}

// covers reports whether a failed run may be attempted again because of how it failed.
func (r Retry) covers(reason Reason, status int) bool {
	if !slices.Contains(r.On, reason) {
		return false
	}
	return reason != NonSuccessStatus || slices.ContainsFunc(r.Statuses, func(wanted string) bool { return matchesStatus(wanted, status) })
}

// jitter is the largest share of a delay by which it is lengthened or shortened.
const jitter = 0.1

// after returns how long to wait after an attempt. random is from 0 to 1, and retryAfter is the time that the
// target asked for.
func (r Retry) after(attempt int, random float64, retryAfter time.Duration) time.Duration {
	seconds := float64(r.Delay)
	if r.Backoff == BackoffExponential {
		seconds = math.Ldexp(seconds, attempt-1)
	}
	seconds = min(seconds, float64(r.MaxDelay)) * (1 - jitter + 2*jitter*random)
	delay := time.Duration(seconds * float64(time.Second)).Truncate(time.Microsecond)
	return max(delay, min(retryAfter, time.Duration(r.MaxDelay)*time.Second))
}

// matchesStatus reports whether a status is the wanted one or of the wanted class, such as 5xx.
func matchesStatus(wanted string, status int) bool {
	text := strconv.Itoa(status)
	class, isClass := strings.CutSuffix(wanted, "xx")
	return text == wanted || isClass && len(text) == 3 && text[:1] == class
}
