package telemetry

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	common "go.opentelemetry.io/proto/otlp/common/v1"
	wire "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

const (
	parentTrace = "4bf92f3577b34da6a3ce929d0e0e4736"
	parentSpan  = "00f067aa0ba902b7"
)

// sink is a collector that keeps the received spans.
type sink struct {
	*httptest.Server
	mu    sync.Mutex
	spans map[string]*wire.Span
	from  map[string]any // attributes of the service
}

func newSink(t *testing.T) *sink {
	t.Helper()
	s := &sink{spans: map[string]*wire.Span{}}
	s.Server = httptest.NewServer(http.HandlerFunc(s.receive))
	t.Cleanup(s.Close)
	return s
}

func (s *sink) receive(w http.ResponseWriter, r *http.Request) {
	var request collector.ExportTraceServiceRequest
	body, err := io.ReadAll(r.Body)
	if err == nil {
		err = proto.Unmarshal(body, &request)
	}
	if err != nil || r.URL.Path != "/v1/traces" {
		http.Error(w, "not traces", http.StatusBadRequest)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, group := range request.GetResourceSpans() {
		s.from = attributeMap(group.GetResource().GetAttributes())
		for _, scope := range group.GetScopeSpans() {
			for _, span := range scope.GetSpans() {
				s.spans[span.GetName()] = span
			}
		}
	}
}

// tracing returns a Tracing that sends to the sink. The returned function delivers all spans.
func (s *sink) tracing(t *testing.T) (*Tracing, func()) {
	t.Helper()
	options := TracingOptions{Enabled: true, Version: "1.2.3", NodeName: "node-1", Logger: slog.New(slog.DiscardHandler)}
	tracing, err := NewTracing(t.Context(), options, otlptracehttp.WithEndpointURL(s.URL+"/v1/traces"))
	if err != nil {
		t.Fatal(err)
	}
	return tracing, func() {
		if err := tracing.Shutdown(context.Background()); err != nil { //nolint:usetesting // the test's context has ended
			t.Error(err)
		}
	}
}

func (s *sink) span(t *testing.T, name string) *wire.Span {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.spans[name] == nil {
		t.Fatalf("the span %q did not arrive, only %v", name, s.spans)
	}
	return s.spans[name]
}

func attributeMap(list []*common.KeyValue) map[string]any {
	values := map[string]any{}
	for _, kv := range list {
		switch v := kv.GetValue().GetValue().(type) {
		case *common.AnyValue_StringValue:
			values[kv.GetKey()] = v.StringValue
		case *common.AnyValue_IntValue:
			values[kv.GetKey()] = v.IntValue
		case *common.AnyValue_BoolValue:
			values[kv.GetKey()] = v.BoolValue
		case *common.AnyValue_DoubleValue:
			values[kv.GetKey()] = v.DoubleValue
		}
	}
	return values
}

// expect compares only the named attributes, because the library adds its own.
func expect(t *testing.T, got, want map[string]any) {
	t.Helper()
	for key, value := range want {
		if got[key] != value {
			t.Errorf("%s = %#v, want %#v", key, got[key], value)
		}
	}
}

func TestTracing_RequestWithTransaction(t *testing.T) {
	t.Parallel()
	s := newSink(t)
	tracing, deliver := s.tracing(t)
	r := httptest.NewRequest(http.MethodPut, "/api/v1/flags/a%ff?api_key=secret", nil)
	r = r.WithContext(WithRequestID(r.Context(), "r-1"))
	r.Header.Set("Traceparent", "00-"+parentTrace+"-"+parentSpan+"-01")
	ctx, end := tracing.StartRequest(r.Context(), r, "PUT /api/v1/flags/{key}")
	_, endWork := tracing.Start(ctx, "write\xff")
	endWork(errors.New("database gone \xff"))
	end(503)
	deliver()

	request, work := s.span(t, "PUT /api/v1/flags/{key}"), s.span(t, "write\uFFFD")
	if request.GetKind() != wire.Span_SPAN_KIND_SERVER || !bytes.Equal(work.GetParentSpanId(), request.GetSpanId()) {
		t.Error("the transaction is not inside the request's server span")
	}
	expect(t, attributeMap(request.GetAttributes()), map[string]any{"http.request.method": "PUT", "http.route": "/api/v1/flags/{key}",
		"url.path": "/api/v1/flags/a%ff", "http.response.status_code": int64(503), "signalbox.request_id": "r-1"})
	expect(t, attributeMap(work.GetAttributes()), map[string]any{"error.type": "*errors.errorString"})
	if request.GetStatus().GetCode() != wire.Status_STATUS_CODE_ERROR || work.GetStatus().GetMessage() != "database gone \uFFFD" {
		t.Errorf("statuses %v and %v", request.GetStatus(), work.GetStatus())
	}
	expect(t, s.from, map[string]any{"service.name": "signalbox", "service.version": "1.2.3", "service.instance.id": "node-1"})
	if got := hex.EncodeToString(request.GetTraceId()) + "-" + hex.EncodeToString(request.GetParentSpanId()); got != parentTrace+"-"+parentSpan {
		t.Errorf("the request's span is below %s", got)
	}
}

func TestTracing_SpanNamesAndStatuses(t *testing.T) {
	t.Parallel()
	tests := []struct {
		method, route, name string
		status              int
		failed              bool
	}{
		{"GET", "/a/{id}", "GET /a/{id}", 200, false},
		{"GET", "GET  /b", "GET /b", 404, false},
		{"BREW", "/c", "HTTP /c", 405, false},
		{"POST", "", "POST", 499, false},
		{"GET", "/d", "GET /d", 500, true},
	}
	s := newSink(t)
	tracing, deliver := s.tracing(t)
	for _, tt := range tests {
		_, end := tracing.StartRequest(t.Context(), httptest.NewRequest(tt.method, "/x", nil), tt.route)
		end(tt.status)
	}
	deliver()
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			span := s.span(t, tt.name)
			if failed := span.GetStatus().GetCode() == wire.Status_STATUS_CODE_ERROR; failed != tt.failed {
				t.Errorf("%s with %d: failed = %v", tt.name, tt.status, failed)
			}
		})
	}
}

