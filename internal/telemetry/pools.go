package telemetry

import (
	"database/sql"
	"maps"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
)

// poolCollector asks the pools at scrape time: database/sql counts already, counting again would only cost.
type poolCollector struct {
	figures []poolFigure

	mu    sync.Mutex
	pools map[string]func() sql.DBStats
}

// poolFigure is one metric and where its value stands.
type poolFigure struct {
	desc  *prometheus.Desc
	kind  prometheus.ValueType
	value func(sql.DBStats) float64
}

func newPoolCollector() *poolCollector {
	figure := func(name, help string, kind prometheus.ValueType, value func(sql.DBStats) float64) poolFigure {
		return poolFigure{prometheus.NewDesc("signalbox_store_pool_"+name, help, []string{"pool"}, nil), kind, value}
	}
	return &poolCollector{pools: map[string]func() sql.DBStats{}, figures: []poolFigure{
		figure("max_open_connections", "Connections the pool may open; 0 means no limit.", prometheus.GaugeValue,
			func(s sql.DBStats) float64 { return float64(s.MaxOpenConnections) }),
		figure("open_connections", "Open connections.", prometheus.GaugeValue,
			func(s sql.DBStats) float64 { return float64(s.OpenConnections) }),
		figure("in_use_connections", "Connections in use.", prometheus.GaugeValue,
			func(s sql.DBStats) float64 { return float64(s.InUse) }),
		figure("idle_connections", "Idle connections.", prometheus.GaugeValue,
			func(s sql.DBStats) float64 { return float64(s.Idle) }),
		figure("waits_total", "Times a connection was waited for.", prometheus.CounterValue,
			func(s sql.DBStats) float64 { return float64(s.WaitCount) }),
		figure("wait_seconds_total", "Time spent waiting for a connection.", prometheus.CounterValue,
			func(s sql.DBStats) float64 { return s.WaitDuration.Seconds() }),
	}}
}

func (c *poolCollector) watch(name string, stats func() sql.DBStats) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.pools[name] = stats
}

// Describe names the metrics.
func (c *poolCollector) Describe(out chan<- *prometheus.Desc) {
	for _, figure := range c.figures {
		out <- figure.desc
	}
}

// Collect asks every pool once. The pools are asked without the lock: their own locks are none of ours.
func (c *poolCollector) Collect(out chan<- prometheus.Metric) {
	c.mu.Lock()
	pools := maps.Clone(c.pools)
	c.mu.Unlock()
	for name, stats := range pools {
		now := stats()
		for _, figure := range c.figures {
			out <- prometheus.MustNewConstMetric(figure.desc, figure.kind, figure.value(now), name)
		}
	}
}
