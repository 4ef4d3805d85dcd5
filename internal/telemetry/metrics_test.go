package telemetry

import (
	"database/sql"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

// scraped is a parsed scrape.
type scraped map[string]*dto.MetricFamily

func scrape(t *testing.T, m *Metrics) scraped {
	t.Helper()
	response := httptest.NewRecorder()
	m.OperatorHandler().ServeHTTP(response, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	if response.Code != http.StatusOK {
		t.Fatalf("status %d: %s", response.Code, response.Body)
	}
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return families
}

// series finds the series of a metric that has all the labels, written name=value.
func (s scraped) series(name string, labels ...string) *dto.Metric {
	for _, metric := range s[name].GetMetric() {
		text := ","
		for _, pair := range metric.GetLabel() {
			text += pair.GetName() + "=" + pair.GetValue() + ","
		}
		found := 0
		for _, label := range labels {
			if strings.Contains(text, ","+label+",") {
				found++
			}
		}
		if found == len(labels) {
			return metric
		}
	}
	return nil
}

// check compares the value of a counter or gauge, the number of observations of a histogram.
func (s scraped) check(t *testing.T, want float64, name string, labels ...string) {
	t.Helper()
	metric := s.series(name, labels...)
	got := metric.GetCounter().GetValue() + metric.GetGauge().GetValue() + float64(metric.GetHistogram().GetSampleCount())
	if metric == nil || got != want {
		t.Errorf("%s%v = %v (%v), want %v", name, labels, got, metric, want)
	}
}

func TestMetrics_Requests(t *testing.T) {
	t.Parallel()
	m := NewMetrics("1.2.3")
	m.RequestStarted()
	m.RequestStarted()
	m.RequestFinished()
	m.ObserveRequest("GET /a", "GET", 200, 3*time.Millisecond, 100)
	m.ObserveRequest("GET /a", "GET", 200, 3*time.Millisecond, 50)
	m.ObserveRequest("GET /a", "GET", 404, time.Minute, -1)
	m.ObserveRequest("\xff", "BREW", 418, -1, 0)
	m.ObserveRequest("\xff", "STEEP", 418, 0, 0)
	s := scrape(t, m)
	s.check(t, 1, "signalbox_http_requests_in_flight")
	s.check(t, 2, "signalbox_http_requests_total", "route=GET /a", "method=GET", "status=200")
	s.check(t, 1, "signalbox_http_requests_total", "route=GET /a", "method=GET", "status=404")
	s.check(t, 2, "signalbox_http_requests_total", "route=\uFFFD", "method=_OTHER", "status=418")
	s.check(t, 150, "signalbox_http_response_bytes_total", "route=GET /a")
	s.check(t, 3, "signalbox_http_request_duration_seconds", "route=GET /a")
}

func TestMetrics_Transactions(t *testing.T) {
	t.Parallel()
	m := NewMetrics("1.2.3")
	m.ObserveTransaction("write", time.Millisecond, "ok")
	m.ObserveTransaction("write", time.Millisecond, "refused")
	m.ObserveTransaction("read", time.Millisecond, "error")
	m.ObserveGroupCommit(3)
	m.ObserveGroupCommit(700)
	s := scrape(t, m)
	s.check(t, 1, "signalbox_store_transactions_total", "kind=write", "outcome=ok")
	s.check(t, 1, "signalbox_store_transactions_total", "kind=write", "outcome=refused")
	s.check(t, 1, "signalbox_store_transactions_total", "kind=read", "outcome=error")
	s.check(t, 2, "signalbox_store_transaction_duration_seconds", "kind=write")
	s.check(t, 2, "signalbox_store_group_commit_size")
	if sum := s.series("signalbox_store_group_commit_size").GetHistogram().GetSampleSum(); sum != 703 {
		t.Errorf("the sizes sum to %v", sum)
	}
}

func TestMetrics_Pools(t *testing.T) {
	t.Parallel()
	m := NewMetrics("1.2.3")
	m.WatchPool("read", func() sql.DBStats {
		return sql.DBStats{MaxOpenConnections: 8, OpenConnections: 5, InUse: 3, Idle: 2, WaitCount: 7, WaitDuration: 1500 * time.Millisecond}
	})
	m.WatchPool("write\xff", func() sql.DBStats { return sql.DBStats{OpenConnections: 1} })
	s := scrape(t, m)
	s.check(t, 8, "signalbox_store_pool_max_open_connections", "pool=read")
	s.check(t, 5, "signalbox_store_pool_open_connections", "pool=read")
	s.check(t, 3, "signalbox_store_pool_in_use_connections", "pool=read")
	s.check(t, 2, "signalbox_store_pool_idle_connections", "pool=read")
	s.check(t, 7, "signalbox_store_pool_waits_total", "pool=read")
	s.check(t, 1.5, "signalbox_store_pool_wait_seconds_total", "pool=read")
	s.check(t, 1, "signalbox_store_pool_open_connections", "pool=write\uFFFD")
}

func TestMetrics_AuthenticationsAndBuild(t *testing.T) {
	t.Parallel()
	m := NewMetrics("1.2.3")
	for _, result := range []string{"hit", "hit", "miss", "refused"} {
		m.CountAuthentication(result)
	}
	s := scrape(t, m)
	s.check(t, 2, "signalbox_authentications_total", "result=hit")
	s.check(t, 1, "signalbox_authentications_total", "result=refused")
	s.check(t, 1, "signalbox_build_info", "version=1.2.3", "go="+runtime.Version())
	for _, name := range []string{"go_goroutines", "go_memstats_heap_alloc_bytes"} {
		t.Run(name, func(t *testing.T) {
			if s[name] == nil {
				t.Errorf("the runtime's %s is missing", name)
			}
		})
	}
	if runtime.GOOS == "linux" && s["process_open_fds"] == nil {
		t.Error("the process's metrics are missing")
	}
}

func TestMetrics_SeparateRegistries(t *testing.T) {
	t.Parallel()
	one, two := NewMetrics("1"), NewMetrics("2")
	one.CountAuthentication("hit")
	if scrape(t, two)["signalbox_authentications_total"] != nil {
		t.Error("two processes in one share their metrics")
	}
}

func TestReportClientMetric_Samples(t *testing.T) {
	t.Parallel()
	m := NewMetrics("1.2.3")
	m.ReportClientMetric("acme", "latency", "ms", 5)
	m.ReportClientMetric("acme", "latency", "ms", -7.5)
	for _, value := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		m.ReportClientMetric("acme", "latency", "ms", value)
	}
	m.ReportClientMetric("a\xff", "b\xfe", "\xfd", 1)
	m.ReportClientMetric("acme", strings.Repeat("é", 1000), "", 1)
	s := scrape(t, m)
	s.check(t, -2.5, "signalbox_reported_sum", "account=acme", "name=latency", "unit=ms")
	s.check(t, 2, "signalbox_reported_samples_total", "account=acme", "name=latency", "unit=ms")
	s.check(t, 1, "signalbox_reported_samples_total", "account=a\uFFFD", "name=b\uFFFD", "unit=\uFFFD")
	s.check(t, 1, "signalbox_reported_samples_total", "name="+strings.Repeat("é", maxLabel/2))
}

func TestReportClientMetric_Bounded(t *testing.T) {
	t.Parallel()
	m := NewMetrics("1.2.3")
	for i := range maxReported + 50 {
		m.ReportClientMetric(fmt.Sprint("account-", i), "n", "", 2)
	}
	m.ReportClientMetric("account-0", "n", "", 2)
	s := scrape(t, m)
	if n := len(s["signalbox_reported_sum"].GetMetric()); n != maxReported+1 {
		t.Errorf("%d series, want %d and one for the others", n, maxReported)
	}
	s.check(t, 100, "signalbox_reported_sum", "name=other", "account=", "unit=")
	s.check(t, 50, "signalbox_reported_samples_total", "name=other")
	s.check(t, 4, "signalbox_reported_sum", "account=account-0", "name=n")
}

func TestReportClientMetric_SharePerAccount(t *testing.T) {
	t.Parallel()
	m := NewMetrics("1.2.3")
	for i := range maxReportedOfAccount + 50 {
		m.ReportClientMetric("greedy", fmt.Sprint("n-", i), "ms", 2)
	}
	m.ReportClientMetric("modest", "n", "ms", 1)
	s := scrape(t, m)
	s.check(t, 100, "signalbox_reported_sum", "account=greedy", "name=other", "unit=")
	s.check(t, 1, "signalbox_reported_sum", "account=modest", "name=n", "unit=ms")
}

// TestMetrics_OperatorHandler looks at what is open to everybody.
func TestMetrics_OperatorHandler(t *testing.T) {
	t.Parallel()
	m := NewMetrics("1.2.3")
	m.ReportClientMetric("acme", "secret_project", "ms", 5)
	response := httptest.NewRecorder()
	m.Handler().ServeHTTP(response, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	if body := response.Body.String(); strings.Contains(body, "acme") || strings.Contains(body, "secret_project") || !strings.Contains(body, "signalbox_build_info") {
		t.Errorf("the open metrics are:\n%s", body)
	}
}

// TestMetrics_Documented looks for every metric of ours in the operator's manual.
func TestMetrics_Documented(t *testing.T) {
	t.Parallel()
	manual, err := os.ReadFile("../../docs/monitoring.md")
	if err != nil {
		t.Fatal(err)
	}
	names := metricNames()
	for name := range names {
		if !strings.Contains(string(manual), "`"+name+"`") {
			t.Errorf("docs/monitoring.md does not mention %s", name)
		}
	}
	if len(names) < 20 {
		t.Errorf("only %d metrics were looked for", len(names))
	}
}

// TestMetrics_Deployed looks for metrics in the alert rules and the dashboard that no server has.
func TestMetrics_Deployed(t *testing.T) {
	t.Parallel()
	known := metricNames()
	for _, file := range []string{"../../deploy/prometheus/alerts.yaml", "../../deploy/grafana/signalbox.json"} {
		t.Run(file, func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			used := regexp.MustCompile(`\bsignalbox_[a-z_]+`).FindAllString(string(text), -1)
			for _, name := range used {
				if !known[strings.TrimSuffix(name, "_bucket")] {
					t.Errorf("%s asks for %s, which no server has", file, name)
				}
			}
			if len(used) < 10 {
				t.Errorf("%s has only %d metrics", file, len(used))
			}
		})
	}
}

// metricNames returns the names of all metrics of ours.
func metricNames() map[string]bool {
	m := NewMetrics("1.2.3")
	m.WatchWritable(func() bool { return true })
	m.WatchClock(func() float64 { return 0 })
	m.WatchPool("reads", func() sql.DBStats { return sql.DBStats{} })
	described := make(chan *prometheus.Desc, 1000)
	m.registry.Describe(described)
	m.private.Describe(described)
	close(described)
	pattern, names := regexp.MustCompile(`fqName: "(signalbox_[a-z_]+)"`), map[string]bool{}
	for each := range described {
		if name := pattern.FindStringSubmatch(each.String()); name != nil {
			names[name[1]] = true
		}
	}
	return names
}

func TestMetrics_Concurrent(t *testing.T) {
	t.Parallel()
	const workers, rounds = 4, 400
	m := NewMetrics("1.2.3")
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			for i := range rounds {
				m.RequestStarted()
				m.ObserveRequest(fmt.Sprint("/", i%50), "GET", 200, time.Millisecond, 1)
				m.ObserveTransaction("write", time.Millisecond, fmt.Sprint(i%150))
				m.ReportClientMetric("a", fmt.Sprint(i), "", 1)
				m.RequestFinished()
			}
		})
	}
	wg.Go(func() { scrape(t, m) })
	wg.Wait()
	s := scrape(t, m)
	total := 0.0
	for _, metric := range s["signalbox_http_requests_total"].GetMetric() {
		total += metric.GetCounter().GetValue()
	}
	if total != workers*rounds {
		t.Errorf("%v requests were counted", total)
	}
	s.check(t, 0, "signalbox_http_requests_in_flight")
	s.check(t, workers, "signalbox_reported_samples_total", "name=7")
	s.check(t, workers*(rounds-maxReportedOfAccount), "signalbox_reported_samples_total", "name=other", "account=a")
	if n := len(s["signalbox_store_transactions_total"].GetMetric()); n != maxSmallSeries+1 {
		t.Errorf("%d series of transactions", n)
	}
}

