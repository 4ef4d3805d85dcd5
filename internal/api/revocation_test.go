package api_test

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/signalbox/signalbox/internal/app"
	"github.com/signalbox/signalbox/internal/store/storetest"
)

// ending is a way in which a key stops working on the node that did it.
type ending struct {
	name string
	do   func(owner client, key madeKey)
}

var endings = []ending{
	{"revoked", func(owner client, key madeKey) { owner.post(key.path+"/actions/revoke", "").want(200) }},
	{"deleted", func(owner client, key madeKey) { owner.delete(key.path).want(204) }},
	{"revoked by itself", func(owner client, key madeKey) {
		owner.as(key.secret).post(key.path+"/actions/revoke", "").want(200)
	}},
}

func TestRevocation_NextRequest(t *testing.T) {
	t.Parallel()
	onBoth(t, "pro", func(t *testing.T, first client) {
		for _, ending := range endings {
			t.Run(ending.name, func(t *testing.T) {
				t.Parallel()
				owner := first.in(t)
				for range 10 {
					key := owner.makeKey(attributes{"role": "ADMIN"})
					user := owner.as(key.secret)
					user.get(accountPath).want(200)
					ending.do(owner, key)
					user.get(accountPath).refused(401, problem{code: "unauthorized"})
				}
			})
		}
	})
}

// TestRevocation_BusyCallers: a revocation takes effect while
// many callers use the key without a pause.
func TestRevocation_BusyCallers(t *testing.T) {
	t.Parallel()
	onBoth(t, "pro", func(t *testing.T, owner client) {
		for range 5 {
			key := owner.makeKey(nil)
			var revoked atomic.Bool
			var served sync.WaitGroup
			started := make(chan struct{}, 4)
			for range cap(started) {
				served.Go(func() {
					user := owner.as(key.secret)
					user.get(accountPath)
					started <- struct{}{}
					for {
						late := revoked.Load()
						status := user.get(accountPath).status
						if late && status != 401 {
							t.Errorf("got %d after the revocation", status)
						}
						if late || status == 401 {
							return
						}
					}
				})
			}
			for range cap(started) {
				<-started
			}
			owner.post(key.path+"/actions/revoke", "").want(200)
			revoked.Store(true)
			served.Wait()
		}
	})
}

// TestRevocation_OtherNodes ends keys on one node; the very next request on another is refused.
func TestRevocation_OtherNodes(t *testing.T) {
	t.Parallel()
	database := storetest.New(t, "postgres")
	here, there := start(t, database), start(t, database)
	for _, ending := range endings {
		t.Run(ending.name, func(t *testing.T) {
			t.Parallel()
			for range 20 {
				key := here.in(t).makeKey(attributes{"role": "ADMIN"})
				elsewhere := there.in(t).as(key.secret)
				elsewhere.get(accountPath).want(200)
				elsewhere.get(accountPath).want(200) // known by heart now
				ending.do(here.in(t), key)
				elsewhere.get(accountPath).refused(401, problem{code: "unauthorized"})
			}
		})
	}
	t.Run("weakened", func(t *testing.T) {
		t.Parallel()
		key := here.in(t).makeKey(attributes{"role": "ADMIN"})
		elsewhere := there.in(t).as(key.secret)
		for range 20 {
			for role, status := range map[string]int{"ADMIN": 200, "VIEWER": 403} {
				here.in(t).put(key.path, envelope("", "", attributes{"name": "k", "role": role})).want(200)
				elsewhere.put(accountPath, envelope("", "", attributes{"name": "Mine"})).want(status)
			}
		}
	})
}

func TestRevocation_ByOperator(t *testing.T) {
	t.Parallel()
	onBoth(t, "pro", func(t *testing.T, owner client) {
		key := owner.makeKey(nil)
		user := owner.as(key.secret)
		user.get(accountPath).want(200)
		account := owner.accountKey()
		operate(t, owner.node, func(operator *app.Operator) error {
			_, err := operator.RevokeKey(t.Context(), account, key.id)
			return err
		})
		eventually(t, time.Second, "the node refuses the key", func() bool { return user.get(accountPath).status == 401 })
		latest := owner.latest()
		if latest.Attributes["action"] != "revoked" || latest.Attributes["actor"].(map[string]any)["type"] != "operator" {
			t.Errorf("the history says %v", latest)
		}
	})
}

