package store

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// watchInterval is how late a commit of another process may be seen.
const watchInterval = 5 * time.Millisecond

// commitWatch reads SQLite's commit counter, which tells of the commits of other
// processes. Its values are comparable on one connection only, so it has one.
type commitWatch struct {
	mu      sync.Mutex
	conn    *prepared
	counter atomic.Int64
	readAt  atomic.Int64 // microseconds
}

// read returns the counter as it was at most watchInterval ago: reading it costs
// system calls, and it is asked for thousands of times a second.
func (w *commitWatch) read(ctx context.Context) (int64, error) {
	if w.fresh() {
		return w.counter.Load(), nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.conn == nil {
		return 0, errClosed
	}
	if w.fresh() { // somebody else has read it
		return w.counter.Load(), nil
	}
	now := time.Now().UnixMicro()
	counter, err := scalar(ctx, w.conn, scanInt, "PRAGMA data_version")
	if err != nil {
		return 0, err
	}
	w.counter.Store(int64(counter))
	w.readAt.Store(now)
	return int64(counter), nil
}

func (w *commitWatch) fresh() bool {
	age := time.Now().UnixMicro() - w.readAt.Load()
	return age >= 0 && age < watchInterval.Microseconds() // a clock set back is not fresh
}

func (w *commitWatch) close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.conn == nil {
		return nil
	}
	err := w.conn.close()
	w.conn = nil
	return err
}
