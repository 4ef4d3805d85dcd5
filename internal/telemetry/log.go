package telemetry

import (
	"context"
	"io"
	"log/slog"
	"slices"

	"github.com/mattn/go-isatty"
	"go.opentelemetry.io/otel/trace"
)

// timeLayout always has six digits after the second, so that lines sort as text.
const timeLayout = "2006-01-02T15:04:05.000000Z07:00"

// NewLogger creates a logger that writes lines of level and above to w. level is debug, info, warn or error; anything else means
// info. format is text or json; anything else means text on a terminal and JSON elsewhere. Lines of a request have its request_id,
// and its trace_id while a span is recording.
func NewLogger(w io.Writer, level, format string) *slog.Logger {
	options := &slog.HandlerOptions{Level: logLevel(level), ReplaceAttr: plain}
	if format == "text" || format != "json" && IsTerminal(w) {
		return slog.New(&contextHandler{root: slog.NewTextHandler(w, options)})
	}
	return slog.New(&contextHandler{root: slog.NewJSONHandler(w, options)})
}

func logLevel(name string) slog.Level {
	var level slog.Level
	if level.UnmarshalText([]byte(name)) != nil {
		return slog.LevelInfo
	}
	return level
}

// plain writes all times in one format: the time of the line and times in attributes. It writes levels as text, because
// slog would encode a replaced level by reflection.
func plain(_ []string, a slog.Attr) slog.Attr {
	switch a.Value.Kind() {
	case slog.KindTime:
		a.Value = slog.StringValue(a.Value.Time().UTC().Format(timeLayout))
	case slog.KindAny:
		if level, ok := a.Value.Any().(slog.Level); ok {
			a.Value = slog.StringValue(level.String())
		}
	}
	return a
}

// IsTerminal reports whether w is a terminal.
func IsTerminal(w io.Writer) bool {
	file, ok := w.(interface{ Fd() uintptr })
	return ok && (isatty.IsTerminal(file.Fd()) || isatty.IsCygwinTerminal(file.Fd()))
}

type requestIDKey struct{}

// identified is a context with a request's id. It needs one allocation; context.WithValue needs two.
type identified struct {
	context.Context
	id string
}

// Value returns the context itself for requestIDKey, and the parent's value for other keys.
func (c *identified) Value(key any) any {
	if key == (requestIDKey{}) {
		return c
	}
	return c.Context.Value(key)
}

// WithRequestID returns a context that adds the request's id to log lines.
func WithRequestID(ctx context.Context, id string) context.Context { return &identified{ctx, id} }

// RequestID returns the id that WithRequestID put into ctx, or "".
func RequestID(ctx context.Context) string {
	if found, ok := ctx.Value(requestIDKey{}).(*identified); ok {
		return found.id
	}
	return ""
}

// contextHandler adds the ids in the context to each line. The ids are always at the top level, even if the logger has an open
// group. So the first group and everything after it are applied after the ids.
type contextHandler struct {
	root    slog.Handler                      // with the attributes that were added before the first group
	grouped []func(slog.Handler) slog.Handler // the first group and everything after it
}

// Enabled reports whether lines of this level are written.
func (h *contextHandler) Enabled(ctx context.Context, level slog.Level) bool {
	return h.root.Enabled(ctx, level)
}

// Handle writes a line with the ids.
func (h *contextHandler) Handle(ctx context.Context, record slog.Record) error {
	if len(h.grouped) > 0 {
		return h.withIDs(ctx).Handle(ctx, record)
	}
	record = record.Clone()
	addIDs(ctx, &record)
	return h.root.Handle(ctx, record)
}

// withIDs returns a handler that writes the ids before the first group.
func (h *contextHandler) withIDs(ctx context.Context) slog.Handler {
	var ids slog.Record
	addIDs(ctx, &ids)
	target := h.root
	for id := range ids.Attrs {
		target = target.WithAttrs([]slog.Attr{id})
	}
	for _, apply := range h.grouped {
		target = apply(target)
	}
	return target
}

// WithAttrs returns a handler that adds the attributes to its lines.
func (h *contextHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	if len(h.grouped) == 0 {
		return &contextHandler{root: h.root.WithAttrs(attrs)}
	}
	return h.then(func(next slog.Handler) slog.Handler { return next.WithAttrs(attrs) })
}

// WithGroup returns a handler that nests later attributes under the name.
func (h *contextHandler) WithGroup(name string) slog.Handler {
	if name == "" {
		return h
	}
	return h.then(func(next slog.Handler) slog.Handler { return next.WithGroup(name) })
}

func (h *contextHandler) then(apply func(slog.Handler) slog.Handler) slog.Handler {
	return &contextHandler{root: h.root, grouped: append(slices.Clip(h.grouped), apply)}
}

// addIDs adds the ids in the context to a line.
func addIDs(ctx context.Context, line *slog.Record) {
	if id := RequestID(ctx); id != "" {
		line.AddAttrs(slog.String("request_id", id))
	}
	if span := trace.SpanFromContext(ctx); span.IsRecording() {
		line.AddAttrs(slog.String("trace_id", span.SpanContext().TraceID().String()))
	}
}
