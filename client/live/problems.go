package live

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

// quiet is the shortest time between two log lines about the same kind of problem.
const quiet = time.Minute

// problems logs problems, each kind at most once a minute.
type problems struct {
	log *slog.Logger

	mu   sync.Mutex
	last map[string]time.Time
}

func newProblems(log *slog.Logger) *problems {
	return &problems{log: log, last: map[string]time.Time{}}
}

func (p *problems) warn(kind, message string, attributes ...any) {
	p.mu.Lock()
	at, known := p.last[kind]
	due := !known || time.Since(at) >= quiet
	if due {
		p.last[kind] = time.Now()
	}
	p.mu.Unlock()
	if due {
		p.log.Log(context.Background(), slog.LevelWarn, message, attributes...)
	}
}
