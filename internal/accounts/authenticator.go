package accounts

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/signalbox/signalbox/internal/changes"
	"github.com/signalbox/signalbox/internal/coalesce"
	"github.com/signalbox/signalbox/internal/fault"
)

const (
	// maxRemembered bounds the remembered keys. At the bound all keys are forgotten,
	// and each key in use is looked up once more.
	maxRemembered = 100_000
	// usePrecision is the precision of last_used_at for a key in steady use.
	usePrecision = 10 * time.Second
)

// Versions has the sequence numbers of an account's latest changes.
type Versions struct {
	Changes int64 // of the last change
	Access  int64 // of the last change whose kind DecidesAccess
}

// DecidesAccess reports whether changes of this kind of resource can alter the rights
// of a remembered caller.
func DecidesAccess(kind string) bool {
	return kind == KindKey || kind == KindUser || kind == KindSession
}

// Directory looks up keys and sessions for the Authenticator.
type Directory interface {
	// KeyByHash returns the key with this hash in any account, and the versions of
	// that account. Both are from one state of the database.
	KeyByHash(ctx context.Context, hash string) (Key, Versions, error)
	// KeyByID is like KeyByHash for an account's key with this id.
	KeyByID(ctx context.Context, account, id string) (Key, Versions, error)
	// SessionByHash returns the session with this hash in any account, and versions of
	// that account that are not newer than the session.
	SessionByHash(ctx context.Context, hash string) (SignedIn, Versions, error)
	// Existing reports which of these hashes belong to active keys or open sessions.
	Existing(ctx context.Context, hashes []string) (map[string]bool, error)
	// Versions returns an account's versions. They include every change that was
	// acknowledged before the call.
	Versions(ctx context.Context, account string) (Versions, error)
}

// Authenticator turns a bearer token into a Caller, as the package documentation
// describes.
type Authenticator struct {
	Directory Directory
	// Live reports whether Hear receives the changes of keys. While Live is false,
	// every unknown key is looked up.
	Live func() bool
	// Now is the clock.
	Now func() time.Time
	// Count receives "hit", "miss" or "refused" for every request.
	Count func(result string)
	// Used is called when a key is used, at most once per usePrecision.
	Used func(account, keyID string, at time.Time)
	// SessionUsed is called when a session is used, at most once per usePrecision.
	SessionUsed func(account, sessionID string, at time.Time)

	mu         sync.RWMutex
	byDigest   map[digest]*rememberedKey
	byKey      map[string]*rememberedKey
	generation uint64
	refusals   refusals
	checks     coalesce.Group[struct{}, string, map[string]bool] // of unknown keys; see refusals
	seen       sessionMemory
}

// rememberedKey is a key that was looked up before. It is valid while the account's
// access version equals caller.access.
type rememberedKey struct {
	digest digest
	key    Key
	caller Caller
	noted  atomic.Int64 // when Used was last called, in microseconds
}

// newRememberedKey returns a key that was read while the account had this access version.
func newRememberedKey(hash digest, key Key, access int64) *rememberedKey {
	return &rememberedKey{digest: hash, key: key, caller: key.Caller().readAt(access)}
}

// Authenticate returns the caller behind a token, or an Unauthorized refusal. peer is
// the address of the sender. Unknown tokens of an address that sends many wrong ones are
// checked together, so that guessing costs the database little and right tokens do not wait.
func (a *Authenticator) Authenticate(ctx context.Context, token, peer string) (Caller, error) {
	known, version, result, err := a.find(ctx, ParseSecret(token), peer)
	return a.callerOf(known, version, result, err)
}

// AuthenticateKey returns the caller behind the id of a key, or an Unauthorized refusal. It is for
// requests with a token that this server has signed for the key.
func (a *Authenticator) AuthenticateKey(ctx context.Context, account, id string) (Caller, error) {
	known, version, result, err := a.findByID(ctx, account, id)
	return a.callerOf(known, version, result, err)
}

// callerOf returns the caller behind a key that was found, if the key works.
func (a *Authenticator) callerOf(known *rememberedKey, version int64, result string, err error) (Caller, error) {
	now := a.Now()
	if err == nil && !known.key.Works(now) {
		err = errKeyEnded()
	}
	if fault.Is(err, fault.Unauthorized) {
		result = "refused"
	}
	a.Count(result)
	if err != nil {
		return Caller{}, err
	}
	a.noteUse(known, now)
	caller := known.caller
	caller.Version = version
	return caller, nil
}

// noteUse calls Used, at most once per usePrecision for each key.
func (a *Authenticator) noteUse(known *rememberedKey, now time.Time) {
	noted, at := known.noted.Load(), now.UnixMicro()
	if at-noted >= usePrecision.Microseconds() && known.noted.CompareAndSwap(noted, at) {
		a.Used(known.key.Account, known.key.ID, now)
	}
}

