package observations

import (
	"bytes"
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

// The name and unit of the metric for evaluations, as clients report it.
const (
	evaluationsName = "flags.evaluations"
	evaluationsUnit = "evaluations"
)

const (
	// maxEvaluationSets is how many different evaluations of an account are counted between two writes. It is enough for
	// all flags with two values each.
	maxEvaluationSets = 20_000
	// maxValueText is the number of bytes to which a served value's JSON is cut before it is counted.
	maxValueText = 100
)

// Evaluated is a value that the server served for a flag.
type Evaluated struct {
	Flag  string
	Value json.RawMessage
}

// Evaluations counts the server's evaluations in memory, and stores the counts like
// the report of a client. See the package documentation.
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

// evaluationCounts are the counts of one account. Each account has its own limit, so
// that none can use up the capacity of another.
type evaluationCounts struct {
	mu     sync.Mutex
	counts map[evaluationSet]*int
}

// evaluationSet is the key that evaluations are counted by.
type evaluationSet struct{ environment, flag, value string }

// Note counts evaluations of an account in an environment.
func (e *Evaluations) Note(account, environment string, evaluated ...Evaluated) {
	of := e.of(account)
	of.mu.Lock()
	defer of.mu.Unlock()
	for _, each := range evaluated {
		value := beginning(each.Value)
		// A lookup like this one allocates nothing.
		if count := of.counts[evaluationSet{environment, each.Flag, string(value)}]; count != nil {
			*count++
			continue
		}
		e.add(of, evaluationSet{strings.Clone(environment), strings.Clone(each.Flag), string(value)}, 1) // clones, because the texts may keep a request in memory
	}
}

// beginning returns a value, or the beginning of a long value as a JSON string.
func beginning(value json.RawMessage) json.RawMessage {
	if len(value) <= maxValueText {
		return value
	}
	text := bytes.TrimPrefix(value[:maxValueText], []byte(`"`))
	short, _ := json.Marshal(strings.ToValidUTF8(string(text), "") + "…") // a text always encodes
	return short
}

// add adds more to the count of set. The caller holds of.mu.
func (e *Evaluations) add(of *evaluationCounts, set evaluationSet, more int) {
	if of.counts == nil {
		of.counts = map[evaluationSet]*int{}
	}
	if count := of.counts[set]; count != nil {
		*count += more
	} else if len(of.counts) < maxEvaluationSets {
		of.counts[set] = &more
	} else {
		e.Metrics.drop(1)
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

// Start begins to write the counts regularly.
func (e *Evaluations) Start(ctx context.Context) {
	e.loop.Start(ctx, func(ctx context.Context) { background.Every(ctx, e.Interval, e.Flush) })
}

// Stop ends the loop and writes the remaining counts.
func (e *Evaluations) Stop(ctx context.Context) {
	e.loop.Stop()
	e.Flush(ctx)
}

// Flush writes the counts. Counts that cannot be written are kept, and later added to the minute in which they are
// written.
func (e *Evaluations) Flush(ctx context.Context) {
	flush(ctx, e.take(), e.write, &e.outage, e.Log, "counts of flag evaluations")
}

// take returns the counts by account, and resets them.
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

// write writes the counts of an account, and puts back counts that it cannot write.
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
		e.add(of, set, *counts[set])
	}
}

// metric returns a count as a client would report it.
func (s evaluationSet) metric(count int) Metric {
	dimensions, _ := json.Marshal(map[string]string{"environment": s.environment, "flag": s.flag, "value": textOf(json.RawMessage(s.value))}) // texts always encode
	return Metric{Name: evaluationsName, Unit: evaluationsUnit, Value: float64(count), Dimensions: dimensions}
}
