package accounts_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/signalbox/signalbox/internal/accounts"
	"github.com/signalbox/signalbox/internal/fault"
	"github.com/signalbox/signalbox/internal/optional"
	"github.com/signalbox/signalbox/internal/page"
	"github.com/signalbox/signalbox/internal/store"
	"github.com/signalbox/signalbox/internal/store/storetest"
)

func ada() accounts.Identity {
	return accounts.Identity{Issuer: "https://login.example.com", Subject: "1", Email: "Ada@example.com", EmailVerified: true, Name: "Ada", Values: []string{"g"}}
}

func reasonOf(err error) any {
	for _, refusal := range fault.All(err) {
		return refusal.Meta["reason"]
	}
	return nil
}

// TestIdentity_ManyAtOnce: a person who signs in from many tabs at once becomes one user.
func TestIdentity_ManyAtOnce(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, database storetest.Database) {
		h := newFixture(t, database)
		h.Identities = accounts.IdentityRules{Roles: map[string]accounts.Role{"g": accounts.Member}}
		var mu sync.Mutex
		users, running := map[string]int{}, sync.WaitGroup{}
		for range 8 {
			running.Go(func() {
				session, err := h.SignInWithIdentity(t.Context(), ada(), "test")
				if err != nil {
					t.Error(err)
				}
				mu.Lock()
				defer mu.Unlock()
				users[session.User]++
			})
		}
		if running.Wait(); len(users) != 1 {
			t.Errorf("they became %v", users)
		}
	})
}

func TestIdentity_Refused(t *testing.T) {
	t.Parallel()
	h := newFixture(t, storetest.New(t, "sqlite"))
	h.Identities = accounts.IdentityRules{Roles: map[string]accounts.Role{"g": accounts.Member}, Domains: []string{"example.com"}}
	for want, change := range map[string]func(*accounts.Identity){
		accounts.ReasonUnverified: func(i *accounts.Identity) { i.EmailVerified = false },
		accounts.ReasonDomain:     func(i *accounts.Identity) { i.Email = "ada@example.com.evil.org" },
		accounts.ReasonEmail:      func(i *accounts.Identity) { i.Email = "ada" },
		accounts.ReasonNoRole:     func(i *accounts.Identity) { i.Values = nil },
		accounts.ReasonConflict:   func(i *accounts.Identity) { i.Subject = strings.Repeat("x", 256) },
	} {
		t.Run(want, func(t *testing.T) {
			identity := ada()
			change(&identity)
			if _, err := h.SignInWithIdentity(t.Context(), identity, ""); reasonOf(err) != want || !fault.Is(err, fault.Forbidden) {
				t.Errorf("got %v, want %s", err, want)
			}
		})
	}
}

// TestIdentity_OddName: a name from the provider is changed so that it is valid as a user's
// name.
func TestIdentity_OddName(t *testing.T) {
	t.Parallel()
	h := newFixture(t, storetest.New(t, "sqlite"))
	h.Identities = accounts.IdentityRules{Roles: map[string]accounts.Role{accounts.Anybody: accounts.Viewer}}
	for i, name := range []string{"", " \x00\n ", strings.Repeat("ä", 500), "Ada\x07", "A\u202eda\u2066", "\u009b"} {
		t.Run(fmt.Sprintf("%.40q", name), func(t *testing.T) {
			identity := ada()
			identity.Subject, identity.Name = string(rune('a'+i)), name
			identity.Email = identity.Subject + "@example.com"
			session, err := h.SignInWithIdentity(t.Context(), identity, "")
			if err != nil {
				t.Fatal(err)
			}
			user, err := h.User(t.Context(), h.owner, session.User)
			if err != nil || user.Name == "" || strings.ContainsAny(user.Name, "\x00\x07\n\u202e\u2066\u009b") || len([]rune(user.Name)) > 255 {
				t.Errorf("%q became %q, %v", name, user.Name, err)
			}
		})
	}
}

