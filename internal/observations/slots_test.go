package observations_test

import (
	"context"
	"errors"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/signalbox/signalbox/internal/observations"
)

func TestSlots_LargeReportsWait(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		slots, release := observations.NewSlots(), make(chan struct{})
		var running atomic.Int32
		for range 100 {
			go func() {
				_ = slots.Take(t.Context(), 1001, func() error {
					running.Add(1)
					<-release
					return nil
				})
			}()
		}
		synctest.Wait()
		if most := max(1, runtime.GOMAXPROCS(0)/2); int(running.Load()) != most {
			t.Errorf("%d run at once, want %d", running.Load(), most)
		}
		small := errors.New("it ran")
		if err := slots.Take(t.Context(), 1000, func() error { return small }); !errors.Is(err, small) {
			t.Errorf("a small report got %v", err)
		}
		leaving, leave := context.WithCancel(t.Context())
		leave()
		if err := slots.Take(leaving, 1001, func() error { return small }); !errors.Is(err, context.Canceled) {
			t.Errorf("a caller that left got %v", err)
		}
		close(release)
	})
}
