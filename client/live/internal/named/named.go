// Package named is the common part of the adapters of logging frameworks: named loggers whose levels a box sets.
package named

import (
	"sync"

	"github.com/signalbox/signalbox/client/live"
	"github.com/signalbox/signalbox/client/loglevel"
)

// maxLoggers limits the named loggers. Further names share the logger of the empty name.
const maxLoggers = 10_000

// Loggers creates loggers of a framework and implements live.Adapter. An L is a logger, or the level of a logger.
type Loggers[L any] struct {
	create func(name string) L
	set    func(L, loglevel.Level)
	lets   func(loglevel.Level) bool

	mu      sync.Mutex
	names   []string
	loggers map[string]L
	onNew   func(live.Logger)
}

// New returns Loggers. create makes a logger. set sets a logger's level; None restores the level of the code. lets reports
// whether the code's level lets a level through.
func New[L any](create func(name string) L, set func(L, loglevel.Level), lets func(loglevel.Level) bool) *Loggers[L] {
	return &Loggers[L]{create: create, set: set, lets: lets, loggers: map[string]L{}}
}

// Least returns the least severe level that is let through, SILENT if none is.
func Least(lets func(loglevel.Level) bool) loglevel.Level {
	for _, each := range loglevel.Levels() {
		if lets(each) {
			return each
		}
	}
	return loglevel.Silent
}

// Get returns the logger with a name. The box sets the level of a new logger before Get returns it.
func (l *Loggers[L]) Get(name string) L {
	found, isNew, onNew := l.find(name)
	if isNew && onNew != nil {
		onNew(live.Logger{Name: name, Uses: Least(l.lets)})
	}
	return found
}

func (l *Loggers[L]) find(name string) (found L, isNew bool, onNew func(live.Logger)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, known := l.loggers[name]; !known && len(l.names) >= maxLoggers {
		name = ""
	}
	found, known := l.loggers[name]
	if !known {
		found = l.create(name)
		l.loggers[name] = found
		l.names = append(l.names, name)
	}
	return found, !known && name != "", l.onNew
}

// Loggers returns the loggers that exist.
func (l *Loggers[L]) Loggers() []live.Logger {
	l.mu.Lock()
	defer l.mu.Unlock()
	var list []live.Logger
	for _, name := range l.names {
		if name != "" {
			list = append(list, live.Logger{Name: name, Uses: Least(l.lets)})
		}
	}
	return list
}

// SetLevel sets the level of a logger.
func (l *Loggers[L]) SetLevel(name string, level loglevel.Level) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if found, known := l.loggers[name]; known {
		l.set(found, level)
	}
}

// OnNew sets the function to call with every new logger.
func (l *Loggers[L]) OnNew(call func(live.Logger)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.onNew = call
}
