package logging

import (
	"sync"
	"time"
)

// fullFor is how long an account that had no room is taken for full.
const fullFor = 10 * time.Second

// fullness remembers which accounts had no room for more loggers or sources. A
// fleet reports everything it has every minute: what is past a cap would
// otherwise take the account's lock every time, only to count.
type fullness struct {
	mu    sync.Mutex
	until map[string]rooms
}

// rooms tells until when there is no room for more loggers, and for more sources.
type rooms struct{ loggers, sources time.Time }

// of gives what is known about an account, the zero value when nothing is.
func (f *fullness) of(account string, now time.Time) rooms {
	f.mu.Lock()
	defer f.mu.Unlock()
	known := f.until[account]
	if !now.Before(known.loggers) && !now.Before(known.sources) {
		delete(f.until, account)
	}
	return known
}

// note remembers that an account had no room.
func (f *fullness) note(account string, loggers, sources bool, now time.Time) {
	if !loggers && !sources {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.until == nil {
		f.until = map[string]rooms{}
	}
	known := f.until[account]
	if loggers {
		known.loggers = now.Add(fullFor)
	}
	if sources {
		known.sources = now.Add(fullFor)
	}
	f.until[account] = known
}

// forget is for when room is made.
func (f *fullness) forget(account string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.until, account)
}
