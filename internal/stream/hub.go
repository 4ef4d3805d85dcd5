package stream

import (
	"context"
	"encoding/json"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/signalbox/signalbox/internal/accounts"
	"github.com/signalbox/signalbox/internal/background"
	"github.com/signalbox/signalbox/internal/changes"
	"github.com/signalbox/signalbox/internal/fault"
)

// Source is what the hub reads of the store.
type Source interface {
	// Version gives the number of an account's last change, as of now.
	Version(ctx context.Context, account string) (int64, error)
	// EventsAfter gives up to limit changes after a number, in order, with
	// what their events need. It may give fewer when they are large.
	EventsAfter(ctx context.Context, account string, seq int64, limit int) ([]changes.Change, error)
	// ChangedKinds tells which of the kinds changed since an instant.
	ChangedKinds(ctx context.Context, account string, since time.Time, kinds ...string) ([]string, error)
}

// Meter counts what happens. Its methods must not block.
type Meter interface {
	// SocketOpened counts a socket: fresh, resumed or resynced.
	SocketOpened(how string)
	// SocketClosed counts its end with the reason.
	SocketClosed(reason string)
	// EventsSent counts events, each once for every socket.
	EventsSent(count int)
	// PushLag is how long after a change its event was handed out.
	PushLag(lag time.Duration)
}

// Options are the operator's choices, and what tests make smaller.
type Options struct {
	// Server is the name that the first frame carries.
	Server string
	// MaxAge is how long a socket may be open; zero is for ever. Sockets are
	// closed at a random moment of the last fifth.
	MaxAge time.Duration
	// Sockets is how many may be open on this node; zero is no limit.
	Sockets int
	// AccountSockets is how many of them may be one account's, half of them
	// unless it is set, so that nobody takes the places of all others.
	AccountSockets int

	// Heartbeat is the pace of pings, 30 s unless it is set; a peer that is
	// silent for three of them is dropped.
	Heartbeat time.Duration
	// Queue is how many events a socket may be behind, 1024 unless it is set.
	Queue int
	// Replay is how many changes are replayed at most, 2000 unless it is set.
	Replay int
	// Renewal is the time over which all sockets of an account connect again
	// when their keys are in doubt, a minute unless it is set.
	Renewal time.Duration
}

func (o *Options) complete() {
	if o.Heartbeat == 0 {
		o.Heartbeat = 30 * time.Second
	}
	if o.Queue == 0 {
		o.Queue = 1024
	}
	if o.Replay == 0 {
		o.Replay = 2000
	}
	if o.Renewal == 0 {
		o.Renewal = time.Minute
	}
	if o.AccountSockets == 0 {
		o.AccountSockets = (o.Sockets + 1) / 2
	}
}

// Hub holds the sockets of one node. See the package's documentation.
type Hub struct {
	Options
	source Source
	meter  Meter
	now    func() time.Time // the clock that keys expire by

	began   time.Time
	workers []*worker
	pens    *sync.Pool
	sockets sync.WaitGroup // places, and goroutines that wait for slow readers
	loops   background.Loop
	// over ends when Stop waits for nobody any more.
	over   context.Context
	finish context.CancelFunc

	mu    sync.Mutex
	rooms map[string]*room
	heard map[string]int64 // the last number that the feed told, by account
	// doubtful is the number up to which clients may know another history than
	// the one there is, by account, since it was rewound. It is above what this
	// node told, because other nodes may have told a little more.
	doubtful map[string]int64
	count    int
	stopping bool
	turns    atomic.Uint32
}

// New makes a hub. Hear, Missed and Rewound are to be subscribed to the feed,
// after whatever forgets keys.
func New(source Source, meter Meter, now func() time.Time, options Options) *Hub {
	options.complete()
	h := &Hub{
		Options: options, source: source, meter: meter, now: now, began: time.Now(), pens: newCase(),
		rooms: map[string]*room{}, heard: map[string]int64{}, doubtful: map[string]int64{},
	}
	h.over, h.finish = context.WithCancel(context.Background())
	for range runtime.GOMAXPROCS(0) {
		h.workers = append(h.workers, &worker{hub: h, index: len(h.workers), wake: background.NewBell()})
	}
	return h
}

// Start begins to hand out events.
func (h *Hub) Start(ctx context.Context) {
	loops := []func(context.Context){h.keep}
	for _, each := range h.workers {
		loops = append(loops, each.run)
	}
	h.loops.Start(ctx, loops...)
}

// clock is monotonic: setting the machine's time must not end all sockets.
func (h *Hub) clock() int64 { return int64(time.Since(h.began)) }

// Hear takes a change from the feed. It never blocks.
func (h *Hub) Hear(change changes.Change) {
	here := h.told(change.Account, change.Seq)
	if here == nil {
		return
	}
	if change.Kind == accounts.KindKey {
		h.hearKey(here, change)
	}
	if here.hear(change, h.Queue) {
		h.wake(here)
	}
}

// told notes how far the feed is, and gives the account's room if there is one.
func (h *Hub) told(account string, seq int64) *room {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.heard[account] = seq
	return h.rooms[account]
}

// Missed makes the sockets of an account load everything: changes up to a
// number were removed before this node could read them. Keys may have ended
// with them, so all connect again within a minute. It never blocks.
func (h *Hub) Missed(account string, upTo int64) {
	if here := h.told(account, upTo); here != nil {
		here.skip(h.Queue, upTo, h.now())
		h.renew(here)
	}
}

