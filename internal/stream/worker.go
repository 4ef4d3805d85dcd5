package stream

import (
	"context"
	"sync"
	"time"

	"github.com/signalbox/signalbox/internal/background"
)

// worker hands events to its share of every room's sockets.
type worker struct {
	hub   *Hub
	index int
	wake  background.Bell

	mu    sync.Mutex
	dirty []*shard
}

// wake makes the workers look at a room. It never blocks.
func (h *Hub) wake(here *room) {
	for _, each := range h.workers {
		each.look(&here.shards[each.index])
	}
}

func (w *worker) look(s *shard) {
	if s.dirty.Swap(true) {
		return // it will see what is new
	}
	w.mu.Lock()
	w.dirty = append(w.dirty, s)
	w.mu.Unlock()
	w.wake.Ring()
}

func (w *worker) run(ctx context.Context) {
	p := newPen()
	for {
		select {
		case <-ctx.Done():
			return
		case <-w.wake:
		}
		for _, each := range w.take() {
			w.serve(each, p)
		}
	}
}

func (w *worker) take() []*shard {
	w.mu.Lock()
	defer w.mu.Unlock()
	taken := w.dirty
	w.dirty = nil
	return taken
}

// serve brings every socket of a shard up to date.
func (w *worker) serve(s *shard, p *pen) {
	s.dirty.Store(false) // before the log is read: what comes later wakes again
	log := s.room.log.Load()
	sent := 0
	s.walk(func(each *socket) { sent += each.flush(log, p) })
	s.reach(log.end())
	if sent > 0 {
		w.hub.meter.EventsSent(sent)
		newest := log.frames[len(log.frames)-1]
		w.hub.meter.PushLag(max(0, w.hub.now().Sub(time.UnixMicro(newest.at))))
	}
}
