package store

import (
	"context"
	"sync"

	"github.com/jackc/pgx/v5"
)

// notice is a notification for the other nodes.
type notice struct{ channel, payload string }

// announcer sends the notices of committed transactions to the other nodes. PostgreSQL holds a lock of the whole server from a
// notification until its transaction is durable, so transactions that notify commit one after the other and each waits for the
// disk alone. Therefore a notice is sent after the commit, in a transaction that does not wait for the disk, together with
// those that came while the previous ones were being sent. A notice is lost if the node dies before it is sent; then the
// other nodes find the change by polling.
type announcer struct {
	send func(context.Context, []notice) error // nil if there are no other nodes

	running sync.WaitGroup
	mu      sync.Mutex
	sending bool            // a goroutine sends
	closed  bool            // nothing more is sent
	waiting map[notice]bool // what is sent next
}

// tell sends notices in the background.
func (a *announcer) tell(notices ...notice) {
	if a.send == nil || len(notices) == 0 {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed {
		return
	}
	if a.waiting == nil {
		a.waiting = map[notice]bool{}
	}
	for _, each := range notices {
		a.waiting[each] = true
	}
	if !a.sending {
		a.sending = true
		a.running.Go(a.sendAll)
	}
}

// sendAll sends until nothing waits. A second attempt uses a new connection, because the first one closed those that may be
// silent too. Notices that fail twice are lost.
func (a *announcer) sendAll() {
	for {
		notices := a.take()
		if len(notices) == 0 {
			return
		}
		if err := a.send(context.Background(), notices); err != nil {
			_ = a.send(context.Background(), notices) // the other nodes poll
		}
	}
}

func (a *announcer) take() (notices []notice) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for each := range a.waiting {
		notices = append(notices, each)
	}
	clear(a.waiting)
	a.sending = len(notices) > 0
	return notices
}

// stop waits until everything is sent, and sends nothing more.
func (a *announcer) stop() {
	a.mu.Lock()
	a.closed = true
	a.mu.Unlock()
	a.running.Wait()
}

// announce sends notices in one transaction and one round trip.
func (p *postgres) announce(ctx context.Context, notices []notice) error {
	ctx, cancel := context.WithTimeout(ctx, p.limits.Silence)
	defer cancel()
	channels, payloads := make([]string, len(notices)), make([]string, len(notices))
	for i, each := range notices {
		channels[i], payloads[i] = each.channel, each.payload
	}
	conn, err := p.begin(ctx, forLoops, func(*pgx.Conn) *pgx.Batch {
		all := batch("BEGIN", `SELECT set_config('synchronous_commit', 'off', true)`)
		all.Queue(`SELECT pg_notify(told.channel, told.payload) FROM unnest(CAST($1 AS text[]), CAST($2 AS text[])) AS told (channel, payload)`, channels, payloads)
		all.Queue("COMMIT")
		return all
	})
	if err != nil {
		return err
	}
	return giveBack(ctx, conn, nil)
}
