package accounts_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/signalbox/signalbox/internal/accounts"
	"github.com/signalbox/signalbox/internal/fault"
)

// lobby is an in-memory store of one session.
type lobby struct {
	accounts.Directory // nil: the methods for keys are not called

	found    accounts.SignedIn
	versions accounts.Versions
	lookups  int
	err      error
}

func (l *lobby) SessionByHash(_ context.Context, hash string) (accounts.SignedIn, accounts.Versions, error) {
	l.lookups++
	if l.err != nil {
		return accounts.SignedIn{}, accounts.Versions{}, l.err
	}
	if hash != accounts.ParseSecret("cookie").Hash() {
		return accounts.SignedIn{}, accounts.Versions{}, fault.New(fault.NotFound, "no such session")
	}
	return l.found, l.versions, nil
}

func (l *lobby) Versions(context.Context, string) (accounts.Versions, error) {
	return l.versions, l.err
}

// doorman authenticates the session of a lobby. The test sets its clock.
type doorman struct {
	*accounts.Authenticator
	*lobby
	now   time.Time
	uses  int
	count map[string]int
}

func newDoorman() *doorman {
	now := time.Date(2031, 1, 1, 0, 0, 0, 0, time.UTC)
	d := &doorman{now: now, count: map[string]int{}, lobby: &lobby{found: accounts.SignedIn{
		Session: accounts.Session{ID: "session", Account: "account", User: "ada", LastUsedAt: now, ExpiresAt: now.Add(accounts.SessionAge)},
		User:    accounts.User{ID: "ada", Name: "Ada", Role: accounts.Member},
	}}}
	d.Authenticator = &accounts.Authenticator{Directory: d.lobby, Live: func() bool { return true }, Now: func() time.Time { return d.now },
		Count: func(result string) { d.count[result]++ }, Used: func(string, string, time.Time) {},
		SessionUsed: func(account, id string, at time.Time) {
			if account == "account" && id == "session" && at.Equal(d.now) {
				d.uses++
			}
		}}
	return d
}

// passes authenticates, and checks the outcome and the number of lookups.
func (d *doorman) passes(t *testing.T, cookie string, want bool, lookups int) accounts.Caller {
	t.Helper()
	before := d.lookups
	caller, err := d.AuthenticateSession(t.Context(), cookie, "192.0.2.1:1000")
	if want && err != nil || !want && !fault.Is(err, fault.Unauthorized) {
		t.Errorf("got %v, want passing %v", err, want)
	}
	if cost := d.lookups - before; cost != lookups {
		t.Errorf("it cost %d lookups, want %d", cost, lookups)
	}
	return caller
}

func TestSignedIn_VersionDecides(t *testing.T) {
	t.Parallel()
	d := newDoorman()
	caller := d.passes(t, "cookie", true, 1)
	if caller.UserID != "ada" || caller.UserName != "Ada" || caller.Role != accounts.Member || caller.SessionID != "session" || !caller.IsPerson() {
		t.Errorf("got %+v", caller)
	}
	d.passes(t, "cookie", true, 0)
	d.versions.Changes++ // for example, a change of a flag
	if caller := d.passes(t, "cookie", true, 0); caller.Version != 1 {
		t.Errorf("got the version %d", caller.Version)
	}
	d.versions = accounts.Versions{Changes: 2, Access: 2}
	d.found.User.Role = accounts.Viewer
	if caller := d.passes(t, "cookie", true, 1); caller.Role != accounts.Viewer {
		t.Errorf("got %+v", caller)
	}
	d.passes(t, "cookie", true, 0)
	d.ForgetAll()
	d.passes(t, "cookie", true, 1)
	d.passes(t, "garbage", false, 1)
	d.passes(t, "garbage", false, 0) // remembered as wrong: no later session can have this cookie
	d.err = errors.New("the database is away")
	if _, err := d.AuthenticateSession(t.Context(), "cookie", "192.0.2.1:1000"); !errors.Is(err, d.err) {
		t.Errorf("got %v", err)
	}
}

func TestSignedIn_IdleAndAge(t *testing.T) {
	t.Parallel()
	d := newDoorman()
	for range 10 { // used on this node, which has not stored the use yet
		d.passes(t, "cookie", true, map[bool]int{true: 1}[d.lookups == 0])
		d.now = d.now.Add(11 * time.Hour)
	}
	if d.uses != 10 {
		t.Errorf("%d uses were told", d.uses)
	}
	d.passes(t, "cookie", true, 0)
	d.passes(t, "cookie", true, 0)
	if d.uses != 11 {
		t.Errorf("SessionUsed was called %d times, want none so soon", d.uses)
	}
	d.now = d.now.Add(13 * time.Hour)
	d.passes(t, "cookie", false, 1)
	d.found.Session.LastUsedAt = d.now.Add(-time.Hour) // another node has stored a later use
	d.passes(t, "cookie", true, 1)
	d.now = d.found.Session.ExpiresAt
	d.found.Session.LastUsedAt = d.now
	d.passes(t, "cookie", false, 1)
}

func TestSignedIn_OfKey(t *testing.T) {
	t.Parallel()
	d := newDoorman()
	ends := d.now.Add(time.Hour)
	d.found.Key = &accounts.Key{ID: "key", Account: "account", Name: "Key", Role: accounts.Viewer, Status: accounts.Active, ExpiresAt: &ends,
		Scopes: accounts.Scopes{Environments: []string{"staging"}}}
	caller := d.passes(t, "cookie", true, 1)
	if caller.KeyID != "key" || caller.IsPerson() || caller.Role != accounts.Viewer || len(caller.Environments) != 1 || !caller.ExpiresAt.Equal(ends) {
		t.Errorf("got %+v", caller)
	}
	d.now = ends
	d.passes(t, "cookie", false, 1)
}