// find returns a key, from memory or from the database, and the account's version.
func (a *Authenticator) find(ctx context.Context, secret Secret, peer string) (known *rememberedKey, version int64, result string, err error) {
	hash := secret.digest()
	known, generation := a.remembered(hash)
	if current, version, err := a.confirm(ctx, known); current || err != nil {
		return known, version, resultOf(current), err
	}
	if err := a.admit(ctx, secret, peer, generation); err != nil {
		return nil, 0, "refused", err
	}
	found, version, err := a.lookUp(ctx, secret, generation)
	a.refusals.looked(hash, peer, generation, err, a.Now())
	if known != nil && fault.Is(err, fault.Unauthorized) { // after an outage the key stays, because Recall may need it
		a.forget(known)
	}
	return found, version, resultOf(false), err
}

// findByID returns a key of an account, from memory or from the database, and the account's version.
func (a *Authenticator) findByID(ctx context.Context, account, id string) (known *rememberedKey, version int64, result string, err error) {
	a.mu.RLock()
	known, generation := a.byKey[id], a.generation
	a.mu.RUnlock()
	if current, version, err := a.confirm(ctx, known); current || err != nil {
		return known, version, resultOf(current), err
	}
	found, versions, err := a.Directory.KeyByID(ctx, account, id)
	if fault.Is(err, fault.NotFound) {
		err = errUnknownKey()
		if known != nil {
			a.forget(known)
		}
	}
	if err != nil {
		return nil, 0, resultOf(false), err
	}
	hash, err := digestOf(found.Hash)
	if err != nil {
		return nil, 0, resultOf(false), err
	}
	return a.remember(newRememberedKey(hash, found, versions.Access), generation), versions.Changes, resultOf(false), nil
}

// confirm reports whether a remembered key is current, and returns the version of its account. known may be nil.
func (a *Authenticator) confirm(ctx context.Context, known *rememberedKey) (current bool, version int64, err error) {
	if known == nil {
		return false, 0, nil
	}
	versions, err := a.Directory.Versions(ctx, known.key.Account)
	if fault.Is(err, fault.NotFound) {
		return false, 0, nil
	}
	return err == nil && versions.Access == known.caller.access, versions.Changes, err
}

// resultOf returns the result that Count receives for a key that was not refused.
func resultOf(current bool) string {
	if current {
		return "hit"
	}
	return "miss"
}

// Hear receives a change from the feed and forgets the changed key. It also forgets
// all sessions, because some may have been opened with the key. There are few
// sessions.
func (a *Authenticator) Hear(change changes.Change) {
	if change.Kind != KindKey {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.generation++
	if known := a.byKey[change.Key]; known != nil && known.caller.access < change.Seq { // otherwise the key was read after the change
		a.drop(known)
	}
	a.seen.forget()
}

// Recall returns the caller behind a remembered token during a database outage. It may
// still accept a key that was revoked just before the outage, if the feed has not
// reported the revocation.
func (a *Authenticator) Recall(token string) (Caller, bool) {
	a.mu.RLock()
	known := a.byDigest[ParseSecret(token).digest()]
	a.mu.RUnlock()
	if known == nil || !known.key.Works(a.Now()) {
		return Caller{}, false
	}
	return known.caller, true
}

// Forget makes the next request with a key look it up again.
func (a *Authenticator) Forget(keyID string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.generation++
	a.drop(a.byKey[keyID])
}

// forget drops a remembered key, unless a newer version of the key has replaced it.
func (a *Authenticator) forget(known *rememberedKey) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.byDigest[known.digest] == known {
		a.drop(known)
	}
}

// drop removes a remembered key, which may be nil. The caller holds the lock.
func (a *Authenticator) drop(known *rememberedKey) {
	if known != nil {
		delete(a.byKey, known.key.ID)
		delete(a.byDigest, known.digest)
	}
}

func (a *Authenticator) remembered(hash digest) (*rememberedKey, uint64) {
	a.mu.RLock()
	defer a.mu.RUnlock()
	return a.byDigest[hash], a.generation
}

func (a *Authenticator) lookUp(ctx context.Context, secret Secret, generation uint64) (*rememberedKey, int64, error) {
	key, versions, err := a.Directory.KeyByHash(ctx, secret.Hash())
	if fault.Is(err, fault.NotFound) {
		return nil, 0, errUnknownKey()
	}
	if err != nil {
		return nil, 0, err
	}
	return a.remember(newRememberedKey(secret.digest(), key, versions.Access), generation), versions.Changes, nil
}

// remember stores a key and returns it. If any key changed during the lookup, remember
// does not store it. If a newer version of the key is stored already, remember returns
// the newer one.
func (a *Authenticator) remember(seen *rememberedKey, generation uint64) *rememberedKey {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.byDigest == nil || len(a.byDigest) >= maxRemembered {
		a.byDigest, a.byKey = map[digest]*rememberedKey{}, map[string]*rememberedKey{}
	}
	if a.generation != generation {
		return seen
	}
	if known, ok := a.byDigest[seen.digest]; ok && known.caller.access >= seen.caller.access {
		return known
	}
	a.byDigest[seen.digest], a.byKey[seen.key.ID] = seen, seen
	return seen
}

// ForgetAll makes the next request of every key and session look it up again.
func (a *Authenticator) ForgetAll() {
	a.seen.forget()
	a.mu.Lock()
	defer a.mu.Unlock()
	a.generation++
	a.byDigest, a.byKey = nil, nil
}
