// Package zerologadapter lets Signalbox set the levels of zerolog loggers.
//
//	adapter := zerologadapter.New(box, zerolog.New(os.Stdout).Level(zerolog.InfoLevel))
//	payments := adapter.Logger("shop.payments")
//
// A logger that Signalbox manages, or has an ancestor that it manages, uses the level of Signalbox; every other one uses that of
// the logger it was made of. A zerolog logger cannot change its level, so these decide in a sampler; one that the wrapped logger
// has is replaced. The global level counts too.
package zerologadapter

import (
	"math"
	"sync/atomic"

	"github.com/rs/zerolog"

	"github.com/signalbox/signalbox/client/live"
	"github.com/signalbox/signalbox/client/live/internal/named"
	"github.com/signalbox/signalbox/client/loglevel"
)

// NameField is the field that names a logger in its events.
const NameField = "logger"

// byCode is the level of a sampler while the code's counts.
const byCode = math.MinInt32

// Level returns the level for zerolog.
func Level(level loglevel.Level) zerolog.Level {
	switch level {
	case loglevel.Trace:
		return zerolog.TraceLevel
	case loglevel.Debug:
		return zerolog.DebugLevel
	case loglevel.Warn:
		return zerolog.WarnLevel
	case loglevel.Error:
		return zerolog.ErrorLevel
	case loglevel.Fatal:
		return zerolog.FatalLevel
	case loglevel.Silent:
		return zerolog.Disabled
	case loglevel.None, loglevel.Info:
	}
	return zerolog.InfoLevel
}

// Adapter makes named loggers from one.
type Adapter struct {
	base   zerolog.Logger
	levels *named.Loggers[*sampler]
}

// New returns an adapter that makes loggers like base, whose levels the box sets.
func New(box *live.Box, base zerolog.Logger) *Adapter {
	code := base.GetLevel()
	create := func(string) *sampler {
		made := &sampler{code: code}
		made.level.Store(byCode)
		return made
	}
	levels := named.New(create, (*sampler).set, func(level loglevel.Level) bool { return code <= Level(level) })
	box.Adapt(levels)
	return &Adapter{base.Level(zerolog.TraceLevel), levels}
}

// Logger returns the logger with a name, such as "shop.payments". Its events have the name as a field.
func (a *Adapter) Logger(name string) zerolog.Logger {
	return a.base.Sample(a.levels.Get(name)).With().Str(NameField, name).Logger()
}

// sampler lets through what has the level.
type sampler struct {
	level atomic.Int32
	code  zerolog.Level
}

func (s *sampler) set(level loglevel.Level) {
	if level == loglevel.None {
		s.level.Store(byCode)
		return
	}
	s.level.Store(int32(Level(level)))
}

// Sample reports whether an event is written.
func (s *sampler) Sample(level zerolog.Level) bool {
	least := s.level.Load()
	if least == byCode {
		least = int32(s.code)
	}
	return int32(level) >= least
}
