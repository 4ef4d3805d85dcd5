package accounts

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/signalbox/signalbox/internal/changes"
	"github.com/signalbox/signalbox/internal/fault"
)

const (
	// maxRemembered bounds the memory. Past it everything is forgotten, which
	// costs each key in use one lookup.
	maxRemembered = 100_000
	// usePrecision is how exact last_used_at is while a key is in steady use.
	usePrecision = 10 * time.Second
)

// Directory is where the Authenticator looks keys up.
type Directory interface {
	// KeyByHash returns the key with a hash, of any account.
	KeyByHash(ctx context.Context, hash string) (Key, error)
}

// Authenticator turns a bearer token into a Caller. See the package's
// documentation for its protocol.
type Authenticator struct {
	Directory Directory
	// Live reports whether changes of keys reach Hear; while it is false every
	// request is looked up.
	Live func() bool
	// Now is the clock.
	Now func() time.Time
	// Count receives "hit", "miss" or "refused" for every request.
	Count func(result string)
	// Used receives when a key was used, now and then while it is.
	Used func(account, keyID string, at time.Time)

	mu         sync.RWMutex
	byDigest   map[digest]*session
	byKey      map[string]*session
	generation uint64
	refusals   refusals
}

// session is a key that has been seen.
type session struct {
	digest digest
	key    Key
	caller Caller
	noted  atomic.Int64 // when Used was told last, in microseconds
}

// Authenticate returns the caller behind a token, or an Unauthorized refusal. The
// peer is the address that the token comes from: one that sends many wrong ones is
// RateLimited.
func (a *Authenticator) Authenticate(ctx context.Context, token, peer string) (Caller, error) {
	known, result, err := a.find(ctx, ParseSecret(token), peer)
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
	a.noteUse(known, now)
	return known.caller, nil
}

// noteUse tells Used about a use, unless it heard of one shortly before.
func (a *Authenticator) noteUse(known *session, now time.Time) {
	noted, at := known.noted.Load(), now.UnixMicro()
	if at-noted >= usePrecision.Microseconds() && known.noted.CompareAndSwap(noted, at) {
		a.Used(known.key.Account, known.key.ID, now)
	}
}

func (a *Authenticator) find(ctx context.Context, secret Secret, peer string) (known *session, result string, err error) {
	hash := secret.digest()
	known, generation := a.remembered(hash)
	if known != nil {
		return known, "hit", nil
	}
	if err := a.refusals.admit(hash, peer, generation, a.Live(), a.Now()); err != nil {
		return nil, "refused", err
	}
	known, err = a.lookUp(ctx, secret, generation)
	a.refusals.looked(hash, peer, generation, err, a.Now())
	return known, "miss", err
}

// Hear takes a change from the feed, and forgets the key that it is about.
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

func (a *Authenticator) remembered(hash digest) (*session, uint64) {
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
		return nil, errUnknownKey()
	}
	if err != nil {
		return nil, err
	}
	seen := &session{digest: secret.digest(), key: key, caller: key.Caller()}
	return a.remember(seen, generation), nil
}

// remember keeps a session, unless a change arrived while it was looked up.
func (a *Authenticator) remember(seen *session, generation uint64) *session {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.byDigest == nil || len(a.byDigest) >= maxRemembered {
		a.byDigest, a.byKey = map[digest]*session{}, map[string]*session{}
	}
	if a.generation != generation {
		return seen
	}
	if known, ok := a.byDigest[seen.digest]; ok && a.Live() {
		return known
	}
	a.byDigest[seen.digest], a.byKey[seen.key.ID] = seen, seen
	return seen
}

// ForgetAll makes the next request of every key look it up again.
func (a *Authenticator) ForgetAll() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.generation++
	a.byDigest, a.byKey = nil, nil
}
