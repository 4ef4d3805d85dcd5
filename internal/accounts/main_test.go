package accounts_test

import (
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/signalbox/signalbox/internal/accounts"
	"github.com/signalbox/signalbox/internal/fault"
	"github.com/signalbox/signalbox/internal/optional"
	"github.com/signalbox/signalbox/internal/store"
	"github.com/signalbox/signalbox/internal/store/storetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fixture is a service on a real database that has one account.
type fixture struct {
	*accounts.Service
	db     *store.DB
	tenant storetest.Tenant
	owner  accounts.Caller
}

func newFixture(t *testing.T, database storetest.Database) *fixture {
	t.Helper()
	db := database.Open(t)
	tenant := storetest.NewTenant(t, db, "pro")
	return &fixture{Service: &accounts.Service{Store: db.Accounts()}, db: db, tenant: tenant, owner: tenant.Owner}
}

// caller creates a key with a role and returns it as a caller.
func (h *fixture) caller(t *testing.T, role accounts.Role) accounts.Caller {
	t.Helper()
	return h.key(t, role).Caller()
}

func (h *fixture) key(t *testing.T, role accounts.Role) accounts.Key {
	t.Helper()
	key, err := h.CreateKey(t.Context(), h.owner, accounts.KeyDraft{Name: optional.Of(string(role)), Role: optional.Of(string(role))})
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// authenticator returns an Authenticator on the database of the fixture.
func (h *fixture) authenticator() *accounts.Authenticator {
	return &accounts.Authenticator{Directory: h.db, Live: func() bool { return true }, Now: time.Now,
		Count: func(string) {}, Used: func(string, string, time.Time) {}}
}

// authenticate returns the caller behind a key's plaintext. Writes confirm this
// caller.
func (h *fixture) authenticate(t *testing.T, auth *accounts.Authenticator, plaintext string) accounts.Caller {
	t.Helper()
	caller, err := auth.Authenticate(t.Context(), plaintext, "")
	if err != nil {
		t.Fatal(err)
	}
	return caller
}

// refusal is the code of an error and the place in the input that it names.
type refusal struct {
	code fault.Code
	at   fault.Source
}

// refusals lists all refusals in an error, in order.
func refusals(err error) []refusal {
	var found []refusal
	for _, each := range fault.All(err) {
		found = append(found, refusal{each.Code, each.Source})
	}
	return found
}

func invalid(attribute string) refusal { return refusal{fault.Validation, fault.Attribute(attribute)} }
