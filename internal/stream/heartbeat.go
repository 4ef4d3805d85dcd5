package stream

import (
	"context"

	"github.com/gorilla/websocket"

	"github.com/signalbox/signalbox/internal/background"
)

// heartbeatTicks is how many ticks a heartbeat interval has. Heartbeats are spread over the ticks.
const heartbeatTicks = 60

// maintain checks all sockets and sends heartbeats until ctx ends.
func (h *Hub) maintain(ctx context.Context) {
	ping, comment := appendFrame(nil, websocket.TextMessage, []byte("ping")), []byte(heartbeatComment)
	tick := uint16(0)
	background.Every(ctx, h.Heartbeat/heartbeatTicks, func(context.Context) {
		now, wall := h.clock(), h.now()
		h.eachSocket(func(s *socket) {
			switch {
			case s.follows == nil && now-s.lastRead.Load() > h.silenceLimit():
				s.cut(silent())
			case now > s.expires.Load(): // checked before the key, so that a peer that never reads the close frame is disconnected
				s.expire()
			case !s.isAllowed(wall):
				s.end(s.credential.ended(wall))
			case s.tick == tick && s.follows != nil:
				s.send(comment)
			case s.tick == tick:
				s.send(ping)
			}
		})
		h.eachWatch((*Watch).check)
		tick = (tick + 1) % heartbeatTicks
	})
}

// silenceLimit returns how long a peer may be silent.
func (h *Hub) silenceLimit() int64 { return 3 * int64(h.Heartbeat) }

func (h *Hub) eachSocket(visit func(*socket)) {
	for _, subs := range h.allSubscribers() {
		subs.each(visit)
	}
}