// TestMetrics_HotPathDoesNotAllocate cannot be parallel: the counter is the process's.
func TestMetrics_HotPathDoesNotAllocate(t *testing.T) {
	m := NewMetrics("1.2.3")
	paths := map[string]func(){
		"ObserveRequest":      func() { m.ObserveRequest("GET /a", "GET", 200, time.Millisecond, 10) },
		"made-up method":      func() { m.ObserveRequest("GET /a", "BREW", 200, time.Millisecond, 10) },
		"ObserveTransaction":  func() { m.ObserveTransaction("write", time.Millisecond, "ok") },
		"ObserveGroupCommit":  func() { m.ObserveGroupCommit(3) },
		"CountAuthentication": func() { m.CountAuthentication("hit") },
		"ReportClientMetric":  func() { m.ReportClientMetric("a", "b", "c", 1) },
		"in flight": func() {
			m.RequestStarted()
			m.RequestFinished()
		},
	}
	for name, path := range paths {
		t.Run(name, func(t *testing.T) {
			if n := testing.AllocsPerRun(100, path); n != 0 {
				t.Errorf("%s allocates %v times", name, n)
			}
		})
	}
}

func BenchmarkObserveRequest(b *testing.B) {
	m := NewMetrics("1.2.3")
	b.ReportAllocs()
	for b.Loop() {
		m.ObserveRequest("GET /api/v1/flags/{key}", "GET", 200, time.Millisecond, 512)
	}
}
