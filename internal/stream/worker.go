package stream

import (
	"context"
	"sync"
	"time"

	"github.com/signalbox/signalbox/internal/background"
)

// worker sends events to its shard of every account's sockets.
type worker struct {
	hub   *Hub
	index int
	wake  background.Bell

	mu    sync.Mutex
	dirty []*shard
}

// wake makes the workers serve an account's sockets. It never blocks.
func (h *Hub) wake(subs *subscribers) {
	for _, each := range h.workers {
		each.add(&subs.shards[each.index])
	}
}

func (w *worker) add(s *shard) {
	if s.dirty.Swap(true) {
		return // already queued
	}
	w.mu.Lock()
	w.dirty = append(w.dirty, s)
	w.mu.Unlock()
	w.wake.Ring()
}

func (w *worker) run(ctx context.Context) {
	writer := newFrameWriter()
	var sockets []*socket
	for {
		select {
		case <-ctx.Done():
			return
		case <-w.wake:
		}
		w.mu.Lock()
		dirty := w.dirty
		w.dirty = nil
		w.mu.Unlock()
		for _, each := range dirty {
			sockets = each.snapshot(sockets[:0])
			w.serve(each, sockets, writer)
			clear(sockets) // so that closed sockets can be freed
		}
	}
}

// serve brings a shard's sockets up to date. A socket that is added later flushes itself.
func (w *worker) serve(s *shard, sockets []*socket, writer *frameWriter) {
	s.dirty.Store(false) // before the log is read, so that later events wake the worker again
	log := s.subs.log.Load()
	sent := 0
	for _, each := range sockets {
		sent += each.flush(log, writer)
	}
	s.offered.Store(log.end())
	if sent > 0 {
		w.hub.meter.EventsSent(sent)
		newest := log.frames[len(log.frames)-1]
		w.hub.meter.PushLag(max(0, w.hub.now().Sub(time.UnixMicro(newest.at))))
	}
}
