package telemetry

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"reflect"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"
)

// TracingOptions say whether spans are exported and whose they are.
type TracingOptions struct {
	// Enabled turns tracing on. Where spans go is read from the OTEL_* environment by the OpenTelemetry library.
	Enabled bool
	// ServiceName is used unless OTEL_SERVICE_NAME or OTEL_RESOURCE_ATTRIBUTES names another.
	ServiceName string
	// Version is the binary's version.
	Version string
	// NodeName tells the nodes of one service apart.
	NodeName string
	// Logger is told when spans cannot be delivered. Nil means nobody is.
	Logger *slog.Logger
}

// Tracing makes spans. A nil Tracing, the zero one, and one that is not enabled do nothing, at no cost.
type Tracing struct {
	provider   *sdktrace.TracerProvider // nil: off
	exporter   *loggingExporter
	tracer     trace.Tracer
	propagator propagation.TraceContext
}

// NewTracing starts the export of spans in the background; Shutdown ends it. The collector need not be reachable.
func NewTracing(ctx context.Context, options TracingOptions) (*Tracing, error) {
	return newTracing(ctx, options)
}

// newTracing takes exporter options so that tests need no environment.
func newTracing(ctx context.Context, options TracingOptions, exporter ...otlptracehttp.Option) (*Tracing, error) {
	if !options.Enabled {
		return &Tracing{}, nil
	}
	described, err := describe(ctx, options)
	if err != nil {
		return nil, fmt.Errorf("describe this service for its traces: %w", err)
	}
	target, err := otlptracehttp.New(ctx, exporter...)
	if err != nil {
		return nil, fmt.Errorf("prepare the export of traces: %w", err)
	}
	logging := newExporter(target, options.Logger)
	provider := sdktrace.NewTracerProvider(sdktrace.WithBatcher(logging), sdktrace.WithResource(described))
	tracer := provider.Tracer("github.com/signalbox/signalbox", trace.WithInstrumentationVersion(valid(options.Version)))
	return &Tracing{provider: provider, exporter: logging, tracer: tracer}, nil
}

// describe lets the environment win over the options, as OpenTelemetry rules.
func describe(ctx context.Context, options TracingOptions) (*resource.Resource, error) {
	return resource.New(ctx, resource.WithAttributes(
		semconv.ServiceName(valid(options.ServiceName)),
		semconv.ServiceVersion(valid(options.Version)),
		semconv.ServiceInstanceID(valid(options.NodeName)),
	), resource.WithTelemetrySDK(), resource.WithFromEnv())
}

// Shutdown delivers the spans that wait, for as long as ctx lasts, and stops the export. Later spans are dropped. The provider is not
// given ctx itself: it would leave its goroutines behind when ctx ends early. Instead the deliveries are aborted, which ends them all.
func (t *Tracing) Shutdown(ctx context.Context) error {
	if t.off() {
		return nil
	}
	defer t.exporter.abort()
	defer context.AfterFunc(ctx, t.exporter.abort)()
	err := t.provider.Shutdown(context.WithoutCancel(ctx))
	if err = errors.Join(err, ctx.Err()); err != nil {
		return fmt.Errorf("deliver the last traces: %w", err)
	}
	return nil
}

func (t *Tracing) off() bool { return t == nil || t.provider == nil }

// StartRequest begins the span of a request, as a child of the caller's when the request carries a traceparent. The route is the
// pattern that matched, with or without its method; ctx need not be the request's own. The caller calls end once, with the response's
// status.
func (t *Tracing) StartRequest(ctx context.Context, r *http.Request, route string) (_ context.Context, end func(status int)) {
	if t.off() {
		return ctx, ignoreStatus
	}
	ctx = t.propagator.Extract(ctx, propagation.HeaderCarrier(r.Header))
	method, path := knownMethod(r.Method), valid(routePath(route))
	ctx, span := t.tracer.Start(ctx, spanName(method, path), trace.WithSpanKind(trace.SpanKindServer), trace.WithAttributes(
		semconv.HTTPRequestMethodKey.String(method),
		semconv.HTTPRoute(path),
		semconv.URLPath(r.URL.EscapedPath()), // without the query, which may hold a key
	))
	if id := RequestID(ctx); id != "" && span.IsRecording() {
		span.SetAttributes(attribute.String("signalbox.request_id", valid(id)))
	}
	return ctx, func(status int) { endRequest(span, status) }
}

