// Package slogadapter lets Signalbox set the levels of log/slog loggers.
//
//	adapter := slogadapter.New(box, slog.NewJSONHandler(os.Stdout, nil))
//	slog.SetDefault(slog.New(adapter))
//	payments := adapter.Logger("shop.payments")
//
// A logger uses the level of Signalbox if Signalbox manages it or an ancestor. Every other logger asks the wrapped handler, as
// without this package. A record costs one atomic read of the level.
//
// The wrapped handler must not drop records in Handle. [slog.NewMultiHandler] does: wrap each of its handlers instead.
package slogadapter

import (
	"context"
	"log/slog"
	"math"
	"slices"

	"github.com/signalbox/signalbox/client/live"
	"github.com/signalbox/signalbox/client/live/internal/named"
	"github.com/signalbox/signalbox/client/loglevel"
)

// The levels that slog has no names for.
const (
	LevelTrace  = slog.LevelDebug - 4
	LevelFatal  = slog.LevelError + 4
	LevelSilent = slog.Level(math.MaxInt32)
)

// byCode is the value of a LevelVar while the wrapped handler decides.
const byCode = slog.Level(math.MinInt32)

// NameKey is the key of the attribute that names a logger in its records.
const NameKey = "logger"

// Level returns the level for slog.
func Level(level loglevel.Level) slog.Level {
	switch level {
	case loglevel.Trace:
		return LevelTrace
	case loglevel.Debug:
		return slog.LevelDebug
	case loglevel.Warn:
		return slog.LevelWarn
	case loglevel.Error:
		return slog.LevelError
	case loglevel.Fatal:
		return LevelFatal
	case loglevel.Silent:
		return LevelSilent
	case loglevel.None, loglevel.Info:
	}
	return slog.LevelInfo
}

// LevelOf returns the least severe level that suppresses everything that the slog level suppresses.
func LevelOf(level slog.Level) loglevel.Level {
	return named.Least(func(each loglevel.Level) bool { return level <= Level(each) })
}

// loggerName is the value of the attribute that Named returns.
type loggerName string

// Named returns an attribute that names a logger: slog.With(slogadapter.Named("shop.payments")).
func Named(name string) slog.Attr { return slog.Any(NameKey, loggerName(name)) }

// Adapter makes named loggers that share a handler. It is also the handler of records without a name.
type Adapter struct{ handler }

// handler is a slog.Handler with a level that Signalbox can set.
type handler struct {
	inner   slog.Handler
	code    slog.Leveler // the level of the code; nil asks inner
	level   *slog.LevelVar
	levels  *named.Loggers[*slog.LevelVar]
	grouped bool // attributes are in a group, where Named does not name a logger
}

// New returns an adapter for a handler. The box sets the levels of its loggers.
func New(box *live.Box, inner slog.Handler) *Adapter {
	return adapt(box, handler{inner: inner})
}

// NewLeveled is New for a handler whose level is known: pass the [slog.LevelVar] of the handler's options. Unmanaged loggers
// compare with it instead of asking the handler, which saves a suppressed record 2 ns.
func NewLeveled(box *live.Box, inner slog.Handler, level slog.Leveler) *Adapter {
	return adapt(box, handler{inner: inner, code: level})
}

func adapt(box *live.Box, root handler) *Adapter {
	root.level = newLevel("")
	// The box never sets the root's level, so that root.Enabled reports the level of the code.
	root.levels = named.New(newLevel, setLevel, func(level loglevel.Level) bool { return root.Enabled(context.Background(), Level(level)) })
	box.Adapt(root.levels)
	return &Adapter{root}
}

func newLevel(string) *slog.LevelVar {
	level := new(slog.LevelVar)
	level.Set(byCode)
	return level
}

func setLevel(of *slog.LevelVar, level loglevel.Level) {
	if level == loglevel.None {
		of.Set(byCode)
		return
	}
	of.Set(Level(level))
}

// Logger returns the logger with a name, such as "shop.payments". Its records have the name as an attribute.
func (a *Adapter) Logger(name string) *slog.Logger {
	return slog.New(&a.handler).With(Named(name))
}

// Enabled reports whether a record of the level is handled.
func (h *handler) Enabled(ctx context.Context, level slog.Level) bool {
	if least := h.level.Level(); least != byCode {
		return level >= least
	}
	if h.code != nil {
		return level >= h.code.Level()
	}
	return h.inner.Enabled(ctx, level)
}

// Handle passes a record to the wrapped handler.
func (h *handler) Handle(ctx context.Context, record slog.Record) error {
	return h.inner.Handle(ctx, record)
}

// WithAttrs returns a handler with attributes. [Named] among them makes it the handler of a named logger.
func (h *handler) WithAttrs(attributes []slog.Attr) slog.Handler {
	next := *h
	for i, each := range attributes {
		name, is := each.Value.Any().(loggerName)
		if !is {
			continue
		}
		attributes = slices.Clone(attributes)
		attributes[i].Value = slog.StringValue(string(name))
		if !h.grouped {
			next.level = h.levels.Get(string(name))
		}
	}
	next.inner = h.inner.WithAttrs(attributes)
	return &next
}

// WithGroup returns a handler whose attributes are in a group.
func (h *handler) WithGroup(name string) slog.Handler {
	next := *h
	next.inner, next.grouped = h.inner.WithGroup(name), true
	return &next
}
