package stream

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gorilla/websocket"

	"github.com/signalbox/signalbox/internal/accounts"
	"github.com/signalbox/signalbox/internal/background"
	"github.com/signalbox/signalbox/internal/changes"
	"github.com/signalbox/signalbox/internal/connections"
	"github.com/signalbox/signalbox/internal/fault"
)

// Source is the part of the store that the hub reads.
type Source interface {
	// Version returns the sequence number of an account's last change.
	Version(ctx context.Context, account string) (int64, error)
	// EventsAfter returns up to limit changes after seq, or fewer if they are large.
	EventsAfter(ctx context.Context, account string, seq int64, limit int) ([]changes.Change, error)
	// ChangedKinds returns the kinds, out of the given ones, that have changed since a time.
	ChangedKinds(ctx context.Context, account string, since time.Time, kinds ...string) ([]string, error)
}

// Meter receives the hub's metrics. Its methods must not block.
type Meter interface {
	SocketOpened(how string) // fresh, resumed or resynced
	SocketClosed(reason string)
	EventsSent(count int)      // counts an event once per socket
	PushLag(lag time.Duration) // the time from a change to the sending of its event
}

// Options are settings of the operator, and values that tests make smaller.
type Options struct {
	Server string // the name in the first frame
	// MaxAge is how long a socket may be open. A random part, up to a fifth, is subtracted. Zero means no limit.
	MaxAge  time.Duration
	Sockets int // how many sockets this node may have; zero means no limit
	// AccountSockets is how many sockets one account may have on this node; zero means half of Sockets.
	AccountSockets int

	// Heartbeat is the interval of pings; zero means 30 s. A peer that is silent for three intervals is disconnected.
	Heartbeat time.Duration
	Queue     int // how many events a socket may lag behind; zero means 1024
	Replay    int // how many changes a resuming client may have missed; zero means 2000
	// Reconnect is the period over which sockets reconnect if their keys must be checked again; zero means a minute.
	Reconnect time.Duration
	// CloseTimeout is how long a peer may take to read the close frame; zero means 10 s. Its answer may take a fifth.
	CloseTimeout time.Duration
	// Join is the time in which changes are joined into one event of an event stream; zero means 250 ms.
	Join time.Duration
}

func (o *Options) setDefaults() {
	o.Heartbeat = cmp.Or(o.Heartbeat, 30*time.Second)
	o.Queue = cmp.Or(o.Queue, 1024)
	o.Replay = cmp.Or(o.Replay, 2000)
	o.Reconnect = cmp.Or(o.Reconnect, time.Minute)
	o.CloseTimeout = cmp.Or(o.CloseTimeout, 10*time.Second)
	o.Join = cmp.Or(o.Join, 250*time.Millisecond)
	o.AccountSockets = cmp.Or(o.AccountSockets, (o.Sockets+1)/2)
}

func (o *Options) closeReplyTimeout() time.Duration { return o.CloseTimeout / 5 }

// Hub holds the sockets of one node. See the package documentation.
type Hub struct {
	Options
	source Source
	meter  Meter
	now    func() time.Time // the clock that decides whether keys have expired

	created  time.Time
	upgrader websocket.Upgrader
	workers  []*worker
	sockets  sync.WaitGroup // counts reservations, and goroutines that wait for slow readers
	loops    background.Loop
	stopped  context.Context // ends when Stop stops waiting for peers
	finish   context.CancelFunc
	opened   atomic.Uint32   // counts all sockets so far, to spread them over the workers
	joining  background.Bell // rings when changes wait for the next event of event streams

	mu       sync.Mutex
	accounts map[string]*subscribers
	lastSeq  map[string]int64 // the last sequence number that the feed reported, by account
	// invalid has, by account, the last sequence number before the history was rewound. Clients may still know it.
	invalid  map[string]int64
	count    int
	stopping bool
}

// New creates a hub. The caller must subscribe Hear, Missed and Rewound to the feed after the authenticator.
func New(source Source, meter Meter, now func() time.Time, options Options) *Hub {
	options.setDefaults()
	h := &Hub{
		Options: options, source: source, meter: meter, now: now, created: time.Now(), upgrader: newUpgrader(),
		accounts: map[string]*subscribers{}, lastSeq: map[string]int64{}, invalid: map[string]int64{},
		joining: background.NewBell(),
	}
	h.stopped, h.finish = context.WithCancel(context.Background())
	for i := range runtime.GOMAXPROCS(0) {
		h.workers = append(h.workers, &worker{hub: h, index: i, wake: background.NewBell()})
	}
	return h
}

// Start starts sending events.
func (h *Hub) Start(ctx context.Context) {
	loops := []func(context.Context){h.maintain, h.join}
	for _, each := range h.workers {
		loops = append(loops, each.run)
	}
	h.loops.Start(ctx, loops...)
}

