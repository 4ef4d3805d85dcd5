// Package logrusadapter lets Signalbox set the levels of logrus loggers.
//
//	adapter := logrusadapter.New(box, logrus.StandardLogger())
//	payments := adapter.Logger("shop.payments")
//
// Every named logger is a copy of the wrapped logger with its own level. If Signalbox manages the named logger or an ancestor,
// it sets that level. Else it is the level that the wrapped logger had when the named logger was created or released.
package logrusadapter

import (
	"io"

	"github.com/sirupsen/logrus"

	"github.com/signalbox/signalbox/client/live"
	"github.com/signalbox/signalbox/client/live/internal/named"
	"github.com/signalbox/signalbox/client/loglevel"
)

// NameField is the field that names a logger in its entries.
const NameField = "logger"

// Level returns the level for logrus. logrus has no SILENT level: the adapter discards the output instead.
func Level(level loglevel.Level) logrus.Level {
	switch level {
	case loglevel.Trace:
		return logrus.TraceLevel
	case loglevel.Debug:
		return logrus.DebugLevel
	case loglevel.Warn:
		return logrus.WarnLevel
	case loglevel.Error:
		return logrus.ErrorLevel
	case loglevel.Fatal, loglevel.Silent:
		return logrus.FatalLevel
	case loglevel.None, loglevel.Info:
	}
	return logrus.InfoLevel
}

// Adapter makes named loggers from one base logger.
type Adapter struct {
	base    *logrus.Logger
	loggers *named.Loggers[*logrus.Logger]
}

// New returns an adapter that makes copies of base. The box sets the levels of the copies.
func New(box *live.Box, base *logrus.Logger) *Adapter {
	a := &Adapter{base: base}
	a.loggers = named.New(a.copy, a.set, func(level loglevel.Level) bool {
		return base.GetLevel() >= Level(level) || level == loglevel.Fatal // logrus is never silent
	})
	box.Adapt(a.loggers)
	return a
}

// Logger returns the logger with a name, such as "shop.payments". Its entries have the name as a field.
func (a *Adapter) Logger(name string) *logrus.Entry {
	return a.loggers.Get(name).WithField(NameField, name)
}

func (a *Adapter) copy(string) *logrus.Logger {
	return &logrus.Logger{Out: a.base.Out, Hooks: a.base.Hooks, Formatter: a.base.Formatter, ReportCaller: a.base.ReportCaller,
		Level: a.base.GetLevel(), ExitFunc: a.base.ExitFunc, BufferPool: a.base.BufferPool}
}

func (a *Adapter) set(of *logrus.Logger, level loglevel.Level) {
	out := a.base.Out
	if level == loglevel.Silent {
		out = io.Discard
	}
	of.SetOutput(out)
	if level == loglevel.None {
		of.SetLevel(a.base.GetLevel())
		return
	}
	of.SetLevel(Level(level))
}
