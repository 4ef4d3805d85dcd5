// Package zerologadapter lets Signalbox set the levels of zerolog loggers.
//
//	adapter := zerologadapter.New(box, zerolog.New(os.Stdout).Level(zerolog.InfoLevel))
//	payments := adapter.Logger("shop.payments")
//
// A logger uses the level of Signalbox if Signalbox manages it or an ancestor. Every other logger uses the level of the wrapped
// logger. A zerolog logger cannot change its level, so a sampler decides instead. It replaces the sampler of the wrapped logger.
// zerolog's global level applies too.
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

// byCode is the value of a sampler's level while the level of the code applies.
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

// Adapter makes named loggers from one base logger.
type Adapter struct {
	base   zerolog.Logger
	levels *named.Loggers[*sampler]
}

// New returns an adapter that makes copies of base. The box sets the levels of the copies.
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

// sampler lets events of its level and above through.
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
