package flags_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/signalbox/signalbox/internal/changes"
	"github.com/signalbox/signalbox/internal/flags"
)

// TestSnapshots_WaitEndsWithContext: a reader that waits for another one's slow update
// leaves when its own time is over.
func TestSnapshots_WaitEndsWithContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := blockedStore{began: make(chan struct{}), release: make(chan struct{})}
		snapshots := &flags.Snapshots{Store: store, History: func(context.Context, string, int64, int) ([]changes.Change, error) { return nil, nil }}
		first := make(chan error)
		go func() {
			_, err := snapshots.Get(t.Context(), "a", 1)
			first <- err
		}()
		<-store.began
		ctx, cancel := context.WithCancel(t.Context())
		second := make(chan error)
		go func() {
			_, err := snapshots.Get(ctx, "a", 1)
			second <- err
		}()
		synctest.Wait()
		cancel()
		if err := <-second; !errors.Is(err, context.Canceled) { // else every goroutine waits: a deadlock
			t.Errorf("the second reader got %v", err)
		}
		close(store.release)
		if err := <-first; !errors.Is(err, errBlocked) {
			t.Errorf("the first reader got %v", err)
		}
	})
}

var errBlocked = errors.New("blocked")

// blockedStore is a database whose first read takes until it is released.
type blockedStore struct {
	flags.Store
	began, release chan struct{}
}

func (s blockedStore) Read(context.Context, func(context.Context, flags.ReadTx) error) error {
	close(s.began)
	<-s.release
	return errBlocked
}
