package live

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	signalbox "github.com/signalbox/signalbox/client"
)

const (
	// stable is how long a connection must last before the backoff starts from its first delay
	// again.
	stable = 10 * time.Second
	// maxSingle is how many changes are read one by one; a larger number is loaded as one snapshot.
	maxSingle = 8
)

// errServerStale is the error of the state while the server answers from memory.
var errServerStale = errors.New("live: the server cannot reach its database; these are the last values that it knows")

// syncer keeps a box in sync. One goroutine follows the event socket, or polls while there is none; another loads the changed
// resources. Loads never overlap, so that an older answer cannot replace a newer one.
type syncer struct {
	box     *Box
	client  *signalbox.Client
	timing  timing
	loading sync.Mutex
	etag    string // of the last snapshot; empty once a single resource was applied after it; guarded by loading

	linked atomic.Bool // the socket is open

	mu      sync.Mutex
	since   *int64 // the number of the last event; nil before the first snapshot
	pending work
	wake    bell // rings when something is pending
}

// work has the parts and resources to load.
type work struct {
	whole                  parts
	flags, loggers, groups map[string]bool
	seq                    int64 // of the last event
}

func newWork() work {
	return work{flags: map[string]bool{}, loggers: map[string]bool{}, groups: map[string]bool{}}
}

func (w work) single() int { return len(w.flags) + len(w.loggers) + len(w.groups) }

// follow keeps the socket open until ctx ends.
func (s *syncer) follow(ctx context.Context) {
	s.poll(ctx, nil)
	for attempt := 1; ctx.Err() == nil; attempt++ {
		began := time.Now()
		connected, err := s.listen(ctx)
		if ctx.Err() != nil {
			return
		}
		if connected && time.Since(began) > stable {
			attempt = 1
		}
		longest := s.timing.maxBackoff
		if connected {
			s.box.noteState(Stale, err, false)
		} else if s.poll(ctx, err) {
			longest = s.timing.poll
		}
		if sleep(ctx, backoff(attempt, s.timing.minBackoff, longest)) != nil {
			return
		}
	}
}

// listen opens the socket and requests the resources of its events, until the socket closes. It returns the reason.
func (s *syncer) listen(ctx context.Context) (connected bool, err error) {
	defer s.linked.Store(false)
	for event, err := range s.client.Events.Follow(ctx, s.params()) {
		if err != nil {
			return connected, err
		}
		if event.Name == signalbox.EventConnected {
			connected = true
			s.link(event)
			continue
		}
		s.request(event)
	}
	return connected, nil
}

func (s *syncer) params() signalbox.EventParams {
	s.mu.Lock()
	defer s.mu.Unlock()
	return signalbox.EventParams{Since: s.since, Service: s.box.settings.service, Environment: s.box.settings.environment, Once: true}
}

// link records that the socket is open. If events were missed, everything is loaded before the box is live.
func (s *syncer) link(event signalbox.Event) {
	s.mu.Lock()
	s.linked.Store(true)
	s.since = &event.Seq
	if !event.Resumed {
		s.pending.whole = parts{true, true, true}
	}
	waiting := s.pending.whole.any() || s.pending.single() > 0
	s.mu.Unlock()
	if waiting {
		s.wake.ring()
		return
	}
	s.box.noteState(Live, nil, false)
}

// request adds the resource of an event to the pending work.
func (s *syncer) request(event signalbox.Event) {
	s.mu.Lock()
	s.since = &event.Seq
	switch event.Name {
	case signalbox.EventFlagChanged, signalbox.EventFlagDeleted:
		s.pending.flags[event.ID] = true
	case signalbox.EventLoggerChanged, signalbox.EventLoggerDeleted:
		s.pending.loggers[event.ID] = true
	case signalbox.EventGroupChanged, signalbox.EventGroupDeleted:
		s.pending.groups[event.ID] = true
	case signalbox.EventFlagsChanged:
		s.pending.whole.flags = true
	case signalbox.EventLoggersChanged:
		s.pending.whole.levels = true
	case signalbox.EventConfigChanged, signalbox.EventConfigDeleted, signalbox.EventConfigsChanged:
		s.pending.whole.configs = true // configs that inherit from it change too
	}
	s.mu.Unlock()
	s.wake.ring()
}

