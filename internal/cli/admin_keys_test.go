package cli_test

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// key is an API key as --json shows it.
type key struct {
	ID     string `json:"id"`
	Name   string `json:"name"`
	Role   string `json:"role"`
	Status string `json:"status"`
	Scopes struct {
		Environments []string `json:"environments"`
	} `json:"scopes"`
	ExpiresAt  *time.Time `json:"expires_at"`
	LastUsedAt *time.Time `json:"last_used_at"`
	CreatedBy  string     `json:"created_by"`
}

// find returns the key with a name.
func find(t *testing.T, keys []key, name string) key {
	t.Helper()
	at := slices.IndexFunc(keys, func(each key) bool { return each.Name == name })
	if at < 0 {
		t.Fatalf("there is no %q in %+v", name, keys)
	}
	return keys[at]
}

func TestKeys_Create(t *testing.T) {
	t.Parallel()
	term := newTerminal(t)
	term.must("admin", "accounts", "create", "Acme")
	matches(t, `^The API key "Deploy bot", with the role ADMIN, is shown only now:\n\n    `+secretPattern+`\n\n$`,
		term.must("admin", "keys", "create", "Deploy bot", "--role", "admin"))
	plain := decode[made](term, "admin", "keys", "create")
	matches(t, `^`+secretPattern+`$`, plain.Key)
	if plain.Account != "acme" || plain.KeyID == "" {
		t.Errorf("got %+v", plain)
	}
	before := time.Now()
	scoped := decode[made](term, "admin", "keys", "create", "Scoped", "--role", "VIEWER", "--environment", "staging,production", "--expires-in", "36h")

	keys := decode[[]key](term, "admin", "keys", "list")
	if len(keys) != 4 {
		t.Fatalf("got %+v", keys)
	}
	if found := find(t, keys, "Made on the command line"); found.ID != plain.KeyID || found.Role != "MEMBER" || found.Scopes.Environments != nil || found.ExpiresAt != nil {
		t.Errorf("got %+v", found)
	}
	found := find(t, keys, "Scoped")
	if found.ID != scoped.KeyID || found.Role != "VIEWER" || !slices.Equal(found.Scopes.Environments, []string{"staging", "production"}) {
		t.Errorf("got %+v", found)
	}
	if expires := found.ExpiresAt.Sub(before); expires < 36*time.Hour-time.Second || expires > 36*time.Hour+time.Minute {
		t.Errorf("it expires after %s", expires)
	}
	if owner := find(t, keys, "Owner key"); owner.CreatedBy != found.CreatedBy {
		t.Errorf("a key of the command line does not belong to the owner: %+v, %+v", owner, found)
	}
}

func TestKeys_List(t *testing.T) {
	t.Parallel()
	term := newTerminal(t)
	term.must("admin", "accounts", "create", "Acme")
	term.must("admin", "keys", "create", "Bot", "--environment", "staging", "--environment", "production", "--expires-in", "1h")
	text := term.must("admin", "keys", "list")
	matches(t, `^ID +NAME +ROLE +STATUS +ENVIRONMENTS +EXPIRES +LAST USED\n`, text)
	matches(t, `(?m)^[0-9a-f-]{36}  Bot +MEMBER +ACTIVE +\[staging production\] +\d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ +never$`, text)
	matches(t, `(?m)^[0-9a-f-]{36}  Owner key +OWNER +ACTIVE +all +never +never$`, text)
	for _, text := range []string{text, term.must("admin", "keys", "list", "--json")} {
		if strings.Contains(text, "sk_api_") || strings.Contains(text, "hash") {
			t.Errorf("a list tells more than it should: %s", text)
		}
	}
}

func TestKeys_Revoke(t *testing.T) {
	t.Parallel()
	term := newTerminal(t)
	term.must("admin", "accounts", "create", "Acme")
	bot := decode[made](term, "admin", "keys", "create", "Bot")
	if text := term.must("admin", "keys", "revoke", bot.KeyID); text != "The API key \"Bot\" is revoked; every server refuses it within a second.\n" {
		t.Errorf("got %q", text)
	}
	if again := decode[key](term, "admin", "keys", "revoke", bot.KeyID); again.Status != "REVOKED" || again.ID != bot.KeyID {
		t.Errorf("got %+v", again)
	}
	matches(t, `(?m)^`+bot.KeyID+`  Bot +MEMBER +REVOKED +`, term.must("admin", "keys", "list"))
}

