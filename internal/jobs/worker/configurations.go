package worker

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/signalbox/signalbox/internal/fault"
	"github.com/signalbox/signalbox/internal/jobs"
)

// maxCachedConfigurations bounds the bytes of the configurations in memory.
const maxCachedConfigurations = 32 << 20

// configurationCache keeps what jobs send. A configuration never changes: a
// job that is changed gets another.
type configurationCache struct {
	mu    sync.Mutex
	known map[string]jobs.Configuration
	bytes int
}

func (c *configurationCache) get(id string) (jobs.Configuration, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	configuration, known := c.known[id]
	return configuration, known
}

// put makes room by forgetting any that there are: jobs take turns, so whoever
// was not used for the longest time may well be the next.
func (c *configurationCache) put(id string, configuration jobs.Configuration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.known == nil {
		c.known = map[string]jobs.Configuration{}
	}
	c.forget(id)
	size := cachedSize(configuration)
	for other := range c.known {
		if c.bytes+size <= maxCachedConfigurations {
			break
		}
		c.forget(other)
	}
	c.known[id] = configuration
	c.bytes += size
}

func (c *configurationCache) forget(id string) {
	if configuration, known := c.known[id]; known {
		c.bytes -= cachedSize(configuration)
		delete(c.known, id)
	}
}

func cachedSize(configuration jobs.Configuration) int {
	const overhead = 500
	return configuration.Size() + overhead
}

// reading is the configurations that runs of one claim wait for. It goes on
// while one of them waits.
type reading struct {
	wanted  map[string]bool
	found   map[string]jobs.Configuration
	done    chan struct{} // closed when found has all that can be read
	waiting atomic.Int64
	cancel  context.CancelFunc
}

// newReading begins with one who waits, and must leave: whoever asks.
func newReading(ctx context.Context) (context.Context, *reading) {
	ctx, cancel := context.WithCancel(ctx)
	r := &reading{wanted: map[string]bool{}, found: map[string]jobs.Configuration{}, done: make(chan struct{}), cancel: cancel}
	r.waiting.Add(1)
	return ctx, r
}

func (r *reading) want(id string) {
	r.wanted[id] = true
	r.waiting.Add(1)
}

func (r *reading) leave() {
	if r.waiting.Add(-1) == 0 {
		r.cancel()
	}
}

// wait gives a configuration once it is read; false when it cannot be. A
// flight that is aborted meanwhile sends nothing, and so needs none.
func (r *reading) wait(flight context.Context, id string) (jobs.Configuration, bool) {
	defer r.leave()
	select {
	case <-flight.Done():
		return jobs.Configuration{}, true
	case <-r.done:
	}
	configuration, known := r.found[id]
	return configuration, known
}

// readAtOnce bounds what one transaction reads.
const readAtOnce = 64

// read finds what is wanted. There is one at a time: the beat needs the
// connections of the loops as well.
func (w *Worker) read(ctx context.Context, r *reading) {
	w.reads.Lock()
	defer w.reads.Unlock()
	var missing []string
	for id := range r.wanted {
		if configuration, known := w.configurations.get(id); known { // who was first has read it
			r.found[id] = configuration
		} else {
			missing = append(missing, id)
		}
	}
	for some := range slices.Chunk(missing, readAtOnce) {
		w.readSome(ctx, r, some)
	}
	if ctx.Err() == nil {
		close(r.done)
	}
}

// readSome reads configurations, however long that takes: their runs are this
// worker's and have not been attempted. What the database refuses is left out
// like what cannot be unsealed, and does not keep the others.
func (w *Worker) readSome(ctx context.Context, r *reading, ids []string) {
	const first, longest = 20 * time.Millisecond, time.Second
	for pause := first; ctx.Err() == nil; pause = min(2*pause, longest) {
		err := w.readOnce(ctx, r, ids)
		switch {
		case err == nil || ctx.Err() != nil:
			return
		case !fault.Is(err, fault.Unavailable) && len(ids) > 1:
			w.readSome(ctx, r, ids[:len(ids)/2])
			w.readSome(ctx, r, ids[len(ids)/2:])
			return
		case !fault.Is(err, fault.Unavailable):
			w.Log.Error("What a job sends cannot be read from the database.", "configuration", ids[0], "error", err)
			return
		case pause == first:
			w.Log.Warn("What claimed runs send cannot be read; it is tried again.", "error", err)
		}
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
	}
}

func (w *Worker) readOnce(ctx context.Context, r *reading, ids []string) error {
	return w.Store.Read(ctx, func(tx ReadTx) error {
		found, err := tx.Configurations(ctx, ids)
		for id, configuration := range found {
			r.found[id] = configuration
			w.configurations.put(id, configuration)
		}
		return err
	})
}
