package store

import (
	"context"
	"sync"
	"time"
)

// watchInterval is how late a commit of another process may be seen.
const watchInterval = 5 * time.Millisecond

// commitWatch reads SQLite's commit counter, which tells of the commits of other
// processes. Its values are comparable on one connection only, so it has one.
type commitWatch struct {
	mu      sync.Mutex
	conn    *prepared
	counter int
	readAt  time.Time
}

// read returns the counter as it was at most watchInterval ago: reading it costs system calls.
func (w *commitWatch) read(ctx context.Context) (int64, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.conn == nil {
		return 0, errClosed
	}
	if now := time.Now(); now.Sub(w.readAt) >= watchInterval {
		counter, err := scalar(ctx, w.conn, scanInt, "PRAGMA data_version")
		if err != nil {
			return 0, err
		}
		w.counter, w.readAt = counter, now
	}
	return int64(w.counter), nil
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
