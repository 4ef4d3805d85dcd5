package telemetry

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
)

// failurePause is the shortest time between two log lines about an unreachable collector.
const failurePause = time.Minute

// loggingExporter logs failures. If it returned them, OpenTelemetry's global handler would print them outside the log.
type loggingExporter struct {
	sdktrace.SpanExporter
	logger   *slog.Logger
	now      func() time.Time
	lastLine atomic.Int64    // Unix seconds, 0 for never
	lifetime context.Context // when it ends, deliveries are aborted
	abort    context.CancelFunc
}

func newExporter(target sdktrace.SpanExporter, logger *slog.Logger) *loggingExporter {
	e := &loggingExporter{SpanExporter: target, logger: logger, now: time.Now}
	e.lifetime, e.abort = context.WithCancel(context.Background())
	return e
}

// ExportSpans sends a batch. It always returns nil: if a batch fails, it is lost, and the failure is logged.
func (e *loggingExporter) ExportSpans(ctx context.Context, spans []sdktrace.ReadOnlySpan) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(e.lifetime, cancel)()
	if err := e.SpanExporter.ExportSpans(ctx, spans); err != nil && e.due() {
		e.logger.WarnContext(ctx, "Exporting traces failed; these spans are lost. Check the collector at OTEL_EXPORTER_OTLP_ENDPOINT.",
			"spans", len(spans), "error", err)
	}
	return nil
}

// due reports whether it is time for another log line. If several goroutines call it at once, only one gets true.
func (e *loggingExporter) due() bool {
	now, last := e.now().Unix(), e.lastLine.Load()
	if last != 0 && now-last < int64(failurePause/time.Second) {
		return false
	}
	return e.lastLine.CompareAndSwap(last, now)
}