// makeExpiringKey makes a key whose expiry is soon, and still ahead when the node
// reads of it, which takes its time on a busy machine.
func (c client) makeExpiringKey() (key madeKey, expires time.Time) {
	c.t.Helper()
	for ahead := 400 * time.Millisecond; ; ahead *= 2 {
		expires = time.Now().Add(ahead)
		made := c.post(keysPath, envelope("api_key", "", attributes{"name": "k", "expires_at": expires.UTC().Format(time.RFC3339Nano)}))
		if made.status == 400 && ahead < patience/4 {
			continue
		}
		made.want(201)
		return madeKey{id: made.data().ID, secret: made.text("key"), path: keysPath + "/" + made.data().ID}, expires
	}
}

func TestKey_Expires(t *testing.T) {
	t.Parallel()
	owner := newOwner(t, "pro")
	key, expires := owner.makeExpiringKey()
	user := owner.as(key.secret)
	eventually(t, patience, "the key expires", func() bool {
		before := time.Now()
		status := user.get(accountPath).status
		if status == 401 && time.Now().Before(expires) || status == 200 && before.After(expires) {
			t.Errorf("got %d at %s, and it expires at %s", status, before, expires)
		}
		return status == 401
	})
	if got := owner.get(key.path).want(200); got.text("status") != "ACTIVE" {
		t.Errorf("an expired key is shown as %s", got.body)
	}
	// A new expiry brings it back, unlike a revocation.
	owner.put(key.path, envelope("", "", attributes{"name": "k", "expires_at": later(time.Hour)})).want(200)
	user.get(accountPath).want(200)
	owner.put(key.path, envelope("", "", attributes{"name": "k", "expires_at": nil})).want(200)
	user.get(accountPath).want(200)
}

func TestRevocation_IsFinal(t *testing.T) {
	t.Parallel()
	owner := newOwner(t, "pro")
	key := owner.makeKey(nil)
	once := owner.post(key.path+"/actions/revoke", "").want(200)
	seq := owner.latest().ID
	again := owner.post(key.path+"/actions/revoke", `{}`).want(200)
	if string(once.body) != string(again.body) || once.text("status") != "REVOKED" {
		t.Errorf("the second revocation changed something: %s, %s", once.body, again.body)
	}
	if owner.latest().ID != seq {
		t.Error("the second revocation is in the history")
	}
	renamed := owner.put(key.path, envelope("", "", attributes{"name": "n", "status": "ACTIVE", "expires_at": later(time.Hour)})).want(200)
	if renamed.text("status") != "REVOKED" {
		t.Errorf("it came back: %s", renamed.body)
	}
	owner.as(key.secret).get(accountPath).want(401)
	owner.delete(key.path).want(204)
	owner.get(key.path).want(404)
	owner.post(key.path+"/actions/revoke", "").refused(404, problem{code: "not_found"})
}

func TestKey_ChangeCountsAtOnce(t *testing.T) {
	t.Parallel()
	owner := newOwner(t, "pro")
	key := owner.makeKey(attributes{"role": "MEMBER"})
	user := owner.as(key.secret)
	create := func() answer { return user.post(servicesPath, envelope("", unique("service"), attributes{})) }
	create().want(201)
	for range 5 {
		owner.put(key.path, envelope("", "", attributes{"name": "k", "role": "VIEWER"})).want(200)
		create().refused(403, problem{code: "forbidden"})
		owner.put(key.path, envelope("", "", attributes{"name": "k", "role": "MEMBER", "scopes": attributes{"environments": []string{"staging"}}})).want(200)
		create().refused(403, problem{code: "forbidden"})
		owner.put(key.path, envelope("", "", attributes{"name": "k", "scopes": nil})).want(200)
		create().want(201)
	}
}
