package stream

import (
	"context"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/signalbox/signalbox/internal/changes"
)

const (
	// unknown is a floor that no number is above.
	unknown = math.MaxInt64
	// slack is the part of the limit that the log may have above it, so that
	// it is not copied for every event.
	slack = 8
)

// view is a room's log at one moment. It never changes: later views share its
// frames and have more.
type view struct {
	// first is the position of the oldest frame. What was between summed and
	// first is told by that frame.
	first, summed int64
	frames        []frame
}

// end is the position of the next frame.
func (v *view) end() int64 { return v.first + int64(len(v.frames)) }

// dropping is the log without its oldest frames.
func (v *view) dropping(count int) *view {
	first := v.first + int64(count)
	return &view{first: first, summed: first, frames: slices.Clone(v.frames[count:])}
}

// summary is the log with one frame that makes clients load everything instead
// of what is after a position.
func (v *view) summary(after int64) *view {
	last := v.frames[len(v.frames)-1]
	whole := everything(last.seq)
	whole.at = last.at
	whole.restart = slices.ContainsFunc(v.frames, func(each frame) bool { return each.restart })
	return &view{first: v.end(), summed: after, frames: []frame{whole}}
}

// room is an account with sockets on this node.
type room struct {
	account string
	log     atomic.Pointer[view]
	recent  atomic.Pointer[recent]
	shards  []shard
	// renewals counts how often all sockets were made to connect again.
	renewals atomic.Int64

	// What follows is guarded by the hub's lock.
	members int
	keys    map[string]*credential

	mu sync.Mutex // guards writing to the log, and what follows
	// floor is a number: every event above it is in the log.
	floor int64
}

// newRoom makes a room that hears everything after a number.
func newRoom(account string, shards int, told int64) *room {
	r := &room{account: account, shards: make([]shard, shards), keys: map[string]*credential{}, floor: unknown}
	for i := range r.shards {
		r.shards[i].room = r
	}
	r.log.Store(&view{})
	r.recent.Store(newRecent(told))
	return r
}

// hear notes a change and appends its event, if it has one.
func (r *room) hear(change changes.Change, limit int) (appended bool) {
	event, told := eventFrame(change)
	if !told {
		r.recent.Load().hear(change.Seq)
		return false
	}
	r.recent.Load().hear(change.Seq, change.Kind)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.append(limit, event)
	return true
}

// append adds a frame to the log. What is past the limit is dropped, and
// sockets that still need it are too slow. When it is the workers who are that
// far behind, as after an outage that ends with thousands of changes, nobody is
// too slow: all are told to load everything.
func (r *room) append(limit int, added frame) {
	was := r.log.Load()
	next := &view{first: was.first, summed: was.summed, frames: append(was.frames, added)}
	if offered := r.offered(next.end()); next.end()-offered > int64(limit) {
		r.forget(added.seq)
		next = next.summary(offered)
	} else if cut := len(next.frames) - limit; cut > limit/slack {
		r.forget(next.frames[cut-1].seq)
		next = next.dropping(cut)
	}
	r.log.Store(next)
}

// forget notes that events up to a number are not in the log any more.
func (r *room) forget(seq int64) {
	if r.floor != unknown {
		r.floor = max(r.floor, seq)
	}
}

// offered is the position up to which every socket was offered the log.
func (r *room) offered(end int64) int64 {
	for i := range r.shards {
		end = min(end, r.shards[i].reached(end))
	}
	return end
}

// restart tells every socket that the history was rewound: everything is to
// be loaded, and numbers begin anew. The number 0 stands for a position that
// nobody knows; to resume from there is to load everything again.
func (r *room) restart(limit int, now time.Time) {
	r.recent.Store(newRecent(0))
	whole := everything(0)
	whole.restart, whole.at = true, now.UnixMicro()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.floor = unknown
	r.append(limit, whole)
}

// skip tells every socket to load everything, because changes up to a number
// were removed from the history before this node could read them.
func (r *room) skip(limit int, seq int64, now time.Time) {
	r.recent.Load().hear(seq, slices.Concat(products()...)...)
	whole := everything(seq)
	whole.at = now.UnixMicro()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.append(limit, whole)
}

// knows notes that every event above a number is in the log from a position
// on, unless the log has dropped some of them meanwhile.
func (r *room) knows(head, position int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if position >= r.log.Load().first {
		r.floor = min(r.floor, head)
	}
}

// covers tells whether every event after a number is in the log, and from
// which position on.
func (r *room) covers(since int64) (from int64, covered bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.log.Load().first, since >= r.floor
}

// credential is a key that sockets of a room were opened with.
type credential struct {
	id      string
	members int          // guarded by the hub's lock
	expires atomic.Int64 // microseconds; 0 is never
	dead    atomic.Bool
}

// check makes sure that the key works now that the hub hears of its changes.
// What the hub hears meanwhile is newer than the answer.
func (c *credential) check(ctx context.Context, again Recheck) error {
	before := c.expires.Load()
	caller, err := again(ctx)
	if err == nil {
		c.expires.CompareAndSwap(before, microsOrNever(caller.ExpiresAt))
	}
	return err
}

func (c *credential) works(now time.Time) bool {
	expires := c.expires.Load()
	return !c.dead.Load() && (expires == 0 || now.UnixMicro() < expires)
}

// shard is the part of a room's sockets that one worker serves. A socket keeps
// its slot while it is there, so that walking over the slots meets everyone
// who was there when the walk began.
type shard struct {
	room  *room
	dirty atomic.Bool // the worker has been told

	mu    sync.Mutex
	slots []*socket
	free  []int32
	// offered is the position up to which the worker offered the log to all.
	offered int64
}

// reached is the position up to which all sockets were offered the log; a
// shard without any holds nobody up.
func (s *shard) reached(end int64) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.slots) == 0 {
		return end
	}
	return s.offered
}

func (s *shard) reach(position int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.offered = position
}

func (s *shard) add(each *socket) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if last := len(s.free) - 1; last >= 0 {
		each.slot = s.free[last]
		s.free = s.free[:last]
		s.slots[each.slot] = each
		return
	}
	each.slot = int32(len(s.slots)) //nolint:gosec // nobody has two thousand million sockets
	s.slots = append(s.slots, each)
}

func (s *shard) remove(each *socket) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.slots[each.slot] = nil
	s.free = append(s.free, each.slot)
	if len(s.free) == len(s.slots) {
		s.slots, s.free = nil, nil
	}
}

// walk visits every socket, without holding the lock meanwhile.
func (s *shard) walk(visit func(*socket)) {
	var some [64]*socket
	for from := 0; ; from += len(some) {
		n := s.copy(some[:], from)
		if n == 0 {
			return
		}
		for _, each := range some[:n] {
			if each != nil {
				visit(each)
			}
		}
	}
}

func (s *shard) copy(to []*socket, from int) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if from >= len(s.slots) {
		return 0
	}
	return copy(to, s.slots[from:])
}