// clock returns a monotonic time, so that setting the machine's clock closes no sockets.
func (h *Hub) clock() int64 { return int64(time.Since(h.created)) }

// Hear receives a change from the feed. It never blocks.
func (h *Hub) Hear(change changes.Change) {
	subs := h.reported(change.Account, change.Seq)
	if subs == nil {
		return
	}
	switch {
	case change.Kind == accounts.KindKey:
		h.keyChanged(subs, change)
	case change.Kind == accounts.KindSession && change.Action == changes.Deleted:
		h.sessionEnded(subs, change.Key)
	}
	appended, joined := subs.add(change, h.Queue, h.pace())
	if appended {
		h.wake(subs)
	}
	subs.eachWatch(func(w *Watch) { w.hear(change) })
	if joined {
		h.joining.Ring()
	}
}

// reported stores the last sequence number of the feed and returns the account's subscribers.
func (h *Hub) reported(account string, seq int64) *subscribers {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.lastSeq[account] = seq
	return h.accounts[account]
}

// Missed makes the clients of an account load everything, because changes were removed before this node read them. Such a
// change may have revoked a key, so all clients must also reconnect within a minute. Missed never blocks.
func (h *Hub) Missed(account string, upTo int64) {
	if subs := h.reported(account, upTo); subs != nil {
		subs.reload(h.Queue, upTo, h.now())
		subs.eachWatch(func(w *Watch) { w.move(upTo) })
		h.reconnect(subs)
	}
}

// keyChanged updates a key's expiry and rights. It closes the sockets of the key and its sessions that the key may no longer have.
func (h *Hub) keyChanged(subs *subscribers, change changes.Change) {
	var after struct {
		Status    accounts.Status `json:"status"`
		ExpiresAt *time.Time      `json:"expires_at"`
		Role      accounts.Role   `json:"role"`
		Access    accounts.Access `json:"access"`
		Scopes    accounts.Scopes `json:"scopes"`
	}
	works := change.After != nil && json.Unmarshal(change.After, &after) == nil && after.Status == accounts.Active
	affected := h.credentials(subs, func(each *credential) bool { return each.key == change.Key })
	for _, each := range affected {
		if !works {
			each.revoked.Store(true)
		}
		each.expires.Store(each.earlier(after.ExpiresAt))
		each.rights.Store(&accounts.Caller{Role: after.Role, Access: after.Access, Environments: after.Scopes.Environments, Origins: after.Scopes.Origins})
	}
	h.closeInvalid(subs, affected)
}

// sessionEnded closes the sockets of a session.
func (h *Hub) sessionEnded(subs *subscribers, id string) {
	affected := h.credentials(subs, func(each *credential) bool { return each.id == id })
	for _, each := range affected {
		each.revoked.Store(true)
	}
	h.closeInvalid(subs, affected)
}

// credentials returns the credentials of an account's sockets for which match is true.
func (h *Hub) credentials(subs *subscribers, match func(*credential) bool) (found []*credential) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, each := range subs.credentials {
		if match(each) {
			found = append(found, each)
		}
	}
	return found
}

// closeInvalid closes an account's sockets that their credentials no longer allow, if any credential has changed.
func (h *Hub) closeInvalid(subs *subscribers, changed []*credential) {
	if len(changed) == 0 {
		return
	}
	now := h.now()
	subs.each(func(s *socket) {
		if !s.isAllowed(now) {
			s.end(s.credential.ended(now))
		}
	})
	subs.eachWatch((*Watch).check)
}

// Rewound makes all clients load everything and reconnect within a minute, because the history was rewound. seen has
// the accounts' last sequence numbers before the rewind.
func (h *Hub) Rewound(seen map[string]int64) {
	h.mu.Lock()
	clear(h.lastSeq)
	for account, last := range seen {
		h.invalid[account] = max(h.invalid[account], last+int64(h.Replay))
	}
	for _, subs := range h.accounts {
		for _, each := range subs.credentials {
			each.revoked.Store(false) // the rewind may have undone the revocation
		}
	}
	h.mu.Unlock()
	for _, subs := range h.allSubscribers() {
		subs.restart(h.Queue, h.now())
		subs.eachWatch(func(w *Watch) { w.move(0) })
		h.reconnect(subs)
	}
}

// reconnect makes all sockets of an account reconnect, each at a random time.
func (h *Hub) reconnect(subs *subscribers) {
	subs.reconnects.Add(1) // first, so that sockets that are being opened see it
	subs.each((*socket).reconnectSoon)
	subs.eachWatch((*Watch).reconnectSoon)
	h.wake(subs)
}

func (h *Hub) allSubscribers() []*subscribers {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Collect(maps.Values(h.accounts))
}

