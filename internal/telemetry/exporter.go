package telemetry

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
)

// failurePause keeps a collector that is down from filling the log.
const failurePause = time.Minute

// loggingExporter logs failures itself. Handed back, they would go to a global handler that prints outside the log.
type loggingExporter struct {
	sdktrace.SpanExporter
	logger   *slog.Logger
	now      func() time.Time
	lastTold atomic.Int64    // Unix seconds, 0 for never
	patience context.Context // ends when nobody waits for deliveries any more
	abort    context.CancelFunc
}

func newExporter(target sdktrace.SpanExporter, logger *slog.Logger) *loggingExporter {
	if logger == nil {
		logger = slog.New(slog.DiscardHandler)
	}
	e := &loggingExporter{SpanExporter: target, logger: logger, now: time.Now}
	e.patience, e.abort = context.WithCancel(context.Background())
	return e
}

// ExportSpans sends a batch. It always returns nil: the batch is lost either way, and the log knows.
func (e *loggingExporter) ExportSpans(ctx context.Context, spans []sdktrace.ReadOnlySpan) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(e.patience, cancel)()
	if err := e.SpanExporter.ExportSpans(ctx, spans); err != nil && e.due() {
		e.logger.WarnContext(ctx, "Traces could not be delivered and are lost.", "spans", len(spans), "error", err)
	}
	return nil
}

// due tells whether the last line is long enough ago, for one caller at a time.
func (e *loggingExporter) due() bool {
	now, last := e.now().Unix(), e.lastTold.Load()
	if last != 0 && now-last < int64(failurePause/time.Second) {
		return false
	}
	return e.lastTold.CompareAndSwap(last, now)
}
