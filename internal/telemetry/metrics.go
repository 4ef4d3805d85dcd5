package telemetry

import (
	"net/http"
	"runtime"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

const (
	other            = "other"
	unknownMethod    = "_OTHER"
	maxRequestSeries = 2000 // routes × methods × statuses of a normal service are far fewer
	maxSmallSeries   = 100  // for labels that have a few fixed values
	maxScrapes       = 8    // at once, because /metrics needs no credential
)

// Metrics are the process's metrics. All methods are safe for concurrent use.
type Metrics struct {
	registry  *prometheus.Registry
	private   *prometheus.Registry // metrics that accounts report
	inFlight  prometheus.Gauge
	requests  *children[requestLabels, requestSeries]
	store     *children[transactionLabels, transactionSeries]
	auth      *children[string, prometheus.Counter]
	reported  *reports
	dropped   prometheus.Counter
	groupSize prometheus.Histogram
	history   historyMetrics
	*streamMetrics
	jobs jobMetrics
}

// NewMetrics creates metrics on their own registry, with the metrics of the Go runtime and the process.
func NewMetrics(version string) *Metrics {
	registry, private := prometheus.NewRegistry(), prometheus.NewRegistry()
	m := &Metrics{
		registry:  registry,
		private:   private,
		inFlight:  newGauge("signalbox_http_requests_in_flight", "Requests being answered now."),
		requests:  newRequests(registry),
		store:     newTransactions(registry),
		auth:      newWordCounters(registry, "signalbox_authentications_total", "Credential checks.", "result"),
		reported:  newReports(private),
		dropped:   prometheus.NewCounter(prometheus.CounterOpts{Name: "signalbox_reported_dropped_total", Help: "Sums of samples beyond the cap of a minute or an hour, and evaluations beyond the cap of an account."}),
		groupSize: newHistogram("signalbox_store_group_commit_size", "Writes that shared one commit.", prometheus.ExponentialBuckets(1, 2, 10)...),

		history:       newHistoryMetrics(registry),
		streamMetrics: newStreamMetrics(registry),
		jobs:          newJobMetrics(registry),
	}
	registry.MustRegister(m.inFlight, m.dropped, m.groupSize, buildInfo(version),
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

// Handler serves scrapes in the Prometheus format. Everybody may scrape, so metrics that accounts report are omitted.
func (m *Metrics) Handler() http.Handler { return serve(m.registry) }

// OperatorHandler serves scrapes with all metrics.
func (m *Metrics) OperatorHandler() http.Handler {
	return serve(prometheus.Gatherers{m.registry, m.private})
}

func serve(from prometheus.Gatherer) http.Handler {
	return promhttp.HandlerFor(from, promhttp.HandlerOpts{ErrorHandling: promhttp.ContinueOnError, MaxRequestsInFlight: maxScrapes})
}

// RequestStarted counts a request as in flight until RequestFinished is called.
func (m *Metrics) RequestStarted() { m.inFlight.Inc() }

// RequestFinished ends the count of RequestStarted.
func (m *Metrics) RequestFinished() { m.inFlight.Dec() }

// ObserveRequest counts an answered request. route is the pattern that matched, never the path. bytes is the size of the
// response's body.
func (m *Metrics) ObserveRequest(route, method string, status int, took time.Duration, bytes int64) {
	series := m.requests.get(requestLabels{route, knownMethod(method), status})
	series.count.Inc()
	series.duration.Observe(took.Seconds())
	if bytes > 0 {
		series.bytes.Add(float64(bytes))
	}
}

// ObserveTransaction counts a transaction. kind is read or write. outcome is ok, refused (by a rule) or error.
func (m *Metrics) ObserveTransaction(kind string, took time.Duration, outcome string) {
	series := m.store.get(transactionLabels{kind, outcome})
	series.count.Inc()
	series.duration.Observe(took.Seconds())
}

// ObserveGroupCommit records how many writes shared one commit.
func (m *Metrics) ObserveGroupCommit(size int) { m.groupSize.Observe(float64(size)) }

// WatchWritable adds a gauge that shows whether writes to the store work. Call it once.
func (m *Metrics) WatchWritable(works func() bool) {
	m.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "signalbox_store_writable", Help: "1 while writes to the store work; 0 after a write failed because of the disk, until a write works again.",
	}, func() float64 {
		if works() {
			return 1
		}
		return 0
	}))
}

