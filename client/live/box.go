package live

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	signalbox "github.com/signalbox/signalbox/client"
	"github.com/signalbox/signalbox/client/jsonlogic"
)

// closeTimeout limits how long Close takes, and grace limits it when its context has already ended.
const (
	closeTimeout = 5 * time.Second
	grace        = time.Second
)

var errClosed = errors.New("live: the box is closed")

// Box has the flags, levels and configs of a running service. It is safe for concurrent use.
type Box struct {
	settings  settings
	noContext jsonlogic.Value // the data of rules without a context
	problems  *problems
	callbacks *dispatcher
	flags     *flagTable
	levels    *levelTable
	configs   *configTable
	reports   *reporter
	cache     *cache // nil keeps nothing
	expiry    bell   // rings when the state or a level's expiry has changed
	states    listeners
	moves     listeners // of levels

	stop       context.CancelFunc
	background sync.WaitGroup
	closing    sync.Once

	contents atomic.Pointer[contents] // the last known contents
	applying sync.Mutex
	expired  bool // levels may have ended in this box before the server ended them; guarded by applying
	mu       sync.Mutex
	state    State
	wasLive  bool
	moved    chan struct{} // closed at the next change of the state
}

// Start returns a box that stays in sync with the server until ctx ends or Close is called. It does not wait for the server.
// The error is about settings; the box is usable even then, with the values of the cache, the bootstrap file or the code.
func Start(ctx context.Context, options ...Option) (*Box, error) {
	s := newSettings(options)
	client, err := s.client()
	b := newBox(s, client)
	err = errors.Join(err, b.begin())
	if client == nil { // noteState would log that the server refuses the key
		b.state.Status, b.state.Err = Refused, err
		b.problems.warn("state", "Signalbox is not asked, because settings are missing or wrong; the last known values are served.", "error", err)
		return b, err
	}
	ctx, b.stop = context.WithCancel(ctx)
	follower := &syncer{box: b, client: client, timing: s.timing, pending: newWork(), wake: newBell()}
	b.background.Go(func() { follower.follow(ctx) })
	b.background.Go(func() { follower.load(ctx) })
	b.background.Go(func() { b.expireLevels(ctx, follower.confirm) })
	b.background.Go(func() { b.reports.run(ctx) })
	if b.cache != nil {
		b.background.Go(func() { b.cache.run(ctx, b.snapshot) })
	}
	return b, err
}

// Static returns a box without a server, and the function that sets another snapshot. Package signalboxtest uses it, and so
// can programs that get their snapshots another way.
func Static(snapshot signalbox.Snapshot) (*Box, func(signalbox.Snapshot)) {
	s := newSettings([]Option{WithEnvironment(snapshot.ID), WithoutCache()})
	b := newBox(s, nil)
	set := func(snapshot signalbox.Snapshot) {
		b.apply(newContents(s.environment, snapshot), nil)
		b.noteState(Live, nil, false)
	}
	set(snapshot)
	return b, set
}

func newBox(s settings, client *signalbox.Client) *Box {
	found := newProblems(s.log)
	b := &Box{
		settings: s, noContext: serviceContext(s.service), problems: found, callbacks: &dispatcher{problems: found},
		flags: newFlagTable(s.environment), levels: newLevelTable(s.environment), stop: func() {}, moved: make(chan struct{}), expiry: newBell(),
		configs: &configTable{problems: found, declared: map[configIdentity]declaredConfig{}},
		state:   State{Status: Starting, Since: time.Now()},
	}
	b.contents.Store(&contents{environment: s.environment})
	b.reports = newReporter(b, client)
	return b
}

// begin applies the first values, from the cache or else from the bootstrap file.
func (b *Box) begin() error {
	b.cache = newCache(b.settings, b.problems)
	if b.cache != nil {
		if snapshot, at, found := b.cache.read(); found {
			b.beginWith(snapshot, at, false)
			return nil
		}
	}
	if b.settings.bootstrap == "" {
		return nil
	}
	snapshot, at, err := readSnapshot(b.settings.bootstrap)
	if err != nil {
		return fmt.Errorf("live: reading the bootstrap file: %w", err)
	}
	b.beginWith(snapshot, at, true)
	return nil
}

func (b *Box) beginWith(snapshot signalbox.Snapshot, at time.Time, bootstrap bool) {
	known := newContents(b.settings.environment, snapshot)
	known.confirmed, known.bootstrap = false, bootstrap
	b.apply(known, nil)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.state.Since = at
}

// Ready waits until the box has the values of the server. It returns an error when the server refuses the key or ctx ends
// first; the box keeps trying in both cases. If settings are missing or wrong, it returns the error of [Start].
func (b *Box) Ready(ctx context.Context) error {
	for {
		b.mu.Lock()
		state, live, moved := b.state, b.wasLive, b.moved
		b.mu.Unlock()
		switch {
		case live:
			return nil
		case b.reports.client == nil: // settings are missing or wrong, and nothing will change
			return state.Err
		case state.Status == Refused:
			return fmt.Errorf("live: the server refuses the service: %w", state.Err)
		}
		select {
		case <-moved:
		case <-ctx.Done():
			return fmt.Errorf("live: the server has not answered (%s): %w", state, context.Cause(ctx))
		}
	}
}