// TestIdentity_EndsSetup: after an OWNER has signed in with a provider, the set-up link no
// longer works.
func TestIdentity_EndsSetup(t *testing.T) {
	t.Parallel()
	h := newFixture(t, storetest.New(t, "sqlite"))
	h.Identities = accounts.IdentityRules{Roles: map[string]accounts.Role{"g": accounts.Owner}}
	link := func() error {
		return h.db.Write(t.Context(), h.tenant.Owner.Account, func(ctx context.Context, tx *store.Tx) error {
			_, err := accounts.MakeSetupLink(ctx, tx, h.tenant.Owner.Account)
			return err
		})
	}
	if err := link(); err != nil {
		t.Fatal(err)
	}
	if _, err := h.SignInWithIdentity(t.Context(), ada(), ""); err != nil {
		t.Fatal(err)
	}
	if err := link(); !fault.Is(err, fault.AlreadyExists) {
		t.Errorf("got %v", err)
	}
}

// person creates a user with a password, as an accepted invitation does.
func (h *fixture) person(t *testing.T, account, email string, role accounts.Role) accounts.User {
	t.Helper()
	now := time.Now().UTC().Truncate(time.Microsecond)
	user := accounts.User{ID: uuid.NewString(), Account: account, Email: email, Address: accounts.AddressOf(email), PasswordHash: "a hash",
		Name: email, Role: role, CreatedAt: now, UpdatedAt: now}
	h.write(t, account, func(ctx context.Context, tx *store.Tx) error { return tx.InsertUser(ctx, user) })
	return user
}

func (h *fixture) write(t *testing.T, account string, work func(context.Context, *store.Tx) error) {
	t.Helper()
	if err := h.db.Write(t.Context(), account, work); err != nil {
		t.Fatal(err)
	}
}

// userOf returns the user of a session in any account.
func (h *fixture) userOf(t *testing.T, session accounts.Session) (user accounts.User) {
	t.Helper()
	h.write(t, session.Account, func(ctx context.Context, tx *store.Tx) (err error) {
		user, err = tx.User(ctx, session.Account, session.User)
		return err
	})
	return user
}

// identityOf returns an identity with a verified e-mail address.
func identityOf(email string, values ...string) accounts.Identity {
	return accounts.Identity{Issuer: "https://login.example.com", Subject: email, Email: email, EmailVerified: true, Name: "Nik", Values: values}
}

// TestIdentity_Addresses: an identity is bound only to a user with the same address. Addresses
// that are equal only after Unicode lowercasing are different.
func TestIdentity_Addresses(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, database storetest.Database) {
		h := newFixture(t, database)
		h.Identities = accounts.IdentityRules{Domains: []string{"exampli.com", "kilo.example", "xn--bcher-kva.example"}}
		home := h.tenant.Account.ID
		for _, email := range []string{"nik@exampli.com", "Kim@kilo.example", "nik@bücher.example", "ada@xn--bcher-kva.example"} {
			h.person(t, home, email, accounts.Owner)
		}
		for email, want := range map[string]string{ // the address of the user who signs in, or the reason of the refusal
			"NIK@Exampli.com":           "nik@exampli.com",
			"nİk@exampli.com":           accounts.ReasonNoRole,
			"nik@examplİ.com":           accounts.ReasonEmail,
			"nİk@examplİ.com":           accounts.ReasonEmail,
			"nik@xn--exampl-t6c.com":    accounts.ReasonDomain,
			"\u212Aim@kilo.example":     accounts.ReasonNoRole, // the Kelvin sign
			"kim@\u212Ailo.example":     accounts.ReasonEmail,
			"KIM@KILO.example":          "kim@kilo.example",
			"nik@XN--bcher-kva.example": "nik@xn--bcher-kva.example",
			"ada@Bücher.example":        "ada@xn--bcher-kva.example",
			"nik@exampli.com.":          accounts.ReasonDomain,
		} {
			t.Run(email, func(t *testing.T) {
				session, err := h.SignInWithIdentity(t.Context(), identityOf(email), "")
				if got := reasonOf(err); err != nil && got != want {
					t.Errorf("got %v, want %s", err, want)
				}
				if err != nil {
					return
				}
				if user := h.userOf(t, session); user.Address != want {
					t.Errorf("%q signed in as %q, want %s", email, user.Address, want)
				}
			})
		}
		unverified := identityOf("nik@exampli.com")
		unverified.EmailVerified = false
		if _, err := h.SignInWithIdentity(t.Context(), unverified, ""); reasonOf(err) != accounts.ReasonUnverified {
			t.Errorf("unverified: got %v", err)
		}
	})
}

