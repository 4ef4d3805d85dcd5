package telemetry

import (
	"database/sql"
	"maps"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
)

// poolCollector reads the counts that database/sql keeps, at scrape time.
type poolCollector struct {
	figures []poolFigure

	mu    sync.Mutex
	pools map[string]func() sql.DBStats
}

// poolFigure is one metric and how to read it.
type poolFigure struct {
	desc  *prometheus.Desc
	kind  prometheus.ValueType
	value func(sql.DBStats) float64
}

func newPoolCollector() *poolCollector {
	figure := func(kind prometheus.ValueType, name, help string, value func(sql.DBStats) float64) poolFigure {
		return poolFigure{prometheus.NewDesc("signalbox_store_pool_"+name, help, []string{"pool"}, nil), kind, value}
	}
	const gauge, counter = prometheus.GaugeValue, prometheus.CounterValue
	return &poolCollector{pools: map[string]func() sql.DBStats{}, figures: []poolFigure{
		figure(gauge, "max_open_connections", "Connections the pool may open; 0 means no limit.",
			func(s sql.DBStats) float64 { return float64(s.MaxOpenConnections) }),
		figure(gauge, "open_connections", "Open connections.", func(s sql.DBStats) float64 { return float64(s.OpenConnections) }),
		figure(gauge, "in_use_connections", "Connections in use.", func(s sql.DBStats) float64 { return float64(s.InUse) }),
		figure(gauge, "idle_connections", "Idle connections.", func(s sql.DBStats) float64 { return float64(s.Idle) }),
		figure(counter, "waits_total", "Times a connection was waited for.", func(s sql.DBStats) float64 { return float64(s.WaitCount) }),
		figure(counter, "wait_seconds_total", "Time spent waiting for a connection.",
			func(s sql.DBStats) float64 { return s.WaitDuration.Seconds() }),
	}}
}

func (c *poolCollector) watch(name string, stats func() sql.DBStats) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.pools[name] = stats
}

// Describe sends the descriptions of the metrics.
func (c *poolCollector) Describe(out chan<- *prometheus.Desc) {
	for _, figure := range c.figures {
		out <- figure.desc
	}
}

// Collect reads every pool once, without the lock: a pool has its own.
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
