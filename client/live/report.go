package live

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	signalbox "github.com/signalbox/signalbox/client"
	"github.com/signalbox/signalbox/client/jsonlogic"
)

const (
	// manyPending is the number of new declarations or contexts that triggers a report before the next regular one.
	manyPending = 50
	// maxPendingContexts is how many contexts wait for a report; further contexts are dropped.
	maxPendingContexts = 1000
	// maxSeenContexts is how many contexts are remembered as reported.
	maxSeenContexts = 10_000
	// reportSize is how many items one request has.
	reportSize = 500
	// maxValueText is how many bytes of a flag's value name it in counts.
	maxValueText = 100
)

// reporter sends the service's flags, loggers, contexts and counts to the server. Its memory is limited, and callers never
// wait for a request.
type reporter struct {
	box    *Box
	client *signalbox.Client // nil reports nothing
	wake   bell
	ready  chan struct{} // closed when the server has answered

	sending sync.Mutex
	counted time.Time // of the last counts; guarded by sending
	checked bool      // checkEnvironment was called; guarded by sending

	mu           sync.Mutex
	declarations int // not reported yet
	contexts     []signalbox.ReportedContext
	seen         recentSet
}

func newReporter(b *Box, client *signalbox.Client) *reporter {
	r := &reporter{box: b, client: client, wake: newBell(), ready: make(chan struct{}), counted: time.Now()}
	if b.settings.service != "" {
		r.contexts = append(r.contexts, signalbox.ReportedContext{Type: "service", Key: b.settings.service})
	}
	r.contexts = append(r.contexts, signalbox.ReportedContext{Type: "environment", Key: b.settings.environment})
	return r
}

// begin starts the reports once the server has answered.
func (r *reporter) begin() { close(r.ready) }

// newDeclaration counts a flag or logger that is not reported yet.
func (r *reporter) newDeclaration() {
	r.mu.Lock()
	r.declarations++
	many := r.declarations >= manyPending
	r.mu.Unlock()
	if many {
		r.wake.ring()
	}
}

// levelsChanged reports the levels soon, so that people see that the new levels are applied.
func (r *reporter) levelsChanged() {
	if r.client != nil {
		time.AfterFunc(r.box.settings.timing.applied, r.wake.ring)
	}
}

// sawContexts notes the contexts of a request. A context is reported once.
func (r *reporter) sawContexts(contexts []Context) {
	if r.client == nil || r.box.settings.noContexts {
		return
	}
	r.mu.Lock()
	for _, each := range contexts {
		if each.typ == "" || each.key == "" || len(r.contexts) >= maxPendingContexts || !r.seen.add(each.typ+":"+each.key) {
			continue
		}
		r.contexts = append(r.contexts, each.reported())
	}
	many := len(r.contexts) >= manyPending
	r.mu.Unlock()
	if many {
		r.wake.ring()
	}
}

// reported returns the context as the server reads it. It copies the strings, which may be parts of a request's buffer.
func (c Context) reported() signalbox.ReportedContext {
	attributes := map[string]any{}
	for _, each := range c.value.Members() {
		if each.Key != "key" {
			attributes[strings.Clone(each.Key)] = json.RawMessage(each.Value.AppendJSON(nil))
		}
	}
	return signalbox.ReportedContext{Type: strings.Clone(c.typ), Key: strings.Clone(c.key), Attributes: attributes}
}

// run reports until ctx ends: soon after the start, then every minute, and when many items are new.
func (r *reporter) run(ctx context.Context) {
	select {
	case <-ctx.Done():
		return
	case <-r.ready:
	}
	timing := r.box.settings.timing
	due := time.NewTimer(timing.applied)
	defer due.Stop()
	for {
		everything := false
		select {
		case <-ctx.Done():
			return
		case <-r.wake:
		case <-due.C:
			everything = true
			due.Reset(timing.report/2 + backoff(1, timing.report, timing.report)/2)
		}
		err := r.send(ctx, everything)
		if err != nil && ctx.Err() == nil && !signalbox.IsUnauthorized(err) { // noteState logs a refused key
			r.box.problems.warn("report", "Reporting to Signalbox failed; it is tried again within a minute.", "error", err)
		}
	}
}

// finish sends the last report.
func (r *reporter) finish(ctx context.Context) {
	if r.client == nil {
		return
	}
	defer r.client.CloseIdleConnections()
	if err := r.send(ctx, true); err != nil {
		r.box.problems.warn("report", "The last report to Signalbox failed; it is lost.", "error", err)
	}
}

// send sends new items, or everything with the counts. It sends nothing while the server is away.
func (r *reporter) send(ctx context.Context, everything bool) error {
	r.sending.Lock()
	defer r.sending.Unlock()
	if r.box.State().Status != Live {
		return nil
	}
	r.checkEnvironment(ctx)
	err := errors.Join(r.sendContexts(ctx), r.sendFlags(ctx, everything), r.sendLoggers(ctx, everything))
	if everything {
		err = errors.Join(err, r.sendCounts(ctx))
	}
	return err
}

