package telemetry

import (
	"testing"
	"time"
)

func TestMetrics_Stream(t *testing.T) {
	t.Parallel()
	m := NewMetrics("1.2.3")
	m.SocketOpened("fresh")
	m.SocketOpened("resumed")
	m.SocketClosed("slow_reader")
	m.EventsSent(10)
	m.EventsSent(0)
	m.PushLag(3 * time.Millisecond)
	s := scrape(t, m)
	s.check(t, 1, "signalbox_stream_sockets")
	s.check(t, 1, "signalbox_stream_opened_total", "how=fresh")
	s.check(t, 1, "signalbox_stream_opened_total", "how=resumed")
	s.check(t, 1, "signalbox_stream_closed_total", "reason=slow_reader")
	s.check(t, 10, "signalbox_stream_events_sent_total")
	s.check(t, 1, "signalbox_stream_push_lag_seconds")
}
