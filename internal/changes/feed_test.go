package changes_test

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/signalbox/signalbox/internal/changes"
)

var errBroken = errors.New("broken")

func broken(context.Context, string) error { return errBroken }

func TestFeed_StartsAtEndOfHistory(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		from := newSource()
		from.commit("a", 3)
		feed := follow(t, from)
		pass(interval)
		feed.expect(t, "a", 1, 0)
		from.commit("a", 2)
		from.commit("new", 2)
		pass(interval)
		feed.expect(t, "a", 4, 5)
		feed.expect(t, "new", 1, 2) // all changes of a new account are passed on
	})
}

func TestFeed_WakePollsAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		from := newSource()
		feed := follow(t, from)
		before := time.Now()
		from.commit("a", 1)
		feed.Wake("")
		synctest.Wait()
		feed.expect(t, "a", 1, 1)
		if waited := time.Since(before); waited != 0 {
			t.Errorf("it took %s", waited)
		}
	})
}

// TestFeed_WakeReadsOneAccount: the cost of a change does not depend on the number of accounts.
func TestFeed_WakeReadsOneAccount(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		from := newSource()
		from.commit("other", 1)
		feed := follow(t, from)
		before := from.polls()
		for range 3 {
			from.commit("a", 2)
			feed.Wake("a")
			synctest.Wait()
		}
		feed.expect(t, "a", 1, 6)
		if polls := from.polls() - before; polls != 0 {
			t.Errorf("the feed read the last numbers of all accounts %d times", polls)
		}
	})
}

// TestFeed_WakesDoNotDelayOthers: an account that changes all the time does not delay other
// accounts.
func TestFeed_WakesDoNotDelayOthers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		from := newSource()
		feed := follow(t, from)
		from.commit("quiet", 1) // without a wake
		const pause = interval / 8
		for range 8 {
			from.commit("busy", 1)
			feed.Wake("busy")
			pass(pause)
		}
		feed.expect(t, "quiet", 1, 1)
		feed.expect(t, "busy", 1, 8)
		if !feed.Live() {
			t.Error("the feed is not live")
		}
	})
}

// TestFeed_WakeAfterRewind: the first change after a failover shows that the history is
// shorter, before it has grown to its old length.
func TestFeed_WakeAfterRewind(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		from := newSource()
		rewound := 0
		feed := follow(t, from, func(map[string]int64) { rewound++ })
		from.commit("a", 3)
		feed.Wake("a")
		synctest.Wait()
		from.rewind("a", 1)
		for range 4 {
			from.commit("a", 1)
			feed.Wake("a")
			synctest.Wait()
		}
		if got, want := feed.received("a"), []int64{1, 2, 3, 3, 4, 5}; rewound != 1 || !slices.Equal(got, want) {
			t.Errorf("rewound %d times, passed on %v, want once and %v", rewound, got, want)
		}
	})
}

func TestFeed_PollsAfterInterval(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		from := newSource()
		feed := follow(t, from)
		from.commit("a", 1)
		pass(interval - time.Millisecond)
		feed.expect(t, "a", 1, 0)
		pass(time.Millisecond)
		feed.expect(t, "a", 1, 1)
	})
}

func TestFeed_LongBacklogInOrder(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		from := newSource()
		feed := follow(t, from)
		for _, more := range []int{1203, 500, 1, 1000} { // a batch has 500 changes
			from.commit("a", more)
			from.commit("b", 1)
			feed.Wake("")
			synctest.Wait()
		}
		feed.expect(t, "a", 1, 2704)
		feed.expect(t, "b", 1, 4)
	})
}

func TestFeed_WakesDuringPollCauseOneMore(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		from := newSource()
		feed := follow(t, from)
		inside := make(chan struct{})
		from.breakWith(func(_ context.Context, call string) error {
			if call == "Heads" {
				inside <- struct{}{}
			}
			return nil
		})
		before := from.polls()
		feed.Wake("")
		synctest.Wait() // until the poll has begun
		from.commit("a", 1)
		for range 100 {
			feed.Wake("") // never blocks
		}
		<-inside
		<-inside
		synctest.Wait()
		from.breakWith(nil)
		if polls := from.polls() - before; polls != 2 {
			t.Errorf("polled %d times, want 2", polls)
		}
		feed.expect(t, "a", 1, 1)
	})
}

