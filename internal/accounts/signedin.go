package accounts

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/signalbox/signalbox/internal/fault"
)

// sessionMemory has the sessions that the Authenticator remembers. The zero value is
// ready for use.
type sessionMemory struct {
	mu    sync.Mutex
	known map[digest]*seenSession
}

// seenSession is a session that was looked up before. It is valid while the account's
// access version equals caller.access.
type seenSession struct {
	SignedIn
	caller Caller
	used   atomic.Int64 // when it was last used on this node, in microseconds
	noted  atomic.Int64 // when SessionUsed was last called, in microseconds
}

func (s *seenSession) lastUsed() time.Time {
	if used := time.UnixMicro(s.used.Load()); used.After(s.Session.LastUsedAt) {
		return used
	}
	return s.Session.LastUsedAt
}

func (m *sessionMemory) get(hash digest) *seenSession {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.known[hash]
}

func (m *sessionMemory) put(hash digest, seen *seenSession) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.known = withRoom(m.known, maxRemembered)
	m.known[hash] = seen
}

func (m *sessionMemory) forget() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.known = nil
}

func errSessionEnded() error {
	return fault.New(fault.Unauthorized, "This session has ended. Sign in again.")
}

// AuthenticateSession returns the caller behind a session's cookie, as Authenticate
// does for a key.
func (a *Authenticator) AuthenticateSession(ctx context.Context, token, peer string) (Caller, error) {
	seen, version, result, err := a.findSession(ctx, ParseSecret(token), peer)
	now := a.Now()
	if fault.Is(err, fault.NotFound) || fault.Is(err, fault.Unauthorized) || err == nil && !seen.works(now, seen.lastUsed()) {
		result, err = "refused", errSessionEnded()
	}
	a.Count(result)
	if err != nil {
		return Caller{}, err
	}
	a.noteSession(seen, now)
	caller := seen.caller
	caller.Version = version
	return caller, nil
}

// findSession returns a session and the account's version. If the access version is unchanged and
// the session still works, the session comes from memory. Otherwise the session is read from the
// database, because a session that is idle on this node may be in use on another.
func (a *Authenticator) findSession(ctx context.Context, secret Secret, peer string) (seen *seenSession, version int64, result string, err error) {
	hash := secret.digest()
	if seen := a.seen.get(hash); seen != nil {
		current, err := a.Directory.Versions(ctx, seen.Session.Account)
		if err != nil {
			return nil, 0, "miss", err
		}
		if current.Access == seen.caller.access && seen.works(a.Now(), seen.lastUsed()) {
			return seen, current.Changes, "hit", nil
		}
	}
	_, generation := a.remembered(hash)
	if err := a.admit(ctx, secret, peer, generation); err != nil {
		return nil, 0, "refused", err
	}
	seen, version, err = a.lookUpSession(ctx, secret)
	if fault.Is(err, fault.NotFound) {
		err = errSessionEnded()
	}
	a.refusals.looked(hash, peer, generation, err, a.Now())
	return seen, version, "miss", err
}

func (a *Authenticator) lookUpSession(ctx context.Context, secret Secret) (*seenSession, int64, error) {
	found, versions, err := a.Directory.SessionByHash(ctx, secret.Hash())
	if err != nil {
		return nil, 0, err
	}
	seen := &seenSession{SignedIn: found, caller: found.Caller().readAt(versions.Access)}
	a.seen.put(secret.digest(), seen)
	return seen, versions.Changes, nil
}

// noteSession records a use. It calls SessionUsed at most once per usePrecision.
func (a *Authenticator) noteSession(seen *seenSession, now time.Time) {
	at := now.UnixMicro()
	seen.used.Store(at)
	noted := seen.noted.Load()
	if at-noted < usePrecision.Microseconds() || !seen.noted.CompareAndSwap(noted, at) {
		return
	}
	a.SessionUsed(seen.Session.Account, seen.Session.ID, now)
	if seen.Key != nil {
		a.Used(seen.Session.Account, seen.Key.ID, now)
	}
}
