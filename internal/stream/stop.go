package stream

import (
	"context"
	"math/rand/v2"
	"time"
)

const (
	// spread is how long it takes at most to close everything: clients that
	// all come back at once would hurt the nodes that are left.
	spread = 3 * time.Second
	// pace is the time that closing one socket may take.
	pace = time.Millisecond
	// step is how often some are closed meanwhile.
	step = 25 * time.Millisecond
)

// Stop closes all sockets with 1012, over a few seconds when there are many
// and ctx lasts that long, and ends the hub. No socket is opened any more.
func (h *Hub) Stop(ctx context.Context) {
	h.mu.Lock()
	h.stopping = true
	h.mu.Unlock()
	h.dismiss(ctx)
	h.await(ctx)
	h.finish() // first: a socket that is opened just now is not among those that are cut
	h.eachSocket(func(s *socket) { s.cut(cutAtStop()) })
	h.sockets.Wait()
	h.loops.Stop()
}

// dismiss closes the sockets in random order.
func (h *Hub) dismiss(ctx context.Context) {
	var open []*socket
	h.eachSocket(func(s *socket) { open = append(open, s) })
	rand.Shuffle(len(open), func(i, j int) { open[i], open[j] = open[j], open[i] })
	ticker := time.NewTicker(step)
	defer ticker.Stop()
	each := portionOf(len(open), window(ctx, len(open)))
	for len(open) > 0 {
		n := min(each, len(open))
		for _, s := range open[:n] {
			s.end(shuttingDown())
		}
		if open = open[n:]; len(open) == 0 {
			return
		}
		select {
		case <-ctx.Done():
			each = len(open)
		case <-ticker.C:
		}
	}
}

// window is how long closing may take: longer for many, and at most half of
// the time that there is.
func window(ctx context.Context, sockets int) time.Duration {
	most := min(spread, time.Duration(sockets)*pace)
	if deadline, limited := ctx.Deadline(); limited {
		most = min(most, time.Until(deadline)/2)
	}
	return max(0, most)
}

// portionOf is how many are closed at each step.
func portionOf(sockets int, within time.Duration) int {
	steps := int(within/step) + 1
	return (sockets + steps - 1) / steps
}

// await gives peers the time to answer.
func (h *Hub) await(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, farewell)
	defer cancel()
	ended := make(chan struct{})
	go func() {
		h.sockets.Wait()
		close(ended)
	}()
	select {
	case <-ctx.Done():
	case <-ended:
	}
}