// TestIdentity_OldAddresses: an address that an older node stored in Unicode lower case does
// not match.
func TestIdentity_OldAddresses(t *testing.T) {
	t.Parallel()
	h := newFixture(t, storetest.New(t, "sqlite"))
	old := h.person(t, h.tenant.Account.ID, "nİk@example.com", accounts.Owner)
	h.write(t, old.Account, func(ctx context.Context, tx *store.Tx) error {
		old.Address = "nik@example.com"
		return tx.UpdateUser(ctx, old)
	})
	if _, err := h.SignInWithIdentity(t.Context(), identityOf("nik@example.com"), ""); reasonOf(err) != accounts.ReasonNoRole {
		t.Errorf("got %v", err)
	}
}

// TestIdentity_Squatting: a person to whom a rule applies is never signed in as a user of
// another account who has taken their address.
func TestIdentity_Squatting(t *testing.T) {
	t.Parallel()
	rules := map[string]accounts.Role{"staff": accounts.Member}
	for name, c := range map[string]struct {
		roles  map[string]accounts.Role
		values []string
		bound  bool   // the tenant's user has the identity already, as old versions bound it
		reason string // if empty, the person becomes a user of the first account
		taken  bool   // the person becomes a user of the tenant's account
	}{
		"a rule gives a role":                {roles: rules, values: []string{"staff"}},
		"no rule gives a role":               {roles: rules, reason: accounts.ReasonNoRole},
		"no rules":                           {reason: accounts.ReasonNoRole},
		"bound, and a rule gives a role":     {roles: rules, values: []string{"staff"}, bound: true},
		"bound, and nothing else gives role": {bound: true, taken: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			storetest.Each(t, func(t *testing.T, database storetest.Database) {
				h := newFixture(t, database)
				tenant := storetest.NewTenant(t, h.db, "pro").Account.ID
				h.Identities = accounts.IdentityRules{Roles: c.roles}
				squatter, identity := h.person(t, tenant, "ceo@exampli.com", accounts.Owner), identityOf("ceo@exampli.com", c.values...)
				if c.bound {
					h.write(t, tenant, func(ctx context.Context, tx *store.Tx) error {
						squatter.Identity = identity.Issuer + " " + identity.Subject
						return tx.UpdateUser(ctx, squatter)
					})
				}
				for range 2 { // the second sign-in finds the user of the first
					session, err := h.SignInWithIdentity(t.Context(), identity, "")
					if c.reason != "" {
						if reasonOf(err) != c.reason {
							t.Errorf("got %v", err)
						}
						continue
					}
					if err != nil {
						t.Fatal(err)
					}
					want := h.tenant.Account.ID
					if c.taken {
						want = tenant
					}
					if user := h.userOf(t, session); user.Account != want || !user.CanSignIn || user.Email != "ceo@exampli.com" {
						t.Errorf("got %+v", user)
					}
				}
			})
		})
	}
}

// TestIdentity_TakesAddressWhenFree: a user whose address a squatter has taken gets the
// address once the squatter is deleted.
func TestIdentity_TakesAddressWhenFree(t *testing.T) {
	t.Parallel()
	h := newFixture(t, storetest.New(t, "sqlite"))
	h.Identities = accounts.IdentityRules{Roles: map[string]accounts.Role{"staff": accounts.Member}}
	tenant := storetest.NewTenant(t, h.db, "pro").Account.ID
	squatter, identity := h.person(t, tenant, "ceo@exampli.com", accounts.Member), identityOf("ceo@exampli.com", "staff")
	for _, want := range []string{"", "ceo@exampli.com"} {
		session, err := h.SignInWithIdentity(t.Context(), identity, "")
		if err != nil {
			t.Fatal(err)
		}
		if user := h.userOf(t, session); user.Address != want {
			t.Errorf("the address is %q, want %q", user.Address, want)
		}
		h.write(t, tenant, func(ctx context.Context, tx *store.Tx) error { return tx.DeleteUser(ctx, tenant, squatter.ID) })
	}
}

