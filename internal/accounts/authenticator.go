package accounts

import (
	"context"
	"log/slog"
	"maps"
	"sync"
	"sync/atomic"
	"time"

	"github.com/signalbox/signalbox/internal/background"
	"github.com/signalbox/signalbox/internal/changes"
	"github.com/signalbox/signalbox/internal/fault"
)

const (
	// maxRemembered bounds the memory; past it everything is forgotten, which
	// costs each key in use one lookup.
	maxRemembered = 100_000
	// useInterval is the pace at which last_used_at is considered for writing.
	useInterval = time.Second
	// usePrecision is how exact last_used_at is while a key is in steady use.
	usePrecision = 30 * time.Second
)

// Directory is where the Authenticator looks keys up and notes their use.
type Directory interface {
	// KeyByHash gives the key with a hash, of any account.
	KeyByHash(ctx context.Context, hash string) (Key, error)
	// NoteUses sets last_used_at of keys, unless it is later already.
	NoteUses(ctx context.Context, uses map[string]time.Time) error
}

// Authenticator turns a bearer token into a Caller. See the package's
// documentation for its protocol.
type Authenticator struct {
	// Directory is where keys are looked up.
	Directory Directory
	// Live tells whether changes of keys reach Forget; while it is false every
	// request is looked up.
	Live func() bool
	// Now is the clock.
	Now func() time.Time
	Log *slog.Logger
	// Count receives "hit", "miss" or "refused" for every request.
	Count func(result string)

	mu         sync.RWMutex
	byDigest   map[digest]*session
	byKey      map[string]*session
	uses       map[string]*use // by key id; they outlive sessions
	generation uint64

	loop background.Loop
}

// session is a key that has been seen.
type session struct {
	digest digest
	key    Key
	caller Caller
	use    *use
}

// use is when a key was last used.
type use struct {
	at      atomic.Int64 // microseconds
	written int64        // microseconds; owned by the loop
}

// Authenticate gives the caller behind a token, or an Unauthorized refusal.
func (a *Authenticator) Authenticate(ctx context.Context, token string) (Caller, error) {
	known, result, err := a.find(ctx, ParseSecret(token))
	now := a.Now()
	if err == nil && !known.key.Works(now) {
		err = fault.New(fault.Unauthorized, "This API key has been revoked or has expired.")
	}
	if fault.Is(err, fault.Unauthorized) {
		result = "refused"
	}
	a.Count(result)
	if err != nil {
		return Caller{}, err
	}
	known.use.at.Store(now.UnixMicro())
	return known.caller, nil
}

func (a *Authenticator) find(ctx context.Context, secret Secret) (known *session, result string, err error) {
	known, generation := a.recall(secret.digest())
	if known != nil {
		return known, "hit", nil
	}
	known, err = a.lookUp(ctx, secret, generation)
	return known, "miss", err
}

// Hear takes a change from the feed and forgets the key it is about.
func (a *Authenticator) Hear(change changes.Change) {
	if change.Kind == KindKey {
		a.Forget(change.Key)
	}
}

// Forget makes the next request with a key look it up again.
func (a *Authenticator) Forget(keyID string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.generation++
	if known, ok := a.byKey[keyID]; ok {
		delete(a.byKey, keyID)
		delete(a.byDigest, known.digest)
	}
}

func (a *Authenticator) recall(hash digest) (*session, uint64) {
	a.mu.RLock()
	defer a.mu.RUnlock()
	if !a.Live() {
		return nil, a.generation
	}
	return a.byDigest[hash], a.generation
}

func (a *Authenticator) lookUp(ctx context.Context, secret Secret, generation uint64) (*session, error) {
	key, err := a.Directory.KeyByHash(ctx, secret.Hash())
	if fault.Is(err, fault.NotFound) {
		return nil, fault.New(fault.Unauthorized, "This API key is not known here.")
	}
	if err != nil {
		return nil, err
	}
	seen := &session{digest: secret.digest(), key: key, caller: key.Caller()}
	return a.remember(seen, generation), nil
}

// remember keeps a session unless a change arrived while it was looked up.
func (a *Authenticator) remember(seen *session, generation uint64) *session {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.byDigest == nil || len(a.byDigest) >= maxRemembered {
		a.byDigest, a.byKey = map[digest]*session{}, map[string]*session{}
	}
	if len(a.uses) >= maxRemembered {
		a.dropUses()
	}
	seen.use = a.useOf(seen.key.ID)
	if a.generation != generation {
		return seen
	}
	if known, ok := a.byDigest[seen.digest]; ok && a.Live() {
		return known
	}
	a.byDigest[seen.digest], a.byKey[seen.key.ID] = seen, seen
	return seen
}

// useOf gives the use of a key, which every session of it shares.
func (a *Authenticator) useOf(keyID string) *use {
	if a.uses == nil {
		a.uses = map[string]*use{}
	}
	known, ok := a.uses[keyID]
	if !ok {
		known = &use{}
		a.uses[keyID] = known
	}
	return known
}

// dropUses forgets the uses of keys without a session, written or not: memory
// is bounded before all else.
func (a *Authenticator) dropUses() {
	maps.DeleteFunc(a.uses, func(id string, _ *use) bool {
		_, inUse := a.byKey[id]
		return !inUse
	})
}

// ForgetAll makes the next request of every key look it up again.
func (a *Authenticator) ForgetAll() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.generation++
	a.byDigest, a.byKey = nil, nil
}

// Start begins to write when keys were used.
func (a *Authenticator) Start(ctx context.Context) {
	a.loop.Start(ctx, func(ctx context.Context) {
		background.Every(ctx, useInterval, func(ctx context.Context) { a.writeUses(ctx, usePrecision) })
	})
}

// Stop writes what is not written yet and ends.
func (a *Authenticator) Stop(ctx context.Context) {
	a.loop.Stop()
	a.writeUses(ctx, 0)
}

// writeUses writes the use of keys whose written use is older than a precision.
func (a *Authenticator) writeUses(ctx context.Context, precision time.Duration) {
	due := a.usesOlderThan(precision)
	if len(due) == 0 {
		return
	}
	uses := make(map[string]time.Time, len(due))
	for id, at := range due {
		uses[id] = time.UnixMicro(at).UTC()
	}
	if err := a.Directory.NoteUses(ctx, uses); err != nil {
		a.Log.Debug("Could not write when keys were last used; it is tried again.", "error", err)
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	for id, at := range due {
		if known, ok := a.uses[id]; ok {
			known.written = at
		}
	}
}

// usesOlderThan lists what is to be written, and drops what is written of keys
// that no session uses any more.
func (a *Authenticator) usesOlderThan(precision time.Duration) map[string]int64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	due := map[string]int64{}
	for id, known := range a.uses {
		at := known.at.Load()
		switch _, inUse := a.byKey[id]; {
		case at > known.written && (known.written == 0 || at-known.written >= precision.Microseconds() || !inUse):
			due[id] = at
		case at == known.written && !inUse:
			delete(a.uses, id)
		}
	}
	return due
}
