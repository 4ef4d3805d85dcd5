package telemetry

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// streamMetrics are the metrics of the event sockets.
type streamMetrics struct {
	sockets prometheus.Gauge
	opened  *children[string, prometheus.Counter]
	closed  *children[string, prometheus.Counter]
	events  prometheus.Counter
	lag     prometheus.Histogram
}

func newStreamMetrics(registry prometheus.Registerer) *streamMetrics {
	m := &streamMetrics{
		sockets: newGauge("signalbox_stream_sockets", "Event sockets and OFREP event streams that are open now."),
		events: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "signalbox_stream_events_sent_total", Help: "Events sent, each once for every socket.",
		}),
		lag: newHistogram("signalbox_stream_push_lag_seconds", "Time from a change until a worker has sent its event to all its sockets.",
			.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10),
	}
	registry.MustRegister(m.sockets, m.events, m.lag)
	m.opened = newWordCounters(registry, "signalbox_stream_opened_total", "Event sockets and OFREP event streams opened: fresh, resumed or resynced.", "how")
	m.closed = newWordCounters(registry, "signalbox_stream_closed_total",
		"Event sockets and OFREP event streams closed; slow_reader means that one fell too far behind.", "reason")
	return m
}

// SocketOpened counts an event socket as fresh, resumed or resynced. Call SocketClosed when the socket ends.
func (m *streamMetrics) SocketOpened(how string) {
	m.sockets.Inc()
	m.opened.get(how).Inc()
}

// SocketClosed counts the end of an event socket.
func (m *streamMetrics) SocketClosed(reason string) {
	m.sockets.Dec()
	m.closed.get(reason).Inc()
}

// EventsSent counts events. An event that is sent to several sockets counts several times.
func (m *streamMetrics) EventsSent(count int) {
	if count > 0 {
		m.events.Add(float64(count))
	}
}

// PushLag records the time from a change to the sending of its event.
func (m *streamMetrics) PushLag(lag time.Duration) { m.lag.Observe(lag.Seconds()) }