// Environment returns the environment of the values.
func (b *Box) Environment() string { return b.settings.environment }

// State returns how current the values are.
func (b *Box) State() State {
	b.mu.Lock()
	defer b.mu.Unlock()
	state := b.state
	state.Seq = b.contents.Load().seq
	return state
}

// OnState calls a function with the new state after each change. stop ends the calls.
func (b *Box) OnState(listener func(State)) (stop func()) {
	last := b.State()
	return b.states.add(b.callbacks, func() {
		now := b.State()
		if now.Status != last.Status || now.Polling != last.Polling {
			last = now
			listener(now)
		}
	})
}

// OnFlagChange calls a function with the keys of flags that were changed, created or deleted in the box's environment. stop ends
// the calls.
func (b *Box) OnFlagChange(listener func(keys []string)) (stop func()) {
	return b.flags.listeners.add(b.callbacks, listener)
}

// OnLevelChange calls a function after the levels of loggers may have changed; [Box.ControlledLoggers] has them. stop ends the
// calls.
func (b *Box) OnLevelChange(listener func()) (stop func()) { return b.moves.add(b.callbacks, listener) }

// HasValues reports whether the box has values of the server, from the server itself or from the cache or bootstrap file.
func (b *Box) HasValues() bool { return b.contents.Load().seq > 0 }

// Close ends the synchronization and sends the pending reports, for five seconds at most. If ctx has already ended, such as
// the context of a program that was told to stop, it takes a second at most. Values can still be read. Close logs a report
// that fails instead of returning an error, because callers cannot repair it.
func (b *Box) Close(ctx context.Context) {
	b.closing.Do(func() { b.close(ctx) })
}

func (b *Box) close(ctx context.Context) {
	limit := closeTimeout
	if ctx.Err() != nil {
		limit = grace
		ctx = context.WithoutCancel(ctx)
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	b.stop()
	ended := make(chan struct{})
	go func() { b.background.Wait(); close(ended) }()
	select {
	case <-ended:
	case <-ctx.Done(): // the disk under the cache hangs
		return
	}
	b.reports.finish(ctx)
	if b.cache != nil {
		b.cache.finish(b.snapshot)
	}
	b.noteState(Stale, errClosed, false)
}

func (b *Box) snapshot() signalbox.Snapshot { return b.contents.Load().snapshot() }

// apply makes next the current contents. loaded are the keys of the flags that may differ; nil is all.
func (b *Box) apply(next *contents, loaded []string) {
	b.applying.Lock()
	defer b.applying.Unlock()
	before := b.contents.Swap(next)
	b.flags.replace(next.flags, changedFlags(before.flags, next.flags, loaded))
	levels := next
	if !next.confirmed {
		levels, _ = next.unexpired(time.Now())
	}
	b.applyLevels(levels)
	b.expired = !next.confirmed
	b.expiry.ring()
	b.configs.replace(next.configs)
	if b.cache != nil {
		b.cache.changed.ring()
	}
}

// moveTo records that the contents are still current after change seq. It does not write the cache, because the changes in
// between concern nothing that a box has.
func (b *Box) moveTo(seq int64) {
	b.applying.Lock()
	defer b.applying.Unlock()
	next := *b.contents.Load()
	next.seq = seq
	b.contents.Store(&next)
}

// applyLevels sets the levels of all loggers, and triggers a report if one changed.
func (b *Box) applyLevels(of *contents) {
	if b.levels.replace(newTree(of.loggers, of.groups)) {
		b.reports.levelsChanged()
	}
	b.moves.notify()
}

// noteState sets the state. If the status or polling changed, it notifies listeners and logs the loss of the server.
func (b *Box) noteState(status Status, err error, polling bool) {
	b.mu.Lock()
	before := b.state
	b.state = State{Status: status, Since: before.Since, Err: err, Polling: polling}
	if before.Status != status && (before.Status != Starting || status == Live) {
		b.state.Since = time.Now()
	}
	first := status == Live && !b.wasLive
	b.wasLive = b.wasLive || status == Live
	moved := before.Status != status || before.Polling != polling
	if moved {
		close(b.moved)
		b.moved = make(chan struct{})
	}
	b.mu.Unlock()
	if !moved {
		return
	}
	if first {
		b.reports.begin()
	}
	b.expiry.ring()
	b.states.notify()
	b.logState(before.Status, status, err)
}

func (b *Box) logState(before, now Status, err error) {
	switch {
	case errors.Is(err, errClosed) || before == now:
	case now == Stale:
		b.problems.warn("state", "Signalbox cannot be reached; the last known values are served until it can.", "error", err)
	case now == Refused:
		b.problems.warn("state", "Signalbox refuses the service's API key; the last known values are served. Give the service another key.", "error", err)
	}
}
