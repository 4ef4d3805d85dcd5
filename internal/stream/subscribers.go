package stream

import (
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/signalbox/signalbox/internal/accounts"
	"github.com/signalbox/signalbox/internal/changes"
)

const (
	noFloor = math.MaxInt64 // no sequence number is above it
	slack   = 8             // the log may exceed its limit by limit/slack, so that not every event copies it
)

// eventLog is a version of an account's log. Later versions share its frames and add more.
type eventLog struct {
	// first is the position of the oldest frame. That frame replaces all frames since the position summarized.
	first, summarized int64
	frames            []frame
}

// end returns the position of the next frame.
func (l *eventLog) end() int64 { return l.first + int64(len(l.frames)) }

// summarize returns a log in which one frame, which makes clients reload, replaces all frames since from.
func (l *eventLog) summarize(from int64) *eventLog {
	last := l.frames[len(l.frames)-1]
	reload := reloadFrame(last.seq, last.at)
	reload.restart = slices.ContainsFunc(l.frames, func(each frame) bool { return each.restart })
	return &eventLog{first: l.end(), summarized: from, frames: []frame{reload}}
}

// subscribers are the sockets of an account on this node.
type subscribers struct {
	account string
	log     atomic.Pointer[eventLog]
	recent  atomic.Pointer[recent]
	shards  []shard
	// reconnects counts how often all sockets were told to reconnect.
	reconnects atomic.Int64
	// followers is the number of OFREP event streams. It changes under the hub's lock.
	followers atomic.Int64

	// These are guarded by the hub's lock.
	count       int
	credentials map[string]*credential

	mu    sync.Mutex // guards writes to the log, and the fields below
	floor int64      // the log has every event above this sequence number
	// joined is the last change that waits for the next event of event streams; 0 is none.
	joined  int64
	next    int64 // the hub's clock from which the next such event may be sent
	watches map[*Watch]bool
}

func newSubscribers(account string, shards int) *subscribers {
	s := &subscribers{account: account, shards: make([]shard, shards), credentials: map[string]*credential{}, floor: noFloor, watches: map[*Watch]bool{}}
	for i := range s.shards {
		s.shards[i].subs = s
	}
	s.log.Store(&eventLog{})
	s.recent.Store(newRecent())
	return s
}

// each calls visit for every socket, without holding a lock.
func (s *subscribers) each(visit func(*socket)) {
	for i := range s.shards {
		for _, each := range s.shards[i].snapshot(nil) {
			visit(each)
		}
	}
}

// add appends the event of a change, if it has one. It reports too whether event streams get the event later, joined
// with others.
func (s *subscribers) add(change changes.Change, limit int, moment pace) (appended, joined bool) {
	event, exists := eventFrame(change)
	if !exists {
		s.recent.Load().add(change.Seq)
		return false, false
	}
	s.recent.Load().add(change.Seq, change.Kind)
	s.mu.Lock()
	defer s.mu.Unlock()
	if event.flags && s.followers.Load() > 0 {
		event.refetch = s.refetch(change.Seq, moment)
		joined = event.refetch == nil
	}
	s.push(limit, event)
	return true, joined
}

// append adds a frame to the log and drops the oldest frames beyond the limit. Sockets that need a dropped frame are too
// slow. But if the workers are that far behind, as after an outage, all clients are told to load everything instead.
func (s *subscribers) append(limit int, added frame) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.push(limit, added)
}

// push is append for callers that hold the lock.
func (s *subscribers) push(limit int, added frame) {
	log := s.log.Load()
	next := &eventLog{first: log.first, summarized: log.summarized, frames: append(log.frames, added)}
	if offered := s.offered(next.end()); next.end()-offered > int64(limit) {
		s.raiseFloor(added.seq)
		next = next.summarize(offered)
	} else if excess := len(next.frames) - limit; excess > limit/slack {
		s.raiseFloor(next.frames[excess-1].seq)
		first := next.first + int64(excess)
		next = &eventLog{first: first, summarized: first, frames: slices.Clone(next.frames[excess:])}
	}
	if added.restart {
		s.floor, s.joined = noFloor, 0
	}
	s.log.Store(next)
}

// raiseFloor records that the log has lost events up to a sequence number.
func (s *subscribers) raiseFloor(seq int64) {
	if s.floor != noFloor {
		s.floor = max(s.floor, seq)
	}
}

