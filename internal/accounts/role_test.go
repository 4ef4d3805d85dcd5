package accounts_test

import (
	"fmt"
	"testing"

	"github.com/signalbox/signalbox/internal/accounts"
	"github.com/signalbox/signalbox/internal/changes"
	"github.com/signalbox/signalbox/internal/fault"
)

func TestRole_Covers(t *testing.T) {
	t.Parallel()
	roles := []accounts.Role{accounts.Viewer, accounts.Member, accounts.Admin, accounts.Owner}
	for i, role := range roles {
		t.Run(string(role), func(t *testing.T) {
			for j, needed := range roles {
				if got := role.Covers(needed); got != (i >= j) {
					t.Errorf("%s covers %s: %v", role, needed, got)
				}
				err := accounts.Caller{Role: role}.Require(needed)
				if (err == nil) != (i >= j) || err != nil && !fault.Is(err, fault.Forbidden) {
					t.Errorf("%s requires %s: %v", role, needed, err)
				}
			}
		})
	}
}

func TestRole_Unknown(t *testing.T) {
	t.Parallel()
	for _, role := range []accounts.Role{"", "owner", "ROOT"} {
		t.Run(fmt.Sprintf("%q", role), func(t *testing.T) {
			if role.Covers(accounts.Viewer) {
				t.Errorf("%q may read", role)
			}
		})
	}
}

func TestParseRole(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]accounts.Role{"OWNER": accounts.Owner, "admin": accounts.Admin, "Member": accounts.Member, "viewer": accounts.Viewer} {
		t.Run(text, func(t *testing.T) {
			if role, known := accounts.ParseRole(text); !known || role != want {
				t.Errorf("%q is %q, %v", text, role, known)
			}
		})
	}
	for _, text := range []string{"", " OWNER", "OWNERS", "SUPER", "ÖWNER", "VIEWER\x00"} {
		t.Run(fmt.Sprintf("%q", text), func(t *testing.T) {
			if role, known := accounts.ParseRole(text); known {
				t.Errorf("%q passes for %q", text, role)
			}
		})
	}
}

func TestCaller_Scope(t *testing.T) {
	t.Parallel()
	for name, each := range map[string]struct {
		scope       []string
		environment string
		unscoped    bool // may change more than the values of environments
		reaches     bool
	}{
		"no restriction":         {nil, "production", true, true},
		"the environment":        {[]string{"staging", "production"}, "production", false, true},
		"another environment":    {[]string{"staging"}, "production", false, false},
		"the same in other case": {[]string{"Production"}, "production", false, false},
		"nothing at all":         {[]string{}, "production", false, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			caller := accounts.Caller{Role: accounts.Owner, Environments: each.scope}
			if err := caller.RequireUnscoped(); (err == nil) != each.unscoped || err != nil && !fault.Is(err, fault.Forbidden) {
				t.Errorf("unscoped: %v", err)
			}
			if err := caller.RequireEnvironments(each.environment); (err == nil) != each.reaches || err != nil && !fault.Is(err, fault.Forbidden) {
				t.Errorf("reaches: %v", err)
			}
		})
	}
}

func TestCaller_Actor(t *testing.T) {
	t.Parallel()
	key := accounts.Key{ID: "id", Account: "account", Name: "CI", CreatedBy: "user", Role: accounts.Member,
		Scopes: accounts.Scopes{Environments: []string{"e"}}}
	caller := key.Caller()
	if caller.Account != "account" || caller.UserID != "user" || caller.Role != accounts.Member || len(caller.Environments) != 1 {
		t.Errorf("got %+v", caller)
	}
	if want := (changes.Actor{Type: changes.ActorKey, ID: "id", Name: "CI"}); caller.Actor() != want {
		t.Errorf("got %+v", caller.Actor())
	}
}
