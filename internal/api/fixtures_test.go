package api_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"github.com/signalbox/signalbox/internal/accounts"
	"github.com/signalbox/signalbox/internal/store"
)

// Paths that many tests use.
const (
	environmentsPath = "/api/v1/environments"
	servicesPath     = "/api/v1/services"
	typesPath        = "/api/v1/context_types"
	contextsPath     = "/api/v1/contexts"
	keysPath         = "/api/v1/api_keys"
	flagsPath        = "/api/v1/flags"
	sourcesPath      = "/api/v1/flag_sources"
	loggersPath      = "/api/v1/loggers"
	seenPath         = "/api/v1/logger_sources"
	groupsPath       = "/api/v1/log_groups"
	jobsPath         = "/api/v1/jobs"
	runsPath         = "/api/v1/runs"
	usagePath        = "/api/v1/usage"
	previewPath      = "/api/v1/schedules/preview"
	webhooksPath     = "/api/v1/webhooks"
	ofrepPath        = "/ofrep/v1/evaluate/flags"
	flagdPath        = "/flagd/v1/flags"
	snapshotsPath    = "/api/v1/snapshots"
	configsPath      = "/api/v1/configs"
	changesPath      = "/api/v1/changes"
	usersPath        = "/api/v1/users"
	passwordPath     = "/api/v1/users/current/password"
	invitationsPath  = "/api/v1/invitations"
	sessionsPath     = "/api/v1/sessions"
	codesPath        = "/api/v1/sessions/current/codes"
	linksPath        = "/api/v1/links"
	redeemPath       = "/api/v1/links/redeem"
	accountPath      = "/api/v1/accounts/current"
	settingsPath     = "/api/v1/accounts/current/settings"
	ownSettingsPath  = "/api/v1/users/current/settings"
)

var counter atomic.Int64

// unique returns an id that no other test of this process uses.
func unique(prefix string) string { return fmt.Sprintf("%s-%d", prefix, counter.Add(1)) }

// makeEnvironment creates an environment and returns its path.
func (c client) makeEnvironment(id string) string {
	c.t.Helper()
	c.post(environmentsPath, envelope("environment", id, attributes{"name": id})).want(201)
	return environmentsPath + "/" + id
}

// report sends a bulk report of contexts.
func (c client) report(items ...attributes) answer {
	c.t.Helper()
	text, err := json.Marshal(attributes{"contexts": items})
	if err != nil {
		c.t.Fatal(err)
	}
	return c.post(contextsPath+"/bulk", string(text), with("Content-Type", "application/json"))
}

// discover reports one context, which exists afterward.
func (c client) discover(kind, key string) {
	c.t.Helper()
	c.report(attributes{"type": kind, "key": key}).want(200)
}

// madeKey is a key whose plaintext is known.
type madeKey struct{ id, secret, path string }

// makeKey creates a key with attributes beside its name.
func (c client) makeKey(more attributes) madeKey {
	c.t.Helper()
	wanted := attributes{"name": unique("key")}
	maps.Copy(wanted, more)
	made := c.post(keysPath, envelope("api_key", "", wanted)).want(201)
	return madeKey{id: made.data().ID, secret: made.text("key"), path: keysPath + "/" + made.data().ID}
}

// withRole returns the client with a new key of a role.
func (c client) withRole(role string) client {
	c.t.Helper()
	return c.as(c.makeKey(attributes{"role": role}).secret)
}

// plant writes to the store beside a running node: what no route can write.
func plant(c client, write func(ctx context.Context, tx *store.Tx) error) {
	c.t.Helper()
	if err := c.node.Database.Open(c.t).Write(c.t.Context(), "", write); err != nil {
		c.t.Fatal(err)
	}
}

// plantKey stores a key as it is and returns its plaintext.
func plantKey(c client, key accounts.Key) string {
	c.t.Helper()
	text := "sk_api_planted-" + uuid.NewString()
	key.ID, key.Hash, key.Status, key.Access = uuid.NewString(), accounts.ParseSecret(text).Hash(), accounts.Active, accounts.FullAccess
	key.CreatedAt, key.UpdatedAt = time.Now(), time.Now()
	plant(c, func(ctx context.Context, tx *store.Tx) error { return tx.InsertKey(ctx, key) })
	return text
}

// plantUser stores another user of the client's account and returns a client
// with a key of theirs. There is no route for users yet.
func (c client) plantUser(role accounts.Role) (client, accounts.User) {
	c.t.Helper()
	user := accounts.User{ID: uuid.NewString(), Account: c.get(accountPath).want(200).data().ID, Role: role,
		Email: unique("user") + "@example.com", Name: "Another", CreatedAt: time.Now(), UpdatedAt: time.Now()}
	plant(c, func(ctx context.Context, tx *store.Tx) error { return tx.InsertUser(ctx, user) })
	return c.as(plantKey(c, accounts.Key{Account: user.Account, Name: "theirs", Role: role, CreatedBy: user.ID})), user
}

// order reads an environment_order.
func (c client) order(path string) []string {
	c.t.Helper()
	order := []string{}
	for _, each := range c.get(path).want(200).attribute("environment_order").([]any) {
		order = append(order, each.(string))
	}
	return order
}

// lastOf returns the path of the newest change of a resource.
func (c client) lastOf(resource string) string {
	c.t.Helper()
	found := c.get(changesPath + "?page[size]=1&filter[resource]=" + url.QueryEscape(resource)).want(200).page().Data
	if len(found) != 1 {
		c.t.Fatalf("there is no change of %s", resource)
	}
	return changesPath + "/" + found[0].ID
}

// latest returns the newest change of the account.
func (c client) latest() resource {
	c.t.Helper()
	found := c.get(changesPath + "?page[size]=1").want(200).page().Data
	if len(found) != 1 {
		c.t.Fatal("there is no change at all")
	}
	return found[0]
}
