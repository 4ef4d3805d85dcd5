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

// unknown is a floor that no number is above.
const unknown = math.MaxInt64

// view is a room's log at one moment. It never changes: later views share its
// frames and have more.
type view struct {
	// first is the position of the oldest frame.
	first  int64
	frames []frame
}

// end is the position of the next frame.
func (v *view) end() int64 { return v.first + int64(len(v.frames)) }

// room is an account with sockets on this node.
type room struct {
	account string
	log     atomic.Pointer[view]
	shards  []shard

	// What follows is guarded by the hub's lock.
	members int
	keys    map[string]*credential

	mu sync.Mutex // guards writing to the log, and what follows
	// floor is a number: every event above it is in the log.
	floor int64
	// recent is which products changed lately, as it was read at asked, and
	// heard what the feed told since.
	recent map[string]bool
	asked  time.Time
	heard  map[string]bool
}

func newRoom(account string, shards int) *room {
	r := &room{account: account, shards: make([]shard, shards), keys: map[string]*credential{}, floor: unknown, heard: map[string]bool{}}
	for i := range r.shards {
		r.shards[i].room = r
	}
	r.log.Store(&view{})
	return r
}

// hear notes a change and appends its event, if it has one.
func (r *room) hear(change changes.Change, limit int) (appended bool) {
	event, told := eventFrame(change)
	r.mu.Lock()
	defer r.mu.Unlock()
	if change.Event() != "" {
		r.heard[change.Kind] = true
	}
	if told {
		r.append(limit, event)
	}
	return told
}

// append adds frames to the log. Past the limit the older half is dropped, and
// sockets that still need it are too slow.
func (r *room) append(limit int, frames ...frame) {
	was := r.log.Load()
	next := &view{first: was.first, frames: append(was.frames, frames...)}
	if len(next.frames) > limit {
		cut := len(next.frames) - limit/2
		if r.floor != unknown {
			r.floor = max(r.floor, next.frames[cut-1].seq)
		}
		next.first += int64(cut)
		next.frames = slices.Clone(next.frames[cut:])
	}
	r.log.Store(next)
}

// restart tells every socket that the history was rewound: everything is to
// be loaded, and numbers begin anew. The number 0 stands for a position that
// nobody knows; to resume from there is to load everything again.
func (r *room) restart(limit int, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.floor = unknown
	r.append(limit, frame{text: bulkFrames(0), restart: true, at: now.UnixMicro()})
}

// skip tells every socket to load everything, because changes up to a number
// were removed from the history before this node could read them.
func (r *room) skip(limit int, seq int64, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.append(limit, frame{text: bulkFrames(seq), seq: seq, at: now.UnixMicro()})
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
