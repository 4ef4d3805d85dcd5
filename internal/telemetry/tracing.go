package telemetry

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"
)

// TracingOptions say whether spans are exported, and describe the service that creates them.
type TracingOptions struct {
	Enabled  bool         // the OpenTelemetry library reads the destination from OTEL_* variables
	Version  string       // of the binary
	NodeName string       // distinguishes the nodes of a service
	Logger   *slog.Logger // logs spans that could not be delivered
}

// Tracing creates spans. If it is nil, zero or not enabled, it does nothing and costs nothing.
type Tracing struct {
	provider   *sdktrace.TracerProvider // nil if tracing is off
	exporter   *loggingExporter
	tracer     trace.Tracer
	propagator propagation.TraceContext
}

// NewTracing starts to export spans in the background; Shutdown ends the export. The collector need not be reachable. Tests pass
// options of the exporter, which replace environment variables.
func NewTracing(ctx context.Context, options TracingOptions, exporter ...otlptracehttp.Option) (*Tracing, error) {
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

// describe returns the description of this service for spans. OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES override
// it, as OpenTelemetry requires.
func describe(ctx context.Context, options TracingOptions) (*resource.Resource, error) {
	return resource.New(ctx, resource.WithAttributes(
		semconv.ServiceName("signalbox"),
		semconv.ServiceVersion(valid(options.Version)),
		semconv.ServiceInstanceID(valid(options.NodeName)),
	), resource.WithTelemetrySDK(), resource.WithFromEnv())
}

// Shutdown delivers the waiting spans until ctx ends, and stops the export. Later spans are dropped. The end of ctx aborts the
// deliveries. The provider does not get ctx itself, because it would leave goroutines behind when ctx ends.
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

// StartRequest begins the span of a request. If the request has a traceparent, the span is a child of the client's span. route is
// the pattern that matched, with or without its method. The caller must call end once, with the response's status.
func (t *Tracing) StartRequest(ctx context.Context, r *http.Request, route string) (_ context.Context, end func(status int)) {
	if t.off() {
		return ctx, ignoreStatus
	}
	ctx = t.propagator.Extract(ctx, propagation.HeaderCarrier(r.Header))
	method, path := knownMethod(r.Method), valid(routePath(route))
	ctx, span := t.tracer.Start(ctx, spanName(method, path), trace.WithSpanKind(trace.SpanKindServer), trace.WithAttributes(
		semconv.HTTPRequestMethodKey.String(method),
		semconv.HTTPRoute(path),
		semconv.URLPath(valid(escapedPath(r))), // omits the query, which may contain a key
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

// spanName returns the name of a server span, by the convention of OpenTelemetry.
func spanName(method, path string) string {
	if method == unknownMethod {
		method = "HTTP"
	}
	return strings.TrimSpace(method + " " + path)
}

// endRequest ends a span. The span has failed if the server failed; a refusal is not a failure.
func endRequest(span trace.Span, status int) {
	span.SetAttributes(semconv.HTTPResponseStatusCode(status))
	if status >= http.StatusInternalServerError {
		span.SetStatus(codes.Error, http.StatusText(status))
	}
	span.End()
}

// Start begins a child of the span in ctx. The caller must call end once, with the error of the work or nil.
func (t *Tracing) Start(ctx context.Context, name string) (_ context.Context, end func(error)) {
	if t.off() {
		return ctx, ignoreError
	}
	ctx, span := t.tracer.Start(ctx, valid(name))
	return ctx, func(err error) { endWork(span, err) }
}

func endWork(span trace.Span, err error) {
	if err != nil {
		span.SetAttributes(semconv.ErrorTypeKey.String(fmt.Sprintf("%T", err)))
		span.SetStatus(codes.Error, valid(err.Error()))
	}
	span.End()
}

// ignoreStatus and ignoreError are the end functions while tracing is off.
func ignoreStatus(int)  {}
func ignoreError(error) {}

// valid replaces invalid UTF-8, because one invalid string would make the exporter drop its whole batch.
func valid(text string) string { return strings.ToValidUTF8(text, "\uFFFD") }