func TestFeed_ReportsGapsOfRetention(t *testing.T) {
	t.Parallel()
	for name, each := range map[string]struct{ committed, forgotten int }{
		"all":                       {10, 10},
		"the beginning":             {10, 7},
		"a full batch, and all":     {500, 500},
		"more than a batch":         {1500, 999},
		"everything but a batch":    {1500, 1000},
		"everything but the latest": {1500, 1499},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				from := newSource()
				feed := follow(t, from)
				from.commit("a", each.committed)
				from.forget("a", int64(each.forgotten))
				pass(interval)
				feed.expect(t, "a", int64(each.forgotten)+1, int64(each.committed))
				if want := []gap{{"a", 0, int64(each.forgotten)}}; !slices.Equal(feed.missed, want) { // Missed is called at once, and before the later changes
					t.Errorf("Missed was called for the gaps %v, want %v", feed.missed, want)
				}
				from.commit("a", 1)
				pass(interval)
				feed.expect(t, "a", int64(each.forgotten)+1, int64(each.committed)+1)
				if !feed.Live() {
					t.Error("it is not live any more")
				}
			})
		})
	}
}

func TestFeed_FailureSkipsAndRepeatsNothing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		from := newSource()
		feed := follow(t, from)
		batches := 0
		from.breakWith(func(_ context.Context, call string) error {
			if call == "EventsAfter a" {
				if batches++; batches%2 == 0 { // fail after the first batch of every poll
					return errBroken
				}
			}
			return nil
		})
		from.commit("a", 1700)
		for range 4 {
			pass(interval)
		}
		from.breakWith(nil)
		pass(interval)
		feed.expect(t, "a", 1, 1700)
	})
}

func TestFeed_LogsOutageOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		from := newSource()
		feed := follow(t, from)
		for range 2 {
			from.breakWith(broken)
			from.commit("a", 1)
			for range 20 {
				pass(interval)
			}
			from.breakWith(nil)
			pass(interval)
		}
		feed.expect(t, "a", 1, 2)
		feed.Stop()
		if warnings := strings.Count(feed.log.String(), "level=WARN"); warnings != 2 {
			t.Errorf("two outages gave %d warnings:\n%s", warnings, feed.log.String())
		}
	})
}

func TestFeed_LiveWhileSourceAnswers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		from := newSource()
		feed := follow(t, from)
		live := func(want bool) {
			t.Helper()
			if feed.Live() != want {
				t.Errorf("live is %v at %s", !want, time.Now())
			}
		}
		live(true)
		for range 50 {
			pass(interval)
			live(true)
		}
		from.breakWith(broken)
		pass(interval)
		live(true) // the last poll is less than a second old
		pass(time.Second)
		live(false)
		pass(time.Hour)
		live(false)
		from.breakWith(nil)
		pass(interval)
		live(true)
		feed.Stop()
		pass(time.Second)
		live(false)
	})
}

func TestFeed_NotLiveWhenRowsAreUnreadable(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		from := newSource()
		feed := follow(t, from)
		from.breakWith(func(_ context.Context, call string) error {
			if call == "Heads" {
				return nil
			}
			return errBroken
		})
		from.commit("a", 1)
		pass(2 * time.Second)
		if feed.Live() {
			t.Error("the feed is live although it cannot read a change")
		}
	})
}

