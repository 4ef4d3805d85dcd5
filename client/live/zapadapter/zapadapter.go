// Package zapadapter lets Signalbox set the levels of zap loggers.
//
//	adapter := zapadapter.New(box, zapcore.NewCore(encoder, os.Stdout, zap.InfoLevel))
//	payments := adapter.Logger("shop.payments")
//
// A logger uses the level of Signalbox if Signalbox manages it or an ancestor. Every other logger asks the wrapped core, as
// without this package.
package zapadapter

import (
	"math"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/signalbox/signalbox/client/live"
	"github.com/signalbox/signalbox/client/live/internal/named"
	"github.com/signalbox/signalbox/client/loglevel"
)

// The levels that zap has no names for.
const (
	LevelTrace  = zapcore.DebugLevel - 1
	LevelSilent = zapcore.FatalLevel + 1
)

// byCode is the value of an AtomicLevel while the wrapped core decides.
const byCode = zapcore.Level(math.MinInt8)

// Level returns the level for zap.
func Level(level loglevel.Level) zapcore.Level {
	switch level {
	case loglevel.Trace:
		return LevelTrace
	case loglevel.Debug:
		return zapcore.DebugLevel
	case loglevel.Warn:
		return zapcore.WarnLevel
	case loglevel.Error:
		return zapcore.ErrorLevel
	case loglevel.Fatal:
		return zapcore.FatalLevel
	case loglevel.Silent:
		return LevelSilent
	case loglevel.None, loglevel.Info:
	}
	return zapcore.InfoLevel
}

// Adapter makes named loggers that share a core.
type Adapter struct {
	inner   zapcore.Core
	options []zap.Option
	levels  *named.Loggers[zap.AtomicLevel]
}

// New returns an adapter for a core. The box sets the levels of its loggers. The options apply to every logger.
func New(box *live.Box, inner zapcore.Core, options ...zap.Option) *Adapter {
	create := func(string) zap.AtomicLevel { return zap.NewAtomicLevelAt(byCode) }
	levels := named.New(create, setLevel, func(level loglevel.Level) bool { return inner.Enabled(Level(level)) })
	box.Adapt(levels)
	return &Adapter{inner, options, levels}
}

// Logger returns the logger with a name, such as "shop.payments". Its entries have the name too.
func (a *Adapter) Logger(name string) *zap.Logger {
	return zap.New(&core{a.inner, a.levels.Get(name)}, a.options...).Named(name)
}

func setLevel(of zap.AtomicLevel, level loglevel.Level) {
	if level == loglevel.None {
		of.SetLevel(byCode)
		return
	}
	of.SetLevel(Level(level))
}

// core is a zapcore.Core with a level that Signalbox can set.
type core struct {
	zapcore.Core
	level zap.AtomicLevel
}

// Enabled reports whether an entry of the level is written.
func (c *core) Enabled(level zapcore.Level) bool {
	if least := c.level.Level(); least != byCode {
		return level >= least
	}
	return c.Core.Enabled(level)
}

// With returns a core with fields.
func (c *core) With(fields []zapcore.Field) zapcore.Core {
	return &core{c.Core.With(fields), c.level}
}

// Check adds the core to an entry that the level lets through.
func (c *core) Check(entry zapcore.Entry, checked *zapcore.CheckedEntry) *zapcore.CheckedEntry {
	if c.Enabled(entry.Level) {
		return checked.AddCore(entry, c)
	}
	return checked
}
