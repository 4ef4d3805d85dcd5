package app_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/signalbox/signalbox/internal/accounts"
	"github.com/signalbox/signalbox/internal/app/apptest"
	"github.com/signalbox/signalbox/internal/fault"
	"github.com/signalbox/signalbox/internal/optional"
	"github.com/signalbox/signalbox/internal/plans"
	"github.com/signalbox/signalbox/internal/store/storetest"
)

func TestOperator_CreateAccount(t *testing.T) {
	t.Parallel()
	node := apptest.Start(t, storetest.New(t, "sqlite"))
	operator := operate(t, node.Settings)
	account, key, err := operator.CreateAccount(t.Context(), "Acme", "jobs=pro,logging=standard")
	if err != nil {
		t.Fatal(err)
	}
	if account.Key != "acme" || account.Plans[plans.Jobs] != "pro" || account.Plans[plans.Flags] != "free" {
		t.Errorf("made %+v", account)
	}
	// A running server accepts the new key at once.
	newClient(t, node.URL, key.Plaintext).get(t, "/api/v1/environments/production", http.StatusOK)
	list, err := operator.Accounts(t.Context())
	if err != nil || len(list) != 2 || list[0].Key != "default" || list[1].Key != "acme" {
		t.Errorf("listed %+v, %v", list, err)
	}
	for name, plan := range map[string]string{"": "pro", strings.Repeat("x", 256): "pro", "Other": "gold"} {
		t.Run(fmt.Sprintf("%.40q", name), func(t *testing.T) {
			if _, _, err := operator.CreateAccount(t.Context(), name, plan); err == nil {
				t.Errorf("%q on %s was made", name, plan)
			}
		})
	}
}

func TestOperator_CreateAccountOfSameName(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, database storetest.Database) {
		operator := operate(t, apptest.Settings(database))
		if _, _, err := operator.CreateAccount(t.Context(), "Acme", "pro"); err != nil {
			t.Fatal(err)
		}
		_, _, err := operator.CreateAccount(t.Context(), "ACME", "pro")
		if !fault.Is(err, fault.AlreadyExists) || !strings.Contains(fault.All(err)[0].Detail, "ACME") {
			t.Errorf("got %v", err)
		}
		if list, err := operator.Accounts(t.Context()); err != nil || len(list) != 1 {
			t.Errorf("there are %d accounts, %v", len(list), err)
		}
	})
}

func TestOperator_SetPlan(t *testing.T) {
	t.Parallel()
	node := apptest.Start(t, storetest.New(t, "sqlite"))
	operator := operate(t, node.Settings)
	account, err := operator.SetPlan(t.Context(), "default", "jobs=free,config=standard")
	if err != nil || account.Plans[plans.Jobs] != "free" || account.Plans[plans.Flags] != "pro" {
		t.Errorf("got %+v, %v", account.Plans, err)
	}
	if got := newClient(t, node.URL, node.Key).plans(t); got["jobs"] != "free" || got["config"] != "standard" || got["flags"] != "pro" {
		t.Errorf("the server says %v", got)
	}
	for key, plan := range map[string]string{"default": "gold", "nobody": "pro"} {
		t.Run(key, func(t *testing.T) {
			if _, err := operator.SetPlan(t.Context(), key, plan); err == nil {
				t.Errorf("%s of %s was accepted", plan, key)
			}
		})
	}
}

func keyDraft(name, role string) accounts.KeyDraft {
	return accounts.KeyDraft{Name: optional.Of(name), Role: optional.Of(role)}
}

func TestOperator_CreateKey(t *testing.T) {
	t.Parallel()
	node := apptest.Start(t, storetest.New(t, "sqlite"))
	operator := operate(t, node.Settings)
	account, key, err := operator.CreateKey(t.Context(), "", keyDraft("ci", "owner"))
	if err != nil || account.Key != "default" || key.Role != accounts.Owner {
		t.Fatalf("made %+v in %+v, %v", key, account, err)
	}
	newClient(t, node.URL, key.Plaintext).get(t, "/api/v1/users/current", http.StatusOK)
	keys, err := operator.Keys(t.Context(), "default")
	if err != nil || len(keys) != 2 {
		t.Errorf("listed %d keys, %v", len(keys), err)
	}
	for name, draft := range map[string]accounts.KeyDraft{"no name": keyDraft("", "OWNER"), "an unknown role": keyDraft("n", "root"), "nothing": {}} {
		t.Run(name, func(t *testing.T) {
			if _, _, err := operator.CreateKey(t.Context(), "", draft); !fault.Is(err, fault.Validation) {
				t.Errorf("got %v", err)
			}
		})
	}
	if _, _, err := operator.CreateKey(t.Context(), "nobody", keyDraft("n", "OWNER")); !fault.Is(err, fault.NotFound) {
		t.Errorf("got %v", err)
	}
}

func TestOperator_AccountMustBeNamed(t *testing.T) {
	t.Parallel()
	operator := operate(t, apptest.Settings(storetest.New(t, "sqlite")))
	ask := func(says string) {
		t.Helper()
		if _, err := operator.Keys(t.Context(), ""); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("got %v, want %q", err, says)
		}
	}
	ask("no account yet")
	for i := range 2 {
		if _, _, err := operator.CreateAccount(t.Context(), fmt.Sprint("n", i), "pro"); err != nil {
			t.Fatal(err)
		}
	}
	ask("--account")
}

// A key that the operator revokes stops working on every node, even if a node
// has cached it.
func TestOperator_RevokeKeyOnEveryNode(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, database storetest.Database) {
		nodes := []*apptest.Node{apptest.Start(t, database)}
		if database.Kind == "postgres" {
			nodes = append(nodes, apptest.Start(t, database))
		}
		operator := operate(t, nodes[0].Settings)
		for i := range 3 {
			_, key, err := operator.CreateKey(t.Context(), "", keyDraft(fmt.Sprint(i), "MEMBER"))
			if err != nil {
				t.Fatal(err)
			}
			var clients []*client
			for _, node := range nodes {
				clients = append(clients, newClient(t, node.URL, key.Plaintext))
				for range 3 { // afterward the key is cached
					clients[len(clients)-1].get(t, "/api/v1/users/current", http.StatusOK)
				}
			}
			if _, err := operator.RevokeKey(t.Context(), "", key.ID); err != nil {
				t.Fatal(err)
			}
			revoked := time.Now()
			for _, client := range clients {
				client.refusedWithin(t, time.Second, revoked)
			}
		}
	})
}

func TestOperator_RevokeUnknownKey(t *testing.T) {
	t.Parallel()
	node := apptest.Start(t, storetest.New(t, "sqlite"))
	operator := operate(t, node.Settings)
	if _, err := operator.RevokeKey(t.Context(), "", "nothing"); !fault.Is(err, fault.NotFound) {
		t.Errorf("got %v", err)
	}
	if _, err := operator.RevokeKey(t.Context(), "nobody", "nothing"); !fault.Is(err, fault.NotFound) {
		t.Errorf("got %v", err)
	}
	_, key, err := operator.CreateKey(t.Context(), "", keyDraft("n", "MEMBER"))
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second time changes nothing
		if revoked, err := operator.RevokeKey(t.Context(), "", key.ID); err != nil || revoked.Status != accounts.Revoked {
			t.Errorf("got %+v, %v", revoked, err)
		}
	}
}
