package store

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// watchInterval is how late a commit of another process may be seen.
const watchInterval = 20 * time.Millisecond

// commitWatch reads SQLite's commit counter, which changes with commits of other
// processes. Only values of the same connection are comparable, so the watch has its
// own connection.
type commitWatch struct {
	mu   sync.Mutex
	conn *prepared
	last atomic.Pointer[commitReading] // nil before the first reading and after close
}

// commitReading is a value of the counter and when it was read.
type commitReading struct {
	counter int64
	at      time.Time
}

// read returns a value of the counter that is at most watchInterval old, because
// reading the counter costs system calls. Almost all callers find a recent value and do
// not wait for each other.
func (w *commitWatch) read(ctx context.Context) (int64, error) {
	if counter, recent := w.recent(); recent {
		return counter, nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if counter, recent := w.recent(); recent {
		return counter, nil
	}
	if w.conn == nil {
		return 0, errClosed
	}
	started := time.Now()
	counter, err := scalar(ctx, w.conn, scanInt, "PRAGMA data_version")
	if err != nil {
		return 0, err
	}
	w.last.Store(&commitReading{int64(counter), started})
	return int64(counter), nil
}

// recent returns the last reading, unless it is too old.
func (w *commitWatch) recent() (int64, bool) {
	last := w.last.Load()
	if last == nil || time.Since(last.at) >= watchInterval {
		return 0, false
	}
	return last.counter, true
}

func (w *commitWatch) close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.conn == nil {
		return nil
	}
	err := w.conn.close()
	w.conn = nil
	w.last.Store(nil)
	return err
}