// hearKey ends the sockets of a key that works no more, and learns when it
// will not.
func (h *Hub) hearKey(here *room, change changes.Change) {
	h.mu.Lock()
	key := here.keys[change.Key]
	h.mu.Unlock()
	if key == nil {
		return
	}
	var after struct {
		Status    accounts.Status `json:"status"`
		ExpiresAt *time.Time      `json:"expires_at"`
	}
	if change.After == nil || json.Unmarshal(change.After, &after) != nil || after.Status != accounts.Active {
		key.dead.Store(true)
	}
	key.expires.Store(microsOrNever(after.ExpiresAt))
	h.endKeys(here)
}

func microsOrNever(at *time.Time) int64 {
	if at == nil {
		return 0
	}
	return at.UnixMicro()
}

// endKeys closes the sockets of a room whose keys work no more.
func (h *Hub) endKeys(here *room) {
	now := h.now()
	for i := range here.shards {
		here.shards[i].walk(func(s *socket) {
			if !s.key.works(now) {
				s.end(keyEnded())
			}
		})
	}
}

// Rewound tells every socket to load everything again: the history is another
// than it was. seen are the last numbers of the accounts before. Keys may be
// others as well, so all connect again within a minute.
func (h *Hub) Rewound(seen map[string]int64) {
	h.mu.Lock()
	clear(h.heard)
	for account, last := range seen {
		h.doubtful[account] = max(h.doubtful[account], last+int64(h.Replay))
	}
	for _, here := range h.rooms {
		for _, key := range here.keys {
			key.dead.Store(false) // what ended it may be undone
		}
	}
	h.mu.Unlock()
	for _, here := range h.allRooms() {
		here.restart(h.Queue, h.now())
		h.renew(here)
	}
}

// renew makes the sockets of a room connect again, each at its own moment.
func (h *Hub) renew(here *room) {
	here.renewals.Add(1) // first: who is not walked over yet sees it
	for i := range here.shards {
		here.shards[i].walk((*socket).renew)
	}
	h.wake(here)
}

func (h *Hub) allRooms() []*room {
	h.mu.Lock()
	defer h.mu.Unlock()
	all := make([]*room, 0, len(h.rooms))
	for _, each := range h.rooms {
		all = append(all, each)
	}
	return all
}

// place is a promise of a socket: what the feed tells from now on is kept for it.
type place struct {
	room *room
	key  *credential
	next int64 // position in the room's log
	// heard is the last number that the feed told before.
	heard int64
	// doubtful is the number up to which nobody can resume; -1 is none.
	doubtful int64
	// renewals are those that the room had: a later one is for this socket too.
	renewals int64
	recent   *recent
}

// enter takes a place in the account's room.
func (h *Hub) enter(caller accounts.Caller) (place, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	here := h.rooms[caller.Account]
	if err := h.full(here); err != nil {
		return place{}, err
	}
	if here == nil {
		here = newRoom(caller.Account, len(h.workers), h.heard[caller.Account])
		h.rooms[caller.Account] = here
	}
	key := here.keys[caller.KeyID]
	if key == nil {
		key = &credential{id: caller.KeyID}
		key.expires.Store(microsOrNever(caller.ExpiresAt))
		here.keys[caller.KeyID] = key
	}
	h.sockets.Add(1)
	h.count++
	here.members++
	key.members++
	return h.placeIn(here, key), nil
}

func (h *Hub) placeIn(here *room, key *credential) place {
	taken := place{
		room: here, key: key, renewals: here.renewals.Load(),
		recent: here.recent.Load(), next: here.log.Load().end(), heard: h.heard[here.account], doubtful: -1,
	}
	if doubtful, rewound := h.doubtful[here.account]; rewound {
		taken.doubtful = doubtful
	}
	return taken
}

// full tells why there is no place for another socket, or nil.
func (h *Hub) full(here *room) error {
	switch {
	case h.stopping:
		return leaving()
	case h.Sockets > 0 && h.count >= h.Sockets:
		return tooMany("This node holds %d event sockets, which is its limit (SIGNALBOX_STREAM_SOCKETS).", h.Sockets)
	case here != nil && h.AccountSockets > 0 && here.members >= h.AccountSockets:
		return tooMany("This account has %d event sockets on this node, which is its limit (SIGNALBOX_STREAM_ACCOUNT_SOCKETS).", h.AccountSockets)
	}
	return nil
}

func leaving() error {
	return fault.New(fault.Unavailable, "This node is shutting down. Connect again.")
}

func tooMany(format string, limit int) error {
	refusal := fault.New(fault.RateLimited, format, limit)
	refusal.RetryAfter = 30 * time.Second
	return refusal
}

// giveUp gives a place back.
func (h *Hub) giveUp(p place) {
	defer h.sockets.Done()
	h.mu.Lock()
	defer h.mu.Unlock()
	h.count--
	p.room.members--
	p.key.members--
	if p.key.members == 0 {
		delete(p.room.keys, p.key.id)
	}
	if p.room.members == 0 {
		delete(h.rooms, p.room.account)
	}
}

// leave takes a socket out, once its connection has ended.
func (h *Hub) leave(s *socket) {
	s.shard.remove(s)
	h.giveUp(place{room: s.room, key: s.key})
	h.meter.SocketClosed(s.ending.metric)
}

// flush offers a socket what waits for it, now.
func (h *Hub) flush(s *socket) {
	p := h.pens.Get().(*pen)
	h.meter.EventsSent(s.flush(s.room.log.Load(), p))
	if cap(p.buffer) > 2*portion {
		p.buffer = nil
	}
	h.pens.Put(p)
}
