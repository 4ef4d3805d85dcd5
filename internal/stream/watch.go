package stream

import (
	"context"
	"errors"
	"maps"
	"math/rand/v2"
	"slices"
	"sync/atomic"

	"github.com/signalbox/signalbox/internal/accounts"
	"github.com/signalbox/signalbox/internal/background"
	"github.com/signalbox/signalbox/internal/changes"
	"github.com/signalbox/signalbox/internal/connections"
	"github.com/signalbox/signalbox/internal/fault"
)

// Watch is a place among the sockets of an account for a response that is not a WebSocket. It counts as a socket. The owner
// writes the response in its own goroutine, so a slow reader delays nobody; the hub only says that something has changed, and
// when the response must end.
type Watch struct {
	hub        *Hub
	subs       *subscribers
	credential *credential
	connection *connections.Connection // its entry in the list of connections
	watching   connections.Watching

	changed background.Bell
	seq     atomic.Int64 // the last change that concerns the owner
	sent    atomic.Int64 // the last change that the response includes
	expires atomic.Int64 // the hub's clock when the response is too old

	ctx context.Context // ends with the reason when the response must end
	end context.CancelCauseFunc
}

// ended is the reason for the end of a response, and its label in the metrics.
type ended struct {
	error
	metric string
}

// watchEnded returns the reason for the end of a response that corresponds to the end of a socket.
func watchEnded(why ending) error {
	if why.metric == "key" || why.metric == "session" {
		return ended{fault.New(fault.Unauthorized, "%s", why.reason), why.metric}
	}
	return ended{stopping(), why.metric}
}

// tooOld returns the reason for the end of a response that must be requested again.
func tooOld() error {
	return ended{fault.New(fault.Unavailable, "This stream has reached its age limit. Connect again."), "age"}
}

// Watch reserves a place. recheck authenticates the caller again, after the hub has begun to receive changes of the
// caller's key. The owner must call Close.
func (h *Hub) Watch(ctx context.Context, caller accounts.Caller, watching connections.Watching, recheck Recheck) (connections.Watch, error) {
	reserved, err := h.reserve(caller, false)
	if err != nil {
		return nil, err
	}
	if caller, err = recheck(ctx); err != nil {
		h.release(reserved.subs, reserved.credential, false)
		return nil, err
	}
	reserved.credential.confirm(reserved, caller)
	w := &Watch{hub: h, subs: reserved.subs, credential: reserved.credential, watching: watching, changed: background.NewBell(),
		connection: connections.New(reserved.subs.account, watching.Peer, h.now())}
	w.ctx, w.end = context.WithCancelCause(context.Background())
	w.expires.Store(h.maxAge())
	w.seq.Store(max(reserved.lastSeq, caller.Version))
	w.subs.addWatch(w)
	h.meter.SocketOpened("fresh")
	if w.subs.reconnects.Load() != reserved.reconnects {
		w.reconnectSoon()
	}
	h.mu.Lock()
	isStopping := h.stopping
	h.mu.Unlock()
	if isStopping { // Stop ends only the watches that were added before
		w.end(watchEnded(shuttingDown()))
	}
	return w, nil
}

// Seq returns the last change that concerns the owner.
func (w *Watch) Seq() int64 { return w.seq.Load() }

// Changed receives a value after Seq has changed.
func (w *Watch) Changed() <-chan struct{} { return w.changed }

// Sent notes that the response includes every change up to a number.
func (w *Watch) Sent(seq int64) { w.sent.Store(seq) }

// Ended is closed when the response must end.
func (w *Watch) Ended() <-chan struct{} { return w.ctx.Done() }

// Err returns why the response must end, or nil.
func (w *Watch) Err() error {
	if why, is := errors.AsType[ended](context.Cause(w.ctx)); is {
		return why.error
	}
	return nil
}

// Close frees the place. If the response has not ended for another reason, its end counts as the
// peer's.
func (w *Watch) Close() {
	w.end(ended{stopping(), "peer"})
	w.subs.removeWatch(w)
	w.hub.release(w.subs, w.credential, false)
	why, _ := errors.AsType[ended](context.Cause(w.ctx))
	w.hub.meter.SocketClosed(why.metric)
}

// hear tells the owner about a change.
func (w *Watch) hear(change changes.Change) {
	if w.watching.Concerns(change.Kind) {
		w.move(change.Seq)
	}
}

func (w *Watch) move(seq int64) {
	w.seq.Store(seq)
	w.changed.Ring()
}

// check ends a response that is too old, or that its key no longer allows.
func (w *Watch) check() {
	now := w.hub.now()
	switch {
	case !w.credential.isValid(now) || w.watching.Permits(*w.credential.rights.Load()) != nil:
		w.end(watchEnded(w.credential.ended(now)))
	case w.hub.clock() > w.expires.Load():
		w.end(tooOld())
	}
}

// reconnectSoon makes the peer connect again at a random time.
func (w *Watch) reconnectSoon() {
	moment := w.hub.clock() + rand.Int64N(int64(w.hub.Reconnect)) //nolint:gosec // spreading needs no secrecy
	w.expires.Store(min(w.expires.Load(), moment))
}

// eachWatch calls visit for every watch on this node, without holding a lock.
func (h *Hub) eachWatch(visit func(*Watch)) {
	for _, subs := range h.allSubscribers() {
		subs.eachWatch(visit)
	}
}

func (s *subscribers) addWatch(w *Watch) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.watches[w] = true
}

func (s *subscribers) removeWatch(w *Watch) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.watches, w)
}

// eachWatch calls visit for every watch of the account, without holding the lock.
func (s *subscribers) eachWatch(visit func(*Watch)) {
	s.mu.Lock()
	watches := slices.Collect(maps.Keys(s.watches))
	s.mu.Unlock()
	for _, each := range watches {
		visit(each)
	}
}