// WatchClock adds a gauge that shows how many seconds this node's clock is ahead of the database's. Call it once.
func (m *Metrics) WatchClock(difference func() float64) {
	m.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "signalbox_clock_difference_seconds",
		Help: "How far this node's clock is ahead of the database's; below 0 it is behind. Beyond a minute the node is not ready and fires nothing.",
	}, difference))
}

// CountAuthentication counts a check of a credential: hit (found in the cache), miss (looked up) or refused.
func (m *Metrics) CountAuthentication(result string) { m.auth.get(result).Inc() }

type requestLabels struct {
	route, method string
	status        int
}

type requestSeries struct {
	count, bytes prometheus.Counter
	duration     prometheus.Observer
}

func newRequests(registry prometheus.Registerer) *children[requestLabels, requestSeries] {
	count := newCounters("signalbox_http_requests_total", "Answered requests.", "route", "method", "status")
	bytes := newCounters("signalbox_http_response_bytes_total", "Bytes of response bodies.", "route")
	duration := newDurations("signalbox_http_request_duration_seconds", "Time to answer a request.", "route")
	registry.MustRegister(count, bytes, duration)
	series := func(route, method, status string) requestSeries {
		return requestSeries{count.WithLabelValues(route, method, status), bytes.WithLabelValues(route), duration.WithLabelValues(route)}
	}
	return newChildren(maxRequestSeries,
		func(k requestLabels) requestSeries { return series(label(k.route), k.method, strconv.Itoa(k.status)) },
		func() requestSeries { return series(other, other, other) })
}

// knownMethod returns a standard method, or OpenTelemetry's name for unknown methods. It returns a constant and never its
// argument, because a cached argument would keep the request's memory alive.
func knownMethod(method string) string {
	for _, known := range [...]string{http.MethodGet, http.MethodPut, http.MethodPost, http.MethodDelete, http.MethodHead,
		http.MethodPatch, http.MethodOptions, http.MethodConnect, http.MethodTrace} {
		if method == known {
			return known
		}
	}
	return unknownMethod
}

type transactionLabels struct{ kind, outcome string }

type transactionSeries struct {
	count    prometheus.Counter
	duration prometheus.Observer
}

func newTransactions(registry prometheus.Registerer) *children[transactionLabels, transactionSeries] {
	count := newCounters("signalbox_store_transactions_total", "Transactions of the store.", "kind", "outcome")
	duration := newDurations("signalbox_store_transaction_duration_seconds", "Time of a transaction, waiting included.", "kind")
	registry.MustRegister(count, duration)
	series := func(kind, outcome string) transactionSeries {
		return transactionSeries{count.WithLabelValues(kind, outcome), duration.WithLabelValues(kind)}
	}
	return newChildren(maxSmallSeries,
		func(k transactionLabels) transactionSeries { return series(label(k.kind), label(k.outcome)) },
		func() transactionSeries { return series(other, other) })
}

// newWordCounters returns counters with one label that has a few fixed values.
func newWordCounters(registry prometheus.Registerer, name, help, by string) *children[string, prometheus.Counter] {
	count := newCounters(name, help, by)
	registry.MustRegister(count)
	return newChildren(maxSmallSeries,
		func(word string) prometheus.Counter { return count.WithLabelValues(label(word)) },
		func() prometheus.Counter { return count.WithLabelValues(other) })
}

func newGauge(name, help string) prometheus.Gauge {
	return prometheus.NewGauge(prometheus.GaugeOpts{Name: name, Help: help})
}

func newCounters(name, help string, labels ...string) *prometheus.CounterVec {
	return prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
}

func newDurations(name, help string, labels ...string) *prometheus.HistogramVec {
	buckets := []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10}
	return prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: name, Help: help, Buckets: buckets}, labels)
}

func newHistogram(name, help string, buckets ...float64) prometheus.Histogram {
	return prometheus.NewHistogram(prometheus.HistogramOpts{Name: name, Help: help, Buckets: buckets})
}

func buildInfo(version string) prometheus.Collector {
	labels := prometheus.Labels{"version": label(version), "go": runtime.Version()}
	gauge := prometheus.NewGauge(prometheus.GaugeOpts{Name: "signalbox_build_info", Help: "Always 1; the labels tell the build.", ConstLabels: labels})
	gauge.Set(1)
	return gauge
}
