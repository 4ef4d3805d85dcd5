package telemetry

import (
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

type runLabels struct{ status, reason string }

// jobMetrics are the metrics of the jobs engine.
type jobMetrics struct {
	runs       *children[runLabels, prometheus.Counter]
	skips      prometheus.Counter
	lag        prometheus.Histogram
	queueDepth prometheus.Gauge
	inFlight   prometheus.Gauge
	lastTick   prometheus.Gauge
	health     *healthGauges

	deliveries         *prometheus.CounterVec
	surplusDeliveries  prometheus.Counter
	deliveryQueueDepth prometheus.Gauge
	deliveriesInFlight prometheus.Gauge
	webhookHealth      *healthGauges
}

// Health are the labels of a job or a webhook that is not well.
type Health struct{ Account, ID, State string }

// healthGauges has a gauge for each of some jobs or webhooks. The caller bounds their number.
type healthGauges struct {
	vector *prometheus.GaugeVec
	mu     sync.Mutex
	shown  map[Health]bool
}

func newHealthGauges(name, help, id string) *healthGauges {
	return &healthGauges{vector: prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: name, Help: help}, []string{"account", id, "state"})}
}

func (g *healthGauges) set(now map[Health]bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for each := range g.shown {
		if !now[each] {
			g.vector.DeleteLabelValues(each.Account, each.ID, each.State)
		}
	}
	for each := range now {
		g.vector.WithLabelValues(each.Account, each.ID, each.State).Set(1)
	}
	g.shown = now
}

// SetJobHealth records the jobs that are failing or late now.
func (m *Metrics) SetJobHealth(now map[Health]bool) { m.jobs.health.set(now) }

// SetWebhookHealth records the webhooks that are failing now, or were disabled because they failed.
func (m *Metrics) SetWebhookHealth(now map[Health]bool) { m.jobs.webhookHealth.set(now) }

func newJobMetrics(registry prometheus.Registerer) jobMetrics {
	runs := newCounters("signalbox_runs_total", "Runs that ended on this node, by status and failure reason.", "status", "reason")
	m := jobMetrics{
		runs: newChildren(maxSmallSeries,
			func(k runLabels) prometheus.Counter { return runs.WithLabelValues(k.status, k.reason) },
			func() prometheus.Counter { return runs.WithLabelValues(other, other) }),
		lag: newHistogram("signalbox_schedule_lag_seconds", "How late jobs fired.",
			.005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 300, 3600),
		skips: prometheus.NewCounter(prometheus.CounterOpts{Name: "signalbox_schedule_skips_total",
			Help: "Instants that jobs skipped on this node, because their account had too many pending runs."}),
		queueDepth: newGauge("signalbox_run_queue_depth", "Runs that wait for a worker of any node, up to 100000."),
		inFlight:   newGauge("signalbox_runs_in_flight", "Requests of runs in flight on this node."),
		lastTick:   newGauge("signalbox_scheduler_last_tick_timestamp_seconds", "When this node's scheduler last looked for due jobs."),
		health:     newHealthGauges("signalbox_job_health", "1 for each job that is failing or late, of at most 500.", "job"),

		deliveries: newCounters("signalbox_webhook_attempts_total", "Attempts to deliver messages of webhooks on this node, by outcome.", "outcome"),
		surplusDeliveries: prometheus.NewCounter(prometheus.CounterOpts{Name: "signalbox_webhook_surplus_total",
			Help: "Deliveries that this node ended, because their webhook had too many unfinished ones."}),
		deliveryQueueDepth: newGauge("signalbox_webhook_queue_depth", "Deliveries of webhooks that are due and wait for any node, up to 100000."),
		deliveriesInFlight: newGauge("signalbox_webhook_deliveries_in_flight", "Requests of webhooks in flight on this node."),
		webhookHealth: newHealthGauges("signalbox_webhook_health",
			"1 for each webhook that is failing, or was disabled because it failed, of at most 500.", "webhook"),
	}
	registry.MustRegister(m.deliveries, m.surplusDeliveries, m.deliveryQueueDepth, m.deliveriesInFlight, m.webhookHealth.vector)
	registry.MustRegister(m.health.vector, runs, m.skips, m.lag, m.queueDepth, m.inFlight, m.lastTick)
	return m
}

// CountRun counts a run that ended.
func (m *Metrics) CountRun(status, reason string) { m.jobs.runs.get(runLabels{status, reason}).Inc() }

// ObserveScheduleLag records how late a job fired.
func (m *Metrics) ObserveScheduleLag(lag time.Duration) { m.jobs.lag.Observe(max(0, lag.Seconds())) }

// CountSkips counts times at which a job was due but did not run.
func (m *Metrics) CountSkips(instants int) { m.jobs.skips.Add(float64(instants)) }

// SetRunQueueDepth records how many runs wait for a worker.
func (m *Metrics) SetRunQueueDepth(runs int) { m.jobs.queueDepth.Set(float64(runs)) }

// SetRunsInFlight records how many requests of runs are in flight.
func (m *Metrics) SetRunsInFlight(requests int) { m.jobs.inFlight.Set(float64(requests)) }

// SetLastTick records when the scheduler last looked for due jobs.
func (m *Metrics) SetLastTick(at time.Time) { m.jobs.lastTick.Set(float64(at.UnixMilli()) / 1000) }

// CountDelivery counts an attempt to deliver a message of a webhook: succeeded or failed.
func (m *Metrics) CountDelivery(outcome string) { m.jobs.deliveries.WithLabelValues(outcome).Inc() }

// CountSurplusDeliveries counts deliveries that were ended because their webhook had too many unfinished ones.
func (m *Metrics) CountSurplusDeliveries(deliveries int) {
	m.jobs.surplusDeliveries.Add(float64(deliveries))
}

// SetDeliveryQueueDepth records how many deliveries of webhooks wait for a worker.
func (m *Metrics) SetDeliveryQueueDepth(deliveries int) {
	m.jobs.deliveryQueueDepth.Set(float64(deliveries))
}

// SetDeliveriesInFlight records how many requests of webhooks are in flight.
func (m *Metrics) SetDeliveriesInFlight(requests int) {
	m.jobs.deliveriesInFlight.Set(float64(requests))
}