// TestIdentity_Invited: a person whose verified address has an open invitation joins the
// inviting account.
func TestIdentity_Invited(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, database storetest.Database) {
		h := newFixture(t, database)
		tenant := storetest.NewTenant(t, h.db, "pro")
		invite := func(owner accounts.Caller, email string) {
			t.Helper()
			if _, err := h.Invite(t.Context(), owner, accounts.InvitationDraft{Email: optional.Of(email), Role: optional.Of("ADMIN")}); err != nil {
				t.Fatal(err)
			}
		}
		invite(tenant.Owner, "Ada@example.com")
		invite(tenant.Owner, "bob@example.com")
		invite(tenant.Owner, "nİk@example.com")
		invite(h.owner, "bob@example.com")
		for name, roles := range map[string]map[string]accounts.Role{"no rules": nil, "no rule gives a role": {"staff": accounts.Member}} {
			t.Run(name, func(t *testing.T) {
				h.Identities.Roles = roles
				if _, err := h.SignInWithIdentity(t.Context(), identityOf("nik@example.com"), ""); reasonOf(err) != accounts.ReasonNoRole {
					t.Errorf("got %v", err)
				}
			})
		}
		session, err := h.SignInWithIdentity(t.Context(), identityOf("ada@example.com"), "")
		if err != nil || session.Account != tenant.Account.ID || session.Role != accounts.Admin {
			t.Fatalf("got %+v, %v", session, err)
		}
		if left, err := h.Invitations(t.Context(), tenant.Owner, accounts.InvitationFilter{}, page.First()); err != nil || len(left.Items) != 2 {
			t.Errorf("the invitations are %v, %v", left.Items, err)
		}
		// If rules decide about the first account, its invitations are ignored.
		h.Identities.Roles = map[string]accounts.Role{"staff": accounts.Member}
		if session, err = h.SignInWithIdentity(t.Context(), identityOf("bob@example.com"), ""); err != nil || session.Account != tenant.Account.ID {
			t.Errorf("got %+v, %v", session, err)
		}
	})
}

// TestIdentity_InvitedByMany: the invitation of the first account wins over an earlier one of
// another account. Between two other accounts the person must choose.
func TestIdentity_InvitedByMany(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, database storetest.Database) {
		h := newFixture(t, database)
		b, c := storetest.NewTenant(t, h.db, "pro"), storetest.NewTenant(t, h.db, "pro")
		invite := func(owner accounts.Caller, email, role string) accounts.Invitation {
			t.Helper()
			invitation, err := h.Invite(t.Context(), owner, accounts.InvitationDraft{Email: optional.Of(email), Role: optional.Of(role)})
			if err != nil {
				t.Fatal(err)
			}
			return invitation
		}
		invite(b.Owner, "ceo@example.com", "VIEWER")
		invite(c.Owner, "ceo@example.com", "VIEWER")
		invite(h.owner, "ceo@example.com", "OWNER")
		session, err := h.SignInWithIdentity(t.Context(), identityOf("ceo@example.com"), "")
		if err != nil || session.Account != h.owner.Account || session.Role != accounts.Owner {
			t.Errorf("got %+v, %v", session, err)
		}

		invite(b.Owner, "bob@example.com", "VIEWER")
		unwanted := invite(c.Owner, "bob@example.com", "ADMIN")
		_, err = h.SignInWithIdentity(t.Context(), identityOf("bob@example.com"), "")
		if reasonOf(err) != accounts.ReasonNoRole || !strings.Contains(err.Error(), "Use the link of the invitation that you want.") {
			t.Errorf("got %v", err)
		}
		h.write(t, c.Account.ID, func(ctx context.Context, tx *store.Tx) error {
			return tx.DeleteInvitation(ctx, c.Account.ID, unwanted.ID)
		})
		if session, err = h.SignInWithIdentity(t.Context(), identityOf("bob@example.com"), ""); err != nil || session.Account != b.Account.ID {
			t.Errorf("got %+v, %v", session, err)
		}
	})
}

