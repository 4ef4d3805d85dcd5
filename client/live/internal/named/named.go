// Package named is what the adapters of logging frameworks share: loggers by their names, whose levels a box sets.
package named

import (
	"sync"

	"github.com/signalbox/signalbox/client/live"
	"github.com/signalbox/signalbox/client/loglevel"
)

// maxLoggers is how many named loggers there may be; others share the one of the empty name.
const maxLoggers = 10_000

// Loggers makes loggers of a framework and implements live.Adapter. An L is a logger, or the level of one.
type Loggers[L any] struct {
	create func(name string) L
	set    func(L, loglevel.Level)
	lets   func(loglevel.Level) bool

	mu      sync.Mutex
	names   []string
	loggers map[string]L
	onNew   func(live.Logger)
}

// New returns loggers that create makes. set sets the level of one, or gives it back to the code with None; lets reports
// whether loggers let a level through by code.
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

// Get returns the logger with a name. A new one is told to the box, which sets its level before it is returned.
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