// TestNewTracing_Environment is not parallel, because it sets environment variables.
func TestNewTracing_Environment(t *testing.T) {
	s := newSink(t)
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", s.URL)
	t.Setenv("OTEL_SERVICE_NAME", "renamed")
	t.Setenv("OTEL_RESOURCE_ATTRIBUTES", "deployment.environment.name=blue")
	tracing, err := NewTracing(t.Context(), TracingOptions{Enabled: true, NodeName: "node-1", Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	_, end := tracing.Start(t.Context(), "work")
	end(nil)
	if err := tracing.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.span(t, "work")
	expect(t, s.from, map[string]any{"service.name": "renamed", "service.instance.id": "node-1", "deployment.environment.name": "blue"})
}

// TestNewTracing_MalformedEnvironment is not parallel, because it sets an environment variable.
func TestNewTracing_MalformedEnvironment(t *testing.T) {
	t.Setenv("OTEL_RESOURCE_ATTRIBUTES", "no pair")
	if _, err := NewTracing(t.Context(), TracingOptions{Enabled: true}); err == nil || !strings.Contains(err.Error(), "describe this service") {
		t.Errorf("error = %v", err)
	}
}

// TestTracing_OffDoesNotAllocate cannot be parallel, because it measures the allocations of the whole process.
func TestTracing_OffDoesNotAllocate(t *testing.T) {
	made, err := NewTracing(t.Context(), TracingOptions{})
	if err != nil {
		t.Fatal(err)
	}
	r := httptest.NewRequest(http.MethodGet, "/", nil)
	r.Header.Set("Traceparent", "00-"+parentTrace+"-"+parentSpan+"-01")
	for label, tracing := range map[string]*Tracing{"not enabled": made, "zero": {}, "nil": nil} {
		t.Run(label, func(t *testing.T) {
			if n := testing.AllocsPerRun(100, func() {
				ctx, end := tracing.StartRequest(r.Context(), r, "/")
				_, endWork := tracing.Start(ctx, "write")
				endWork(nil)
				end(200)
			}); n != 0 {
				t.Errorf("%s allocates %v times", label, n)
			}
			ctx, _ := tracing.StartRequest(r.Context(), r, "/")
			if trace.SpanContextFromContext(ctx).IsValid() || tracing.Shutdown(t.Context()) != nil {
				t.Errorf("%s does something", label)
			}
		})
	}
}

func TestExporter_LogsLostSpans(t *testing.T) {
	t.Parallel()
	broken := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "no room", http.StatusBadRequest)
	}))
	defer broken.Close()
	var out bytes.Buffer
	tracing, err := NewTracing(t.Context(), TracingOptions{Enabled: true, Logger: NewLogger(&out, "info", "json")},
		otlptracehttp.WithEndpointURL(broken.URL))
	if err != nil {
		t.Fatal(err)
	}
	_, end := tracing.Start(t.Context(), "work")
	end(nil)
	if err := tracing.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
	if text := out.String(); strings.Count(text, "\n") != 1 || !strings.Contains(text, "no room") || !strings.Contains(text, `"spans":1`) {
		t.Errorf("the log says %q", text)
	}
}