// TestIdentity_InvitationOfNobody: an invitation works only while the inviter exists and may
// give the role.
func TestIdentity_InvitationOfNobody(t *testing.T) {
	t.Parallel()
	h := newFixture(t, storetest.New(t, "sqlite"))
	maker := h.person(t, h.tenant.Account.ID, "maker@example.com", accounts.Admin)
	caller := accounts.Caller{Account: maker.Account, UserID: maker.ID, Role: accounts.Admin}
	if _, err := h.Invite(t.Context(), caller, accounts.InvitationDraft{Email: optional.Of("ada@example.com"), Role: optional.Of("ADMIN")}); err != nil {
		t.Fatal(err)
	}
	h.write(t, maker.Account, func(ctx context.Context, tx *store.Tx) error {
		maker.Role = accounts.Viewer
		return tx.UpdateUser(ctx, maker)
	})
	if _, err := h.SignInWithIdentity(t.Context(), identityOf("ada@example.com"), ""); reasonOf(err) != accounts.ReasonNoRole {
		t.Errorf("got %v", err)
	}
}

// TestIdentity_RaisedRole: if a rule raises a user's role, the inviter who chose the password
// does not get the role.
func TestIdentity_RaisedRole(t *testing.T) {
	t.Parallel()
	for given, ends := range map[accounts.Role]bool{accounts.Owner: true, accounts.Admin: false, accounts.Viewer: false} {
		t.Run(string(given), func(t *testing.T) {
			h := newFixture(t, storetest.New(t, "sqlite"))
			h.Identities = accounts.IdentityRules{Roles: map[string]accounts.Role{"g": given}}
			before := h.person(t, h.tenant.Account.ID, "ceo@example.com", accounts.Admin)
			earlier := accounts.Session{ID: uuid.NewString(), Account: before.Account, User: before.ID, Hash: "hash", CreatedAt: before.CreatedAt,
				LastUsedAt: before.CreatedAt, ExpiresAt: time.Now().Add(time.Hour)}
			h.write(t, before.Account, func(ctx context.Context, tx *store.Tx) error { return tx.InsertSession(ctx, earlier) })
			session, err := h.SignInWithIdentity(t.Context(), identityOf("ceo@example.com", "g"), "")
			if err != nil {
				t.Fatal(err)
			}
			after := h.userOf(t, session)
			if after.ID != before.ID || after.Role != given || (after.PasswordHash == "") != ends {
				t.Errorf("as %s: got %+v", given, after)
			}
			h.write(t, before.Account, func(ctx context.Context, tx *store.Tx) error {
				if _, err := tx.Session(ctx, before.Account, earlier.ID); fault.Is(err, fault.NotFound) != ends {
					t.Errorf("as %s: the earlier session: %v", given, err)
				}
				return nil
			})
		})
	}
}

// outage is a store that can begin transactions but cannot read keys.
type outage struct{ accounts.Store }

func (o outage) Write(ctx context.Context, account string, work func(context.Context, accounts.Tx) error) error {
	return o.Store.Write(ctx, account, func(ctx context.Context, tx accounts.Tx) error { return work(ctx, keyless{tx}) })
}

type keyless struct{ accounts.Tx }

func (keyless) Key(context.Context, string, string) (accounts.Key, error) {
	return accounts.Key{}, fault.New(fault.Unavailable, "The database cannot be reached right now.")
}

// TestSignInWithKey_Outage: a key that cannot be read is not refused as revoked.
func TestSignInWithKey_Outage(t *testing.T) {
	t.Parallel()
	h := newFixture(t, storetest.New(t, "sqlite"))
	caller := h.authenticate(t, h.authenticator(), h.key(t, accounts.Member).Plaintext)
	if _, err := h.SignInWithKey(t.Context(), caller, ""); err != nil { // the new session makes the next sign-in read the key again
		t.Fatal(err)
	}
	h.Store = outage{h.Store}
	if _, err := h.SignInWithKey(t.Context(), caller, ""); !fault.Is(err, fault.Unavailable) {
		t.Errorf("got %v", err)
	}
}
