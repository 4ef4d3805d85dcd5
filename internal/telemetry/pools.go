package telemetry

import (
	"database/sql"

	"github.com/prometheus/client_golang/prometheus"
)

// WatchPool adds metrics of a connection pool. Names must be unique.
func (m *Metrics) WatchPool(name string, stats func() sql.DBStats) {
	labels := prometheus.Labels{"pool": label(name)}
	gauge := func(name, help string, value func(sql.DBStats) int) {
		m.registry.MustRegister(prometheus.NewGaugeFunc(
			prometheus.GaugeOpts{Name: "signalbox_store_pool_" + name, Help: help, ConstLabels: labels},
			func() float64 { return float64(value(stats())) }))
	}
	counter := func(name, help string, value func(sql.DBStats) float64) {
		m.registry.MustRegister(prometheus.NewCounterFunc(
			prometheus.CounterOpts{Name: "signalbox_store_pool_" + name, Help: help, ConstLabels: labels},
			func() float64 { return value(stats()) }))
	}
	gauge("max_open_connections", "Connections the pool may open; 0 means no limit.", func(s sql.DBStats) int { return s.MaxOpenConnections })
	gauge("open_connections", "Open connections.", func(s sql.DBStats) int { return s.OpenConnections })
	gauge("in_use_connections", "Connections in use.", func(s sql.DBStats) int { return s.InUse })
	gauge("idle_connections", "Idle connections.", func(s sql.DBStats) int { return s.Idle })
	counter("waits_total", "Times a connection was waited for.", func(s sql.DBStats) float64 { return float64(s.WaitCount) })
	counter("wait_seconds_total", "Time spent waiting for a connection.", func(s sql.DBStats) float64 { return s.WaitDuration.Seconds() })
}
