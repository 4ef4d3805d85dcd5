package flags_test

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/signalbox/signalbox/internal/flags"
)

// notebook is notes whose writes are kept, by the seconds they came at.
type notebook struct {
	*flags.EvaluationNotes
	began  time.Time
	mu     sync.Mutex
	writes map[int]map[string]int // flag to the second it was evaluated at
	fail   error
}

// during runs a test on running notes in a bubble.
func during(t *testing.T, test func(t *testing.T, n *notebook)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		n := &notebook{began: time.Now(), writes: map[int]map[string]int{}}
		n.EvaluationNotes = &flags.EvaluationNotes{Log: slog.New(slog.DiscardHandler), Write: n.write}
		n.Start(t.Context())
		test(t, n)
		n.Stop(t.Context())
	})
}

func (n *notebook) write(_ context.Context, notes map[flags.FlagRef]time.Time) error {
	if n.fail != nil {
		return n.fail
	}
	written := map[string]int{}
	for ref, at := range notes {
		written[ref.Account+"/"+ref.Key] = n.second(at)
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.writes[n.second(time.Now())] = written
	return nil
}

// written gives a copy of the writes so far.
func (n *notebook) written() map[int]map[string]int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return maps.Clone(n.writes)
}

func (n *notebook) second(at time.Time) int { return int(at.Sub(n.began) / time.Second) }

func (n *notebook) note(account, key string, second int) {
	n.Note(account, key, n.began.Add(time.Duration(second)*time.Second))
}

// pass lets time pass and whatever is due then happen.
func pass(seconds int) {
	<-time.After(time.Duration(seconds) * time.Second)
	synctest.Wait()
}

func TestEvaluationsAreWrittenEveryTenSeconds(t *testing.T) {
	t.Parallel()
	during(t, func(t *testing.T, n *notebook) {
		n.note("a", "f", 1)
		n.note("b", "f", 2)
		pass(9)
		same(t, len(n.written()), 0)
		pass(1)
		want := map[int]map[string]int{10: {"a/f": 1, "b/f": 2}}
		same(t, n.written(), want)
		pass(30) // nothing was noted, nothing is written
		same(t, n.written(), want)
		n.note("a", "g", 41)
		pass(10)
		want[50] = map[string]int{"a/g": 41}
		same(t, n.written(), want)
	})
}

func TestOnlyTheNewestEvaluationOfAFlagIsWritten(t *testing.T) {
	t.Parallel()
	during(t, func(t *testing.T, n *notebook) {
		for _, second := range []int{3, 7, 5, 7, 1} {
			n.note("a", "f", second)
		}
		for _, nothing := range []string{"", "a b", "a\x00", "\xff", strings.Repeat("x", 201)} {
			n.note("a", nothing, 3) // clients report what they like
		}
		pass(10)
		same(t, n.written(), map[int]map[string]int{10: {"a/f": 7}})
	})
}

func TestStopWritesTheEvaluationsThatAreLeft(t *testing.T) {
	t.Parallel()
	during(t, func(t *testing.T, n *notebook) {
		n.note("a", "f", 1)
		pass(3)
		n.Stop(t.Context())
		want := map[int]map[string]int{3: {"a/f": 1}}
		same(t, n.written(), want)
		n.Stop(t.Context())
		same(t, n.written(), want)
	})
}

func TestNotesThatNeverStartedCanBeStopped(t *testing.T) {
	t.Parallel()
	new(flags.EvaluationNotes).Stop(t.Context())
}

func TestAFailingWriteOfEvaluationsIsDropped(t *testing.T) {
	t.Parallel()
	during(t, func(t *testing.T, n *notebook) {
		n.fail = errors.New("no database")
		n.note("a", "f", 1)
		pass(10)
		n.fail = nil
		pass(10)
		same(t, len(n.written()), 0)
		n.note("a", "f", 21)
		pass(10)
		same(t, n.written(), map[int]map[string]int{30: {"a/f": 21}})
	})
}

// A write takes as long as the database does, and the end of the process is no
// reason to lose it.
func TestStopWaitsForTheWriteThatIsUnderWay(t *testing.T) {
	t.Parallel()
	during(t, func(t *testing.T, n *notebook) {
		n.Write = func(ctx context.Context, notes map[flags.FlagRef]time.Time) error {
			select {
			case <-time.After(2 * time.Second):
				return n.write(ctx, notes)
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		n.note("a", "f", 1)
		pass(11)
		n.Stop(t.Context())
		same(t, n.written(), map[int]map[string]int{12: {"a/f": 1}})
	})
}

func TestNotesAreBoundedAndWhatIsKnownStaysCurrent(t *testing.T) {
	t.Parallel()
	during(t, func(t *testing.T, n *notebook) {
		for i := range flags.MaxSources + 1 {
			n.note("a", strconv.Itoa(i), 1)
		}
		n.note("a", "0", 2)
		pass(10)
		same(t, len(n.written()[10]), flags.MaxSources)
		same(t, n.written()[10]["a/0"], 2)
		_, beyond := n.written()[10]["a/"+strconv.Itoa(flags.MaxSources)]
		same(t, beyond, false)
	})
}
