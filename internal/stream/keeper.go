package stream

import (
	"context"
	"time"

	"github.com/gorilla/websocket"
)

// beats is how many ticks a heartbeat has. Sockets are spread over them.
const beats = 60

// keep looks after the sockets until the hub ends: one ticker for all.
func (h *Hub) keep(ctx context.Context) {
	ticker := time.NewTicker(h.Heartbeat / beats)
	defer ticker.Stop()
	ping := appendFrame(nil, websocket.TextMessage, []byte("ping"))
	for tick := uint16(0); ; tick = (tick + 1) % beats {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		now, wall := h.clock(), h.now()
		h.eachSocket(func(s *socket) { h.care(s, now, wall, s.turn == tick, ping) })
	}
}

// patience is how long a peer may be silent.
func (h *Hub) patience() int64 { return 3 * int64(h.Heartbeat) }

func (h *Hub) eachSocket(visit func(*socket)) {
	for _, here := range h.allRooms() {
		for i := range here.shards {
			here.shards[i].walk(visit)
		}
	}
}

// care closes a socket that must not stay and sends a heartbeat that is due.
func (h *Hub) care(s *socket, now int64, wall time.Time, due bool, ping []byte) {
	switch {
	case now-s.heard.Load() > h.patience():
		s.cut(silent())
	case !s.key.works(wall):
		s.end(keyEnded())
	case now > s.until.Load():
		s.retire()
	case due:
		s.beat(ping)
	}
}
