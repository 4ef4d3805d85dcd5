package store

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// watchInterval is how late a commit of another process may be seen.
const watchInterval = 5 * time.Millisecond

// watch looks at the commit counter of an SQLite file, which other processes
// move too. Its values are comparable only on one connection, so it has one.
type watch struct {
	mu      sync.Mutex
	conn    *prepared
	counter atomic.Int64
	looked  atomic.Int64 // microseconds; when the counter was read
}

// look gives the counter, read again when the last reading is too old: the
// reading costs system calls, and reads come in thousands a second.
func (w *watch) look(ctx context.Context) (int64, error) {
	if w.fresh() {
		return w.counter.Load(), nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.conn == nil {
		return 0, errClosed
	}
	if w.fresh() { // somebody else has looked
		return w.counter.Load(), nil
	}
	now := time.Now().UnixMicro()
	counter, err := scalar(ctx, w.conn, scanInt, "PRAGMA data_version")
	if err != nil {
		return 0, err
	}
	w.counter.Store(int64(counter))
	w.looked.Store(now)
	return int64(counter), nil
}

func (w *watch) fresh() bool {
	age := time.Now().UnixMicro() - w.looked.Load()
	return age >= 0 && age < watchInterval.Microseconds() // a clock set back is not fresh
}

func (w *watch) close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.conn == nil {
		return nil
	}
	err := w.conn.close()
	w.conn = nil
	return err
}