// EachConnection visits the open sockets and the sequence numbers that they have reached.
func (h *Hub) EachConnection(visit func(connection *connections.Connection, seq int64)) {
	h.eachSocket(func(s *socket) {
		if s.connection == nil {
			return
		}
		s.mu.Lock()
		seq := s.seq
		s.mu.Unlock()
		visit(s.connection, seq)
	})
	h.eachWatch(func(w *Watch) { visit(w.connection, w.sent.Load()) })
}

// reservation is the place of a socket that is being opened. Events after the reservation are kept for the socket.
type reservation struct {
	subs       *subscribers
	credential *credential
	follower   bool          // it is an event stream
	role       accounts.Role // of the caller
	// expires and rights are the credential's at the reservation.
	expires    *time.Time
	rights     *accounts.Caller
	next       int64 // the position in the log
	lastSeq    int64 // the last sequence number that the feed reported before
	invalid    int64 // clients cannot resume from sequence numbers up to this one; -1 means none
	reconnects int64 // the subscribers' counter; if it grows later, this socket reconnects too
	recent     *recent
}

// reserve reserves a place among the account's subscribers; follower says that it is for an event stream.
func (h *Hub) reserve(caller accounts.Caller, follower bool) (reservation, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	subs := h.accounts[caller.Account]
	if err := h.checkLimits(caller, subs); err != nil {
		return reservation{}, err
	}
	if subs == nil {
		subs = newSubscribers(caller.Account, len(h.workers))
		h.accounts[caller.Account] = subs
	}
	used := subs.credentials[caller.Credential()]
	if used == nil {
		used = newCredential(caller)
		subs.credentials[used.id] = used
	}
	h.sockets.Add(1)
	h.count++
	subs.count++
	used.count++
	if follower {
		subs.followers.Add(1)
	}
	invalid, rewound := h.invalid[subs.account]
	if !rewound {
		invalid = -1
	}
	return reservation{
		subs: subs, credential: used, follower: follower, role: caller.Role, expires: used.expires.Load(), rights: used.rights.Load(), next: subs.log.Load().end(), lastSeq: h.lastSeq[subs.account],
		invalid: invalid, reconnects: subs.reconnects.Load(), recent: subs.recent.Load(),
	}, nil
}

// checkLimits refuses a new socket if the node is stopping or a limit is reached.
func (h *Hub) checkLimits(caller accounts.Caller, subs *subscribers) error {
	const public = "Keys of access evaluate may hold %d event sockets and streams each on this node, half of the account's limit, because whoever sees a web page has its key."
	switch half := h.AccountSockets / 2; {
	case h.stopping:
		return stopping()
	case h.Sockets > 0 && h.count >= h.Sockets:
		return tooMany("This node holds %d event sockets and streams, which is its limit (SIGNALBOX_STREAM_SOCKETS).", h.Sockets)
	case subs != nil && h.AccountSockets > 0 && subs.count >= h.AccountSockets:
		return tooMany("This account has %d event sockets and streams on this node, which is its limit (SIGNALBOX_STREAM_ACCOUNT_SOCKETS).", h.AccountSockets)
	case subs != nil && half > 0 && caller.Access == accounts.EvaluateAccess && subs.heldBy(caller) >= half:
		return tooMany(public, half)
	}
	return nil
}

// heldBy returns how many sockets a caller's key or session holds.
func (s *subscribers) heldBy(caller accounts.Caller) int {
	used := s.credentials[caller.Credential()]
	if used == nil {
		return 0
	}
	return used.count
}

func stopping() error {
	return fault.New(fault.Unavailable, "This node is shutting down. Connect again.")
}

func tooMany(format string, limit int) error {
	refusal := fault.New(fault.RateLimited, format, limit)
	refusal.RetryAfter = 30 * time.Second
	return refusal
}

// release frees the place of a socket.
func (h *Hub) release(subs *subscribers, used *credential, follower bool) {
	defer h.sockets.Done()
	h.mu.Lock()
	defer h.mu.Unlock()
	h.count--
	subs.count--
	if follower {
		subs.followers.Add(-1)
	}
	if used.count--; used.count == 0 {
		delete(subs.credentials, used.id)
	}
	if subs.count == 0 {
		delete(h.accounts, subs.account)
	}
}

// remove removes a socket once its connection has ended.
func (h *Hub) remove(s *socket) {
	s.shard.remove(s)
	h.release(s.subs, s.credential, s.follows != nil)
	h.meter.SocketClosed(s.ending.metric)
}

// flush offers a socket its unsent frames at once.
func (h *Hub) flush(s *socket) {
	h.meter.EventsSent(s.flush(s.subs.log.Load(), newFrameWriter()))
}
