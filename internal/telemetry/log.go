package telemetry

import (
	"context"
	"io"
	"log/slog"
	"slices"

	"github.com/mattn/go-isatty"
	"go.opentelemetry.io/otel/trace"
)

// timeLayout always has six digits, so that lines sort as text.
const timeLayout = "2006-01-02T15:04:05.000000Z07:00"

// NewLogger returns a logger that writes lines of level (debug, info, warn, error; anything else is info) and above to w. The format
// is text or json; auto and anything else is text when w is a terminal and JSON when not. Lines of a request carry its request_id, and
// its trace_id while a span is recording.
func NewLogger(w io.Writer, level, format string) *slog.Logger {
	options := &slog.HandlerOptions{Level: logLevel(level), ReplaceAttr: utcTimes}
	if format == "text" || format != "json" && terminal(w) {
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

// utcTimes writes every time alike, the line's own as well as attributes.
func utcTimes(_ []string, a slog.Attr) slog.Attr {
	if a.Value.Kind() == slog.KindTime {
		a.Value = slog.StringValue(a.Value.Time().UTC().Format(timeLayout))
	}
	return a
}

func terminal(w io.Writer) bool {
	file, ok := w.(interface{ Fd() uintptr })
	return ok && (isatty.IsTerminal(file.Fd()) || isatty.IsCygwinTerminal(file.Fd()))
}

type requestIDKey struct{}

// identified is a context with a request's id. Every request has one, so it is made in one piece, which context.WithValue is not.
type identified struct {
	context.Context
	id string
}

// Value gives the context itself for the id, and asks the one around for all else.
func (c *identified) Value(key any) any {
	if key == (requestIDKey{}) {
		return c
	}
	return c.Context.Value(key)
}

// WithRequestID returns a context whose log lines carry the request's id.
func WithRequestID(ctx context.Context, id string) context.Context { return &identified{ctx, id} }

// RequestID returns the id that WithRequestID put into the context, or "".
func RequestID(ctx context.Context) string {
	if found, ok := ctx.Value(requestIDKey{}).(*identified); ok {
		return found.id
	}
	return ""
}

// contextHandler adds what the context knows to each line. The ids belong at the top of a line, also in loggers with an open group;
// therefore everything from the first group on is kept aside and applied after the ids.
type contextHandler struct {
	root    slog.Handler                      // has the attributes given before any group
	grouped []func(slog.Handler) slog.Handler // the first group and all that followed
}

// Enabled asks the handler behind.
func (h *contextHandler) Enabled(ctx context.Context, level slog.Level) bool {
	return h.root.Enabled(ctx, level)
}

// Handle adds the ids and passes the line on.
func (h *contextHandler) Handle(ctx context.Context, record slog.Record) error {
	ids := contextAttrs(ctx)
	if len(h.grouped) == 0 {
		record = record.Clone()
		record.AddAttrs(ids...)
		return h.root.Handle(ctx, record)
	}
	target := h.root.WithAttrs(ids)
	for _, apply := range h.grouped {
		target = apply(target)
	}
	return target.Handle(ctx, record)
}

// WithAttrs returns a handler whose lines have the attributes.
func (h *contextHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	if len(h.grouped) == 0 {
		return &contextHandler{root: h.root.WithAttrs(attrs)}
	}
	return h.then(func(next slog.Handler) slog.Handler { return next.WithAttrs(attrs) })
}

// WithGroup returns a handler that nests what follows under the name.
func (h *contextHandler) WithGroup(name string) slog.Handler {
	if name == "" {
		return h
	}
	return h.then(func(next slog.Handler) slog.Handler { return next.WithGroup(name) })
}

func (h *contextHandler) then(apply func(slog.Handler) slog.Handler) slog.Handler {
	return &contextHandler{root: h.root, grouped: append(slices.Clip(h.grouped), apply)}
}

// contextAttrs are the ids the context knows.
func contextAttrs(ctx context.Context) []slog.Attr {
	var ids []slog.Attr
	if id := RequestID(ctx); id != "" {
		ids = append(ids, slog.String("request_id", id))
	}
	if span := trace.SpanFromContext(ctx); span.IsRecording() {
		ids = append(ids, slog.String("trace_id", span.SpanContext().TraceID().String()))
	}
	return ids
}