// checkEnvironment warns when the environment does not exist before the first report creates it: its name may be misspelled, and
// a service in it gets no value that anybody set.
func (r *reporter) checkEnvironment(ctx context.Context) {
	if r.checked {
		return
	}
	_, err := r.client.Environments.Get(ctx, r.box.settings.environment)
	if signalbox.IsNotFound(err) {
		r.box.problems.warn("environment", "The environment did not exist in Signalbox and is created, without any value set. "+
			"Correct its name if it is misspelled, or promote it: signalbox environments promote "+r.box.settings.environment,
			"environment", r.box.settings.environment)
	}
	r.checked = err == nil || signalbox.IsNotFound(err)
}

func (r *reporter) sendContexts(ctx context.Context) error {
	r.mu.Lock()
	list := r.contexts
	r.contexts = nil
	r.mu.Unlock()
	err := inChunks(ctx, list, r.client.Contexts.Report)
	if err != nil {
		r.mu.Lock()
		r.contexts = append(list, r.contexts...)
		r.contexts = r.contexts[:min(len(r.contexts), maxPendingContexts)]
		r.mu.Unlock()
	}
	return err
}

func (r *reporter) sendFlags(ctx context.Context, everything bool) error {
	r.mu.Lock()
	declared := r.declarations
	r.declarations = 0
	r.mu.Unlock()
	if declared == 0 && !everything {
		return nil
	}
	var list []signalbox.ReportedFlag
	for _, each := range r.box.flags.all() {
		list = append(list, each.declared())
	}
	err := inChunks(ctx, list, r.client.Flags.Report)
	if err != nil {
		r.mu.Lock()
		r.declarations += declared
		r.mu.Unlock()
	}
	return err
}

func (r *reporter) sendLoggers(ctx context.Context, everything bool) error {
	loggers := r.box.levels.takeUnreported(everything)
	list := make([]signalbox.ReportedLogger, len(loggers))
	for i, each := range loggers {
		list[i] = signalbox.ReportedLogger{Name: each.Name, Level: each.Level, ResolvedLevel: each.resolved(),
			Service: r.box.settings.service, Environment: r.box.settings.environment}
	}
	err := inChunks(ctx, list, r.client.Loggers.Report)
	if err != nil {
		r.box.levels.putBack(loggers)
	}
	return err
}

// sendCounts sends the evaluations by flag and value, until the first error. Counts that were refused or not sent wait for the
// next report; counts that may have arrived are not sent again.
func (r *reporter) sendCounts(ctx context.Context) (err error) {
	var counts []count
	r.box.flags.takeCounts(func(each count) { counts = append(counts, each) })
	now := time.Now()
	period := now.Sub(r.counted)
	r.counted = now
	for some := range slices.Chunk(counts, reportSize) {
		if err == nil {
			err = r.client.Metrics.Report(ctx, r.evaluations(some, now, period))
			if _, refused := errors.AsType[*signalbox.APIError](err); !refused {
				continue // they have arrived, or may have
			}
		}
		for _, each := range some {
			each.from.putBack(each.n)
		}
	}
	return err
}

// evaluations returns counts as the server reads them.
func (r *reporter) evaluations(counts []count, now time.Time, period time.Duration) []signalbox.Metric {
	list := make([]signalbox.Metric, len(counts))
	for i, each := range counts {
		list[i] = signalbox.Metric{Name: "flags.evaluations", Unit: "evaluations", Value: float64(each.n), Period: period, RecordedAt: now,
			Dimensions: map[string]string{"flag": each.flag, "value": valueText(each.value), "environment": r.box.settings.environment}}
	}
	return list
}

// valueText returns the name of a value in counts: its JSON, or the text of a string, cut at maxValueText bytes.
func valueText(value string) string {
	if parsed, err := jsonlogic.Parse([]byte(value)); err == nil {
		if text, ok := parsed.Text(); ok {
			value = text
		}
	}
	if len(value) > maxValueText {
		return strings.ToValidUTF8(value[:maxValueText], "") + "…"
	}
	return value
}

// inChunks sends a list in several requests and stops at the first error.
func inChunks[T any](ctx context.Context, list []T, report func(context.Context, []T) (signalbox.Reported, error)) error {
	for some := range slices.Chunk(list, reportSize) {
		if _, err := report(ctx, some); err != nil {
			return err
		}
	}
	return nil
}

// recentSet remembers up to maxSeenContexts texts. When it is full, it drops the older half.
type recentSet struct{ newer, older map[string]bool }

// add reports whether the text is new.
func (s *recentSet) add(text string) bool {
	if s.newer[text] {
		return false
	}
	known := s.older[text]
	if s.newer == nil || len(s.newer) >= maxSeenContexts/2 {
		s.newer, s.older = map[string]bool{}, s.newer
	}
	s.newer[strings.Clone(text)] = true
	return !known
}