// failingExporter loses every batch.
type failingExporter struct{ sdktrace.SpanExporter }

func (failingExporter) ExportSpans(context.Context, []sdktrace.ReadOnlySpan) error {
	return errors.New("down")
}

func TestExporter_LogsOncePerMinute(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	now := time.Now()
	exporter := newExporter(failingExporter{}, NewLogger(&out, "info", "json"))
	defer exporter.abort()
	exporter.now = func() time.Time { return now }
	for _, step := range []struct {
		wait  time.Duration
		lines int
	}{{0, 1}, {0, 1}, {failurePause - time.Second, 1}, {time.Second, 2}, {time.Second, 2}} {
		now = now.Add(step.wait)
		if err := exporter.ExportSpans(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
		if lines := strings.Count(out.String(), "\n"); lines != step.lines {
			t.Errorf("after %v there are %d lines, want %d", step.wait, lines, step.lines)
		}
	}
}

// TestTracing_ShutdownEndsWithContext uses a collector that never answers. goleak finds goroutines that stay behind.
func TestTracing_ShutdownEndsWithContext(t *testing.T) {
	t.Parallel()
	for _, before := range []bool{true, false} {
		t.Run(fmt.Sprint("canceled before: ", before), func(t *testing.T) {
			t.Parallel()
			arrived := make(chan struct{}, 1)
			stuck := newStuckCollector(t, arrived)
			tracing, err := NewTracing(t.Context(), TracingOptions{Enabled: true, Logger: slog.New(slog.DiscardHandler)}, otlptracehttp.WithEndpointURL(stuck.URL))
			if err != nil {
				t.Fatal(err)
			}
			_, end := tracing.Start(t.Context(), "work")
			end(nil)
			ctx, cancel := context.WithCancel(t.Context())
			var wg sync.WaitGroup
			if before {
				cancel()
			} else {
				wg.Go(func() { <-arrived; cancel() })
			}
			if err := tracing.Shutdown(ctx); !errors.Is(err, context.Canceled) {
				t.Errorf("error = %v", err)
			}
			wg.Wait()
		})
	}
}

func newStuckCollector(t *testing.T, arrived chan<- struct{}) *httptest.Server {
	t.Helper()
	stuck := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // The server notices a lost client only after the body.
		arrived <- struct{}{}
		<-r.Context().Done()
	}))
	t.Cleanup(stuck.Close)
	return stuck
}

func TestTracing_Concurrent(t *testing.T) {
	t.Parallel()
	s := newSink(t)
	tracing, deliver := s.tracing(t)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 20 {
				ctx, end := tracing.StartRequest(t.Context(), httptest.NewRequest(http.MethodGet, "/", nil), "/")
				_, endWork := tracing.Start(ctx, "read")
				endWork(nil)
				end(200)
			}
		})
	}
	wg.Wait()
	deliver()
	s.span(t, "read")
}