// offered returns the position up to which every socket was offered the log.
func (s *subscribers) offered(end int64) int64 {
	for i := range s.shards {
		if !s.shards[i].isEmpty() {
			end = min(end, s.shards[i].offered.Load())
		}
	}
	return end
}

// restart tells every socket that the history was rewound: clients load everything, and sequence numbers start again.
func (s *subscribers) restart(limit int, now time.Time) {
	s.recent.Store(newRecent())
	reload := reloadFrame(0, now.UnixMicro())
	reload.restart = true
	s.append(limit, reload)
}

// reload tells every socket to load everything, because changes up to seq are not known.
func (s *subscribers) reload(limit int, seq int64, now time.Time) {
	s.recent.Load().add(seq, slices.Concat(products()...)...)
	s.append(limit, reloadFrame(seq, now.UnixMicro()))
}

// lowerFloor records that the log has the events above head from a position on, unless they were dropped.
func (s *subscribers) lowerFloor(head, position int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if position >= s.log.Load().first {
		s.floor = min(s.floor, head)
	}
}

// covers reports whether the log has every event after since, and from which position on.
func (s *subscribers) covers(since int64) (from int64, covered bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.log.Load().first, since >= s.floor
}

// credential is the key or session with which sockets of an account were opened.
type credential struct {
	id      string
	key     string     // the id of the key, or of the key that opened the session
	session *time.Time // when the session ends; nil for a key
	count   int        // the number of its sockets, guarded by the hub's lock

	expires atomic.Pointer[time.Time] // nil means never
	rights  atomic.Pointer[accounts.Caller]
	revoked atomic.Bool
}

func newCredential(caller accounts.Caller) *credential {
	c := &credential{id: caller.Credential(), key: caller.KeyID}
	if caller.SessionID != "" {
		c.session = caller.ExpiresAt
	}
	c.expires.Store(caller.ExpiresAt)
	c.rights.Store(rightsOf(caller))
	return c
}

// rightsOf returns only what says what a caller may do.
func rightsOf(caller accounts.Caller) *accounts.Caller {
	return &accounts.Caller{Role: caller.Role, Access: caller.Access, Environments: caller.Environments, Origins: caller.Origins}
}

// confirm stores what a second authentication returned for a reserved place, unless a change of the key came later than
// the reservation.
func (c *credential) confirm(reserved reservation, caller accounts.Caller) {
	c.expires.CompareAndSwap(reserved.expires, caller.ExpiresAt)
	c.rights.CompareAndSwap(reserved.rights, rightsOf(caller))
}

// earlier returns when the credential expires if its key has this new expiry; nil means never.
func (c *credential) earlier(key *time.Time) *time.Time {
	if key == nil || c.session != nil && c.session.Before(*key) {
		return c.session
	}
	return key
}

// ended returns why sockets of the credential end.
func (c *credential) ended(now time.Time) ending {
	switch {
	case c.isValid(now):
		return rightsReduced()
	case c.session != nil:
		return sessionEnded()
	}
	return keyEnded()
}

func (c *credential) isValid(now time.Time) bool {
	expires := c.expires.Load()
	return !c.revoked.Load() && (expires == nil || now.Before(*expires))
}

// shard is the part of an account's sockets that one worker serves.
type shard struct {
	subs  *subscribers
	dirty atomic.Bool // the worker was woken for this shard

	mu      sync.Mutex
	sockets []*socket
	offered atomic.Int64 // the position up to which the worker offered the log to all sockets
}

func (s *shard) isEmpty() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.sockets) == 0
}

func (s *shard) add(each *socket) {
	s.mu.Lock()
	defer s.mu.Unlock()
	each.index = len(s.sockets)
	s.sockets = append(s.sockets, each)
}

// remove removes a socket by moving the last one to its place.
func (s *shard) remove(each *socket) {
	s.mu.Lock()
	defer s.mu.Unlock()
	last := len(s.sockets) - 1
	s.sockets[each.index] = s.sockets[last]
	s.sockets[each.index].index = each.index
	s.sockets[last] = nil
	s.sockets = s.sockets[:last]
}

// snapshot appends the current sockets to a slice.
func (s *shard) snapshot(to []*socket) []*socket {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append(to, s.sockets...)
}