// An answer is as old as its read, even if it arrives late. Caches that trust a live feed would
// otherwise be late too.
func TestFeed_NotLiveAfterLateAnswer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		from := newSource()
		feed := follow(t, from)
		from.mu.Lock()
		from.lag = 3 * time.Second
		from.mu.Unlock()
		pass(interval) // the poll begins
		pass(2900 * time.Millisecond)
		from.commit("a", 1) // the answer under way does not have this change
		pass(100*time.Millisecond + time.Microsecond)
		feed.expect(t, "a", 1, 0)
		if feed.Live() {
			t.Error("the feed is live with an answer that is three seconds old")
		}
	})
}

// A silent connection neither answers nor fails.
func TestFeed_GivesUpPollThatHangs(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		from := newSource()
		feed := follow(t, from)
		silent := true
		from.breakWith(func(ctx context.Context, _ string) error {
			if !silent {
				return nil
			}
			silent = false // the next poll gets another connection
			<-ctx.Done()
			return ctx.Err()
		})
		from.commit("a", 1)
		pass(time.Minute)
		feed.expect(t, "a", 1, 1)
		if !feed.Live() {
			t.Error("it is not live")
		}
	})
}

func TestFeed_StopEndsPoll(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		from := newSource()
		feed := follow(t, from)
		from.breakWith(func(ctx context.Context, _ string) error {
			<-ctx.Done()
			return ctx.Err()
		})
		feed.Wake("")
		synctest.Wait()
		feed.Stop()
		feed.Stop() // stopping twice is allowed
		if text := feed.log.String(); text != "" {
			t.Errorf("stopping is logged as an outage: %s", text)
		}
		from.breakWith(nil)
		from.commit("a", 1)
		feed.Wake("")
		pass(time.Minute)
		feed.expect(t, "a", 1, 0)
	})
}

func TestFeed_StopWithoutStart(t *testing.T) {
	t.Parallel()
	changes.NewFeed(newSource(), slog.New(slog.DiscardHandler), interval).Stop()
}

func TestFeed_StartFailsWithSource(t *testing.T) {
	t.Parallel()
	from := newSource()
	from.breakWith(broken)
	feed := changes.NewFeed(from, slog.New(slog.DiscardHandler), interval)
	if err := feed.Start(t.Context()); !errors.Is(err, errBroken) {
		t.Errorf("got %v", err)
	}
	feed.Stop()
}

func TestFeed_OutlivesStartContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		from := newSource()
		feed := changes.NewFeed(from, slog.New(slog.DiscardHandler), interval)
		ctx, cancel := context.WithCancel(t.Context())
		if err := feed.Start(ctx); err != nil {
			t.Fatal(err)
		}
		defer feed.Stop()
		cancel()
		pass(10 * time.Second)
		if !feed.Live() {
			t.Error("the feed ended with the context")
		}
	})
}

// A failover may lead to a replica of the database that lagged behind.
func TestFeed_DetectsRewind(t *testing.T) {
	t.Parallel()
	for name, rewind := range map[string]func(*source){
		"changes are gone":    func(from *source) { from.rewind("a", 2) },
		"the account is gone": func(from *source) { from.rewind("a", -1) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				from := newSource()
				from.commit("a", 5)
				from.commit("b", 5)
				rewound := 0
				feed := follow(t, from, func(seen map[string]int64) {
					rewound++
					if want := map[string]int64{"a": 5, "b": 5}; !maps.Equal(seen, want) {
						t.Errorf("Rewound got %v, want %v", seen, want)
					}
				})
				pass(10 * interval)
				if rewound != 0 {
					t.Errorf("Rewound was called %d times before the rewind", rewound)
				}
				rewind(from)
				pass(10 * interval)
				if rewound != 1 {
					t.Errorf("it was noticed %d times", rewound)
				}
				from.commit("b", 1)
				pass(interval)
				feed.expect(t, "b", 6, 6)
			})
		})
	}
}

func TestFeed_PassesOnChangesAfterRewind(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		from := newSource()
		from.commit("a", 5)
		feed := follow(t, from)
		from.rewind("a", 2)
		pass(interval)
		from.commit("a", 2)
		pass(interval)
		feed.expect(t, "a", 3, 4)
	})
}
