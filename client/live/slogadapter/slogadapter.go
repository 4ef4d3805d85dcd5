// Package slogadapter lets Signalbox set the levels of log/slog loggers.
//
//	adapter := slogadapter.New(box, slog.NewJSONHandler(os.Stdout, nil))
//	slog.SetDefault(slog.New(adapter))
//	payments := adapter.Logger("shop.payments")
//
// A logger that Signalbox manages, or has an ancestor that it manages, uses the level of Signalbox; every other one asks the
// wrapped handler, as without this package. Levels cost nothing per record: a level is one number that is read, and written
// when it changes.
//
// The wrapped handler must not drop records by itself in Handle, as [slog.NewMultiHandler] does: wrap the handlers in it.
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

// byCode is in a LevelVar while the wrapped handler decides.
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

// LevelOf returns the level that lets through what a slog level lets through, or a little less.
func LevelOf(level slog.Level) loglevel.Level {
	return named.Least(func(each loglevel.Level) bool { return level <= Level(each) })
}

// loggerName is the value of the attribute that Named returns.
type loggerName string

// Named returns an attribute that makes a logger a named one: slog.With(slogadapter.Named("shop.payments")).
func Named(name string) slog.Attr { return slog.Any(NameKey, loggerName(name)) }

// Adapter makes named loggers that share a handler. It is also the handler of records without a name.
type Adapter struct{ handler }

// handler is a slog.Handler with a level that Signalbox can set.
type handler struct {
	inner   slog.Handler
	code    slog.Leveler // the level of the code; nil asks inner
	level   *slog.LevelVar
	levels  *named.Loggers[*slog.LevelVar]
	grouped bool // attributes are in a group: none of them is a name
}

// New returns an adapter over a handler, whose levels the box sets.
func New(box *live.Box, inner slog.Handler) *Adapter {
	return adapt(box, handler{inner: inner})
}

// NewLeveled is New for a handler whose level is known: give it the [slog.LevelVar] that is in the handler's options. Loggers
// that are not managed compare with it instead of asking the handler, which saves a suppressed record 2 ns.
func NewLeveled(box *live.Box, inner slog.Handler, level slog.Leveler) *Adapter {
	return adapt(box, handler{inner: inner, code: level})
}

func adapt(box *live.Box, root handler) *Adapter {
	root.level = newLevel("")
	// The box sets no level of the root, so that it lets through what the code does.
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

// WithAttrs returns a handler with attributes. [Named] among them makes it that of a named logger.
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