// load loads the pending work until ctx ends. Events that arrive during a load are loaded together afterward.
func (s *syncer) load(ctx context.Context) {
	for attempt := 1; ; {
		select {
		case <-ctx.Done():
			return
		case <-s.wake:
		}
		if s.anyWhole() && sleep(ctx, s.timing.settle) != nil {
			return
		}
		if err := s.refresh(ctx, s.take()); err == nil {
			attempt = 1
			continue
		}
		if sleep(ctx, backoff(attempt, s.timing.minBackoff, s.timing.maxBackoff)) != nil {
			return
		}
		attempt++
		s.wake.ring()
	}
}

func (s *syncer) anyWhole() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.pending.whole.any()
}

// take returns the pending work. If it has many single resources, it asks for the whole parts instead.
func (s *syncer) take() work {
	s.mu.Lock()
	defer s.mu.Unlock()
	taken := s.pending
	s.pending = newWork()
	if s.since != nil {
		taken.seq = *s.since
	}
	if taken.single() > maxSingle {
		taken.whole.flags = taken.whole.flags || len(taken.flags) > 0
		taken.whole.levels = taken.whole.levels || len(taken.loggers)+len(taken.groups) > 0
	}
	return taken
}

// refresh loads and applies work.
func (s *syncer) refresh(ctx context.Context, wanted work) error {
	s.loading.Lock()
	defer s.loading.Unlock()
	return s.noteLoad(ctx, s.fetch(ctx, wanted))
}

// confirm loads the levels because the server should have ended one. Its timeout is shorter than that of other loads.
func (s *syncer) confirm(ctx context.Context) {
	s.loading.Lock()
	defer s.loading.Unlock()
	limited, cancel := context.WithTimeout(ctx, confirmTimeout)
	defer cancel()
	if s.noteLoad(ctx, s.fetch(limited, work{whole: parts{levels: true}})) != nil {
		s.wake.ring()
	}
}

// noteLoad sets the state after a load. After a failed load, the next attempt loads everything.
func (s *syncer) noteLoad(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		s.mu.Lock()
		s.pending.whole = parts{true, true, true}
		s.mu.Unlock()
		s.box.noteState(failure(err), err, false)
		return err
	}
	if s.linked.Load() {
		s.box.noteState(Live, nil, false)
	}
	return nil
}

func (s *syncer) fetch(ctx context.Context, wanted work) error {
	if wanted.whole.any() {
		if err := s.fetchSnapshot(ctx, wanted.whole); err != nil {
			return err
		}
	}
	if wanted.whole.flags {
		wanted.flags = nil
	}
	if wanted.whole.levels {
		wanted.loggers, wanted.groups = nil, nil
	}
	if wanted.single() == 0 {
		return nil
	}
	return s.fetchSingle(ctx, wanted)
}

// poll loads the snapshot because there is no socket; reason is why. It reports whether loading succeeded.
func (s *syncer) poll(ctx context.Context, reason error) bool {
	s.loading.Lock()
	defer s.loading.Unlock()
	err := s.fetchSnapshot(ctx, parts{true, true, true})
	switch {
	case ctx.Err() != nil:
		return false
	case err != nil:
		s.box.noteState(failure(err), err, false)
		return false
	}
	s.box.noteState(Live, reason, reason != nil)
	return true
}