func TestKeys_Refusals(t *testing.T) {
	t.Parallel()
	term := newTerminal(t)
	term.must("admin", "migrate")
	for _, command := range []string{"list", "create", "revoke x"} {
		t.Run(command, func(t *testing.T) {
			got := term.in(t).run(append([]string{"admin", "keys"}, strings.Fields(command)...)...)
			want := "signalbox: there is no account yet: start the server once, or make one with signalbox admin accounts create\n"
			if got.code != 1 || got.stdout != "" || got.stderr != want {
				t.Errorf("keys %s without an account: %+v", command, got)
			}
		})
	}
	term.must("admin", "accounts", "create", "Acme")
	tests := map[string]struct {
		args []string
		code int
		want string
	}{
		"no such role":        {[]string{"admin", "keys", "create", "--role", "KING"}, 1, "role must be OWNER, ADMIN, MEMBER or VIEWER"},
		"no such environment": {[]string{"admin", "keys", "create", "--environment", "nowhere,staging"}, 1, "these do not exist: nowhere."},
		"in the past":         {[]string{"admin", "keys", "create", "--expires-in", "-1h"}, 2, "it must be at least 1s"},
		"no name":             {[]string{"admin", "keys", "create", ""}, 1, "name must have 1 to 255 characters"},
		"no such key":         {[]string{"admin", "keys", "revoke", "01a1de9b-da65-746f-bc6f-7b0ec4a088e0"}, 3, `There is no `},
		"not a key":           {[]string{"admin", "keys", "revoke", "Owner key"}, 3, `There is no `},
		"no such account":     {[]string{"admin", "keys", "list", "--account", "nobody"}, 3, `There is no account "nobody"`},
	}
	for name, test := range tests { // one after the other: they share a database
		t.Run(name, func(t *testing.T) {
			got := term.run(test.args...)
			if got.code != test.code || got.stdout != "" || !strings.HasPrefix(got.stderr, "signalbox: ") || !strings.Contains(got.stderr, test.want) {
				t.Errorf("got %+v", got)
			}
		})
	}
	several := term.run("admin", "keys", "create", "", "--role", "KING", "--environment", "nowhere")
	if several.code != 1 || strings.Count(several.stderr, "signalbox: ") != 3 {
		t.Errorf("not all problems are told at once: %+v", several)
	}
	if keys := decode[[]key](term, "admin", "keys", "list"); len(keys) != 1 {
		t.Errorf("a refused command made %+v", keys)
	}
}

func TestKeys_SeveralAccounts(t *testing.T) {
	t.Parallel()
	term := newTerminal(t)
	term.must("admin", "accounts", "create", "One")
	term.must("admin", "accounts", "create", "Two")
	for _, command := range []string{"list", "create", "revoke x"} {
		t.Run(command, func(t *testing.T) {
			got := term.in(t).run(append([]string{"admin", "keys"}, strings.Fields(command)...)...)
			if got.code != 1 || got.stderr != "signalbox: there are several accounts: name one with --account\n" {
				t.Errorf("keys %s: %+v", command, got)
			}
		})
	}
	bot := decode[made](term, "admin", "keys", "create", "Bot", "--account", "two")
	if bot.Account != "two" {
		t.Errorf("got %+v", bot)
	}
	if got := term.run("admin", "keys", "revoke", bot.KeyID, "--account", "one"); got.code != 3 || !strings.Contains(got.stderr, "There is no ") {
		t.Errorf("another account's key was revoked: %+v", got)
	}
	if revoked := decode[key](term, "admin", "keys", "revoke", bot.KeyID, "--account", "two"); revoked.Status != "REVOKED" {
		t.Errorf("got %+v", revoked)
	}
}