// routePath drops the method from a pattern such as "PUT /api/v1/loggers/{key}".
func routePath(route string) string {
	if _, path, found := strings.Cut(route, " "); found {
		return strings.TrimLeft(path, " ")
	}
	return route
}

// spanName follows the OpenTelemetry convention for server spans.
func spanName(method, path string) string {
	if method == unknownMethod {
		method = "HTTP"
	}
	return strings.TrimSpace(method + " " + path)
}

// endRequest counts only our own failures as errors: a refused request is a span that went well.
func endRequest(span trace.Span, status int) {
	span.SetAttributes(semconv.HTTPResponseStatusCode(status))
	if status >= http.StatusInternalServerError {
		span.SetStatus(codes.Error, http.StatusText(status))
	}
	span.End()
}

// Start begins a span inside the context's. The pairs of kv are keys and values like those of slog. The caller calls end once, with
// the error the work ended in, or nil.
func (t *Tracing) Start(ctx context.Context, name string, kv ...any) (_ context.Context, end func(error)) {
	if t.off() {
		return ctx, ignoreError
	}
	ctx, span := t.tracer.Start(ctx, valid(name))
	if span.IsRecording() {
		span.SetAttributes(attributes(kv)...)
	}
	return ctx, func(err error) { endWork(span, err) }
}

func endWork(span trace.Span, err error) {
	if err != nil {
		span.SetAttributes(semconv.ErrorTypeKey.String(fmt.Sprintf("%T", err)))
		span.SetStatus(codes.Error, valid(err.Error()))
	}
	span.End()
}

// Inject writes the context's span into the headers of an outgoing request.
func (t *Tracing) Inject(ctx context.Context, header http.Header) {
	if !t.off() {
		t.propagator.Inject(ctx, propagation.HeaderCarrier(header))
	}
}

// ignoreStatus and ignoreError end spans that were never begun.
func ignoreStatus(int)  {}
func ignoreError(error) {}

// attributes reads pairs; what is no pair shows under the key slog uses for that.
func attributes(kv []any) []attribute.KeyValue {
	const bad = "!BADKEY"
	list := make([]attribute.KeyValue, 0, (len(kv)+1)/2)
	for len(kv) > 0 {
		key, ok := kv[0].(string)
		if !ok || len(kv) == 1 {
			list, kv = append(list, keyValue(bad, kv[0])), kv[1:]
			continue
		}
		list, kv = append(list, keyValue(valid(key), kv[1])), kv[2:]
	}
	return list
}

// keyValue goes through reflection, not fmt, so that callers' values do not have to move to the heap while tracing is off.
func keyValue(key string, value any) attribute.KeyValue {
	if d, ok := value.(time.Duration); ok {
		return attribute.String(key, d.String())
	}
	switch v := reflect.ValueOf(value); v.Kind() {
	case reflect.String:
		return attribute.String(key, valid(v.String()))
	case reflect.Bool:
		return attribute.Bool(key, v.Bool())
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return attribute.Int64(key, v.Int())
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return attribute.Int64(key, int64(v.Uint())) //nolint:gosec // A huge number turning negative harms no trace.
	case reflect.Float32, reflect.Float64:
		return attribute.Float64(key, v.Float())
	case reflect.Invalid:
		return attribute.String(key, "<nil>")
	default:
		return attribute.String(key, v.Type().String())
	}
}

// valid makes text fit for the export: one invalid string would make the exporter drop its whole batch.
func valid(text string) string { return strings.ToValidUTF8(text, "\uFFFD") }