// fetchSnapshot loads parts of the snapshot and applies them. A request for all parts has the ETag, so that an unchanged
// snapshot is not sent again.
func (s *syncer) fetchSnapshot(ctx context.Context, wanted parts) error {
	var params signalbox.SnapshotParams
	if wanted.all() {
		params.ETag = s.etag
	} else {
		params.Include = wanted.include()
	}
	snapshot, err := s.client.Snapshots.Get(ctx, s.box.settings.environment, params)
	switch unmodified := errors.Is(err, signalbox.ErrNotModified); {
	case err != nil && !unmodified:
		return err
	case s.box.contents.Load().outranks(snapshot):
		// The contents are newer than the server's memory from before it lost its database.
	case unmodified:
		s.moveOn(snapshot)
	default:
		s.applySnapshot(snapshot, wanted)
	}
	if snapshot.StaleSince != nil {
		return fmt.Errorf("%w since %s", errServerStale, snapshot.StaleSince.UTC().Format(time.RFC3339))
	}
	return nil
}

// applySnapshot replaces the loaded parts of the contents by a snapshot's.
func (s *syncer) applySnapshot(snapshot signalbox.Snapshot, loaded parts) {
	s.etag = ""
	if loaded.all() {
		s.begin(snapshot.Seq)
		if snapshot.StaleSince == nil {
			s.etag = snapshot.ETag
		}
	}
	s.box.apply(s.box.contents.Load().with(snapshot, loaded), nil)
}

// moveOn records the account's last change after an unmodified snapshot.
func (s *syncer) moveOn(confirmed signalbox.Snapshot) {
	if confirmed.Seq > 0 && confirmed.StaleSince == nil {
		s.begin(confirmed.Seq)
		s.box.moveTo(confirmed.Seq)
	}
}

// begin sets the change after which the socket resumes. An open socket has a newer one already.
func (s *syncer) begin(seq int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.since == nil || !s.linked.Load() {
		s.since = &seq
	}
}

func (p parts) include() []signalbox.SnapshotPart {
	var list []signalbox.SnapshotPart
	if p.flags {
		list = append(list, signalbox.SnapshotFlags)
	}
	if p.levels {
		list = append(list, signalbox.SnapshotLevels)
	}
	if p.configs {
		list = append(list, signalbox.SnapshotConfigs)
	}
	return list
}

// fetchSingle reads resources one by one and applies them together.
func (s *syncer) fetchSingle(ctx context.Context, wanted work) error {
	s.etag = ""
	flags, err := each(ctx, wanted.flags, s.client.Flags.Get)
	if err != nil {
		return err
	}
	loggers, err := each(ctx, wanted.loggers, s.client.Loggers.Get)
	if err != nil {
		return err
	}
	groups, err := each(ctx, wanted.groups, s.client.LogGroups.Get)
	if err != nil {
		return err
	}
	keys := slices.AppendSeq([]string{}, maps.Keys(flags)) // not nil, because nil is all flags
	s.box.apply(s.box.contents.Load().withResources(wanted.seq, flags, loggers, groups), keys)
	return nil
}

// each reads resources. A resource that does not exist is nil.
func each[T any](ctx context.Context, ids map[string]bool, get func(context.Context, string) (T, error)) (map[string]*T, error) {
	found := make(map[string]*T, len(ids))
	for id := range ids {
		resource, err := get(ctx, id)
		switch {
		case signalbox.IsNotFound(err):
			found[id] = nil
		case err != nil:
			return nil, err
		default:
			found[id] = &resource
		}
	}
	return found, nil
}

// failure returns the status after an error.
func failure(err error) Status {
	if signalbox.IsUnauthorized(err) || signalbox.IsForbidden(err) {
		return Refused
	}
	return Stale
}

// backoff returns the pause before an attempt. Half of it is random, so that a fleet does not reconnect at once.
func backoff(attempt int, shortest, longest time.Duration) time.Duration {
	pause := min(shortest, longest)
	for range attempt - 1 {
		if pause >= longest {
			break
		}
		pause = min(2*pause, longest)
	}
	return pause/2 + rand.N(pause/2+1)
}

// sleep waits unless ctx ends first.
func sleep(ctx context.Context, pause time.Duration) error {
	select {
	case <-time.After(pause):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
