package observations

import (
	"context"
	"encoding/json"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/signalbox/signalbox/internal/background"
)

// The metric that evaluations count into, with the unit that clients report it in.
const (
	evaluationsName = "flags.evaluations"
	evaluationsUnit = "evaluations"
)

const (
	// maxEvaluationSets is how many different evaluations of an account are counted between two writes. It is enough for
	// all flags with two values each.
	maxEvaluationSets = 20_000
	// maxValueText is how many bytes of a served value tell it apart from others.
	maxValueText = 100
)

// Evaluated is a value that the server served for a flag.
type Evaluated struct {
	Flag  string
	Value json.RawMessage
}

// Evaluations counts what the server evaluates for callers, and stores the
// counts as if a client had reported them. Counting writes nothing: see the
// package's documentation.
type Evaluations struct {
	// Metrics stores the counts.
	Metrics *Service
	// Interval is how long evaluations are counted before they are written.
	Interval time.Duration
	Log      *slog.Logger

	mu       sync.RWMutex
	accounts map[string]*evaluationCounts
	outage   outage
	loop     background.Loop
}

// evaluationCounts are those of an account. Accounts share nothing: none can
// take the place of another.
type evaluationCounts struct {
	mu     sync.Mutex
	counts map[evaluationSet]*int
}

// evaluationSet is what evaluations are counted by.
type evaluationSet struct{ environment, flag, value string }

// Note counts evaluations of an account in an environment.
func (e *Evaluations) Note(account, environment string, evaluated ...Evaluated) {
	of := e.of(account)
	of.mu.Lock()
	defer of.mu.Unlock()
	for _, each := range evaluated {
		// A lookup like this one allocates nothing.
		if count := of.counts[evaluationSet{environment, each.Flag, string(each.Value)}]; count != nil {
			*count++
			continue
		}
		of.add(evaluationSet{strings.Clone(environment), strings.Clone(each.Flag), string(each.Value)}, 1) // requests end
	}
}

func (c *evaluationCounts) add(set evaluationSet, more int) {
	if c.counts == nil {
		c.counts = map[evaluationSet]*int{}
	}
	if count := c.counts[set]; count != nil {
		*count += more
	} else if len(c.counts) < maxEvaluationSets {
		c.counts[set] = &more
	}
}

func (e *Evaluations) of(account string) *evaluationCounts {
	e.mu.RLock()
	found := e.accounts[account]
	e.mu.RUnlock()
	if found != nil {
		return found
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.accounts == nil {
		e.accounts = map[string]*evaluationCounts{}
	}
	if e.accounts[account] == nil {
		e.accounts[account] = &evaluationCounts{}
	}
	return e.accounts[account]
}

// Start begins to write.
func (e *Evaluations) Start(ctx context.Context) {
	e.loop.Start(ctx, func(ctx context.Context) { background.Every(ctx, e.Interval, e.Flush) })
}

// Stop writes what is left and ends.
func (e *Evaluations) Stop(ctx context.Context) {
	e.loop.Stop()
	e.Flush(ctx)
}

// Flush writes what was counted. What cannot be written stays, and counts for
// the time at which it is.
func (e *Evaluations) Flush(ctx context.Context) {
	flush(ctx, e.take(), e.write, &e.outage, e.Log, "how often flags were evaluated")
}

// take returns what was counted, by account, and begins anew.
func (e *Evaluations) take() map[string]map[evaluationSet]*int {
	e.mu.RLock()
	defer e.mu.RUnlock()
	counted := map[string]map[evaluationSet]*int{}
	for account, of := range e.accounts {
		of.mu.Lock()
		if len(of.counts) > 0 {
			counted[account], of.counts = of.counts, nil
		}
		of.mu.Unlock()
	}
	return counted
}

// write writes the counts of an account, and puts back what it cannot.
func (e *Evaluations) write(ctx context.Context, account string, counts map[evaluationSet]*int) error {
	sets := slices.Collect(maps.Keys(counts))
	for len(sets) > 0 {
		slice := sets[:min(len(sets), sliceSize)]
		metrics := make([]Metric, len(slice))
		for i, set := range slice {
			metrics[i] = set.metric(*counts[set])
		}
		if err := e.Metrics.addMetrics(ctx, account, metrics); err != nil {
			e.putBack(account, sets, counts)
			return err
		}
		sets = sets[len(slice):]
	}
	return nil
}

func (e *Evaluations) putBack(account string, sets []evaluationSet, counts map[evaluationSet]*int) {
	of := e.of(account)
	of.mu.Lock()
	defer of.mu.Unlock()
	for _, set := range sets {
		of.add(set, *counts[set])
	}
}

// metric returns a count as a client would report it.
func (s evaluationSet) metric(count int) Metric {
	value := textOf(json.RawMessage(s.value))
	if len(value) > maxValueText {
		value = strings.ToValidUTF8(value[:maxValueText], "") + "…"
	}
	dimensions, _ := json.Marshal(map[string]string{"environment": s.environment, "flag": s.flag, "value": value}) // texts always encode
	return Metric{Name: evaluationsName, Unit: evaluationsUnit, Value: float64(count), Dimensions: dimensions}
}
