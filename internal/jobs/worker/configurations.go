package worker

import (
	"context"
	"slices"
	"sync"

	"github.com/signalbox/signalbox/internal/jobs"
)

// maxCachedBytes bounds the configurations in memory.
const maxCachedBytes = 32 << 20

// configurationCache holds configurations by id. A configuration never changes: a changed job gets a new one.
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

// put adds a configuration and evicts random others: jobs take turns, so the oldest may well be needed next.
func (c *configurationCache) put(id string, configuration jobs.Configuration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.evict(id)
	size := configuration.Size()
	for other := range c.known {
		if c.bytes+size <= maxCachedBytes {
			break
		}
		c.evict(other)
	}
	c.known[id] = configuration
	c.bytes += size
}

func (c *configurationCache) evict(id string) {
	if configuration, known := c.known[id]; known {
		c.bytes -= configuration.Size()
		delete(c.known, id)
	}
}

// configurationRead holds the configurations for which the runs of one claim wait.
type configurationRead struct {
	found map[string]jobs.Configuration
	done  chan struct{} // closed when found has all that can be read
}

// wait returns a configuration once it is read, or false if it cannot be read. An aborted run needs none.
func (r *configurationRead) wait(request context.Context, id string) (jobs.Configuration, bool) {
	select {
	case <-request.Done():
		return jobs.Configuration{}, true
	case <-r.done:
	}
	configuration, known := r.found[id]
	return configuration, known
}

// readBatch is how many configurations one transaction reads. One by one, 10,000 jobs on PostgreSQL would take seconds.
const readBatch = 64

// readConfigurations reads configurations however long that takes, because their runs are claimed. Only one goroutine
// reads at a time, because the heartbeat needs a connection as well.
func (w *Worker) readConfigurations(r *configurationRead, ids map[string]bool) {
	w.reading.Lock()
	defer w.reading.Unlock()
	var missing []string
	for id := range ids {
		if configuration, known := w.configurations.get(id); known { // the previous reader may have read it
			r.found[id] = configuration
		} else {
			missing = append(missing, id)
		}
	}
	for some := range slices.Chunk(missing, readBatch) {
		retry(w.readContext, some, func(ctx context.Context, ids []string) error { return w.readSome(ctx, r, ids) },
			func(err error) {
				w.Log.Warn("Reading the configurations of claimed runs failed; retrying.", "error", err)
			},
			func(id string, err error) {
				w.Log.Error("The configuration of a job cannot be read; its runs fail without a request.", "configuration", id, "error", err)
			})
	}
	if w.readContext.Err() == nil {
		close(r.done)
	}
}

func (w *Worker) readSome(ctx context.Context, r *configurationRead, ids []string) error {
	return w.Store.Read(ctx, func(ctx context.Context, tx ReadTx) error {
		found, err := tx.Configurations(ctx, ids)
		for id, configuration := range found {
			r.found[id] = configuration
			if !w.Once {
				w.configurations.put(id, configuration)
			}
		}
		return err
	})
}
