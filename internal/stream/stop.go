package stream

import (
	"context"
	"math/rand/v2"
	"slices"
	"time"
)

const (
	// closeWindow is the period over which sockets are closed, so that clients do not all return at once.
	closeWindow = 3 * time.Second
	closeStep   = 25 * time.Millisecond
)

// Stop closes all sockets with 1012, over a few seconds if ctx allows it, and ends the hub.
func (h *Hub) Stop(ctx context.Context) {
	h.mu.Lock()
	h.stopping = true
	h.mu.Unlock()
	h.closeAll(ctx)
	ended := make(chan struct{})
	go func() {
		h.sockets.Wait()
		close(ended)
	}()
	select {
	case <-ended:
	case <-time.After(h.closeReplyTimeout()):
	case <-ctx.Done():
	}
	h.finish() // first, because eachSocket misses sockets that are being opened
	h.eachSocket(func(s *socket) { s.cut(cutAtStop()) })
	<-ended
	h.loops.Stop()
}

// closeAll closes the sockets in random order.
func (h *Hub) closeAll(ctx context.Context) {
	var open []*socket
	h.eachSocket(func(s *socket) { open = append(open, s) })
	h.eachWatch(func(w *Watch) { w.end(watchEnded(shuttingDown())) })
	rand.Shuffle(len(open), func(i, j int) { open[i], open[j] = open[j], open[i] })
	ticker := time.NewTicker(closeStep)
	defer ticker.Stop()
	for some := range slices.Chunk(open, perStep(ctx, len(open))) {
		for _, s := range some {
			s.end(shuttingDown())
		}
		select {
		case <-ctx.Done(): // close the rest at once
		case <-ticker.C:
		}
	}
}

// perStep returns how many sockets to close per step: one per millisecond, or more if the time is short.
func perStep(ctx context.Context, sockets int) int {
	window := min(closeWindow, time.Duration(sockets)*time.Millisecond)
	if deadline, limited := ctx.Deadline(); limited {
		window = max(0, min(window, time.Until(deadline)/2))
	}
	steps := int(window/closeStep) + 1
	return max(1, (sockets+steps-1)/steps)
}
