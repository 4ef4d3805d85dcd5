package api_test

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"regexp"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/signalbox/signalbox/internal/accounts"
	"github.com/signalbox/signalbox/internal/store/storetest"
)

var plaintext = regexp.MustCompile(`^sk_api_[A-Za-z0-9_-]{43}$`)

// hashOf returns the stored hash of a secret.
func hashOf(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return hex.EncodeToString(sum[:])
}

func TestKey_PlaintextShownOnce(t *testing.T) {
	t.Parallel()
	owner := newOwner(t, "pro")
	created := owner.post(keysPath, envelope("api_key", "", attributes{"name": "CI", "key": "sk_api_mine"})).want(201)
	secret, path := created.text("key"), keysPath+"/"+created.data().ID
	if !plaintext.MatchString(secret) {
		t.Errorf("the plaintext is %q", secret)
	}
	user := owner.get("/api/v1/users/current").want(200).data().ID
	want := map[string]any{"name": "CI", "role": "MEMBER", "status": "ACTIVE", "access": "full", "scopes": map[string]any{}, "expires_at": nil, "last_used_at": nil,
		"created_by": user, "key": secret, "created_at": created.text("created_at"), "updated_at": created.text("created_at")}
	if difference := cmp.Diff(want, created.data().Attributes); difference != "" {
		t.Errorf("want (-), got (+):\n%s", difference)
	}
	owner.as(secret).get(accountPath).want(200)

	answers := []answer{
		owner.get(path).want(200), owner.get(keysPath).want(200), owner.put(path, envelope("", "", attributes{"name": "CI 2"})).want(200),
		owner.get(changesPath).want(200), owner.get(changesPath + "?filter[resource]=api_key:" + created.data().ID).want(200),
		owner.get("/metrics").want(200), owner.post(path+"/actions/revoke", "").want(200), owner.get(changesPath).want(200),
	}
	for _, got := range answers {
		for _, forbidden := range []string{secret, secret[len("sk_api_"):], hashOf(secret), "sk_api_mine"} {
			if got.contains(forbidden) {
				t.Errorf("%s shows %q", got.what, forbidden)
			}
		}
	}
}

func TestKey_PlaintextsDiffer(t *testing.T) {
	t.Parallel()
	owner := newOwner(t, "pro")
	seen := map[string]bool{}
	for range 50 {
		made := owner.makeKey(attributes{"name": "same name"})
		if seen[made.secret] || seen[made.id] || !plaintext.MatchString(made.secret) {
			t.Fatalf("%s came twice or is malformed", made.secret)
		}
		seen[made.secret], seen[made.id] = true, true
	}
}

func TestKey_GrantsOwnRoleOrWeaker(t *testing.T) {
	t.Parallel()
	roles := []string{"VIEWER", "MEMBER", "ADMIN", "OWNER"}
	owner := newOwner(t, "pro")
	for caller, most := range map[string]int{"ADMIN": 2, "OWNER": 3} {
		t.Run(caller, func(t *testing.T) {
			owner := owner.in(t)
			giver := owner.withRole(caller)
			for rank, role := range roles {
				t.Run(role, func(t *testing.T) {
					giver := giver.in(t)
					made := giver.post(keysPath, envelope("", "", attributes{"name": "k", "role": role}))
					raised := giver.put(owner.in(t).makeKey(attributes{"role": "VIEWER"}).path, envelope("", "", attributes{"name": "k", "role": role}))
					for _, got := range []answer{made, raised} {
						if rank > most {
							got.refused(403, problem{code: "forbidden", source: "pointer /data/attributes/role"})
							continue
						}
						if got.status >= 300 || got.text("role") != role {
							t.Errorf("%s gives %s: got %d %s", caller, role, got.status, got.body)
						}
					}
				})
			}
		})
	}
	for written, role := range map[string]string{"viewer": "VIEWER", "Admin": "ADMIN", "oWnEr": "OWNER"} {
		t.Run(written, func(t *testing.T) {
			if got := owner.in(t).post(keysPath, envelope("", "", attributes{"name": "k", "role": written})).want(201); got.text("role") != role {
				t.Errorf("the role %q became %s", written, got.text("role"))
			}
		})
	}
}

func TestKey_AdminCannotTouchOwners(t *testing.T) {
	t.Parallel()
	owner := newOwner(t, "pro")
	admin := owner.withRole("ADMIN")
	for role, refused := range map[string]bool{"OWNER": true, "ADMIN": false, "MEMBER": false} {
		t.Run(role, func(t *testing.T) {
			owner := owner.in(t)
			admin := admin.in(t)
			key := owner.makeKey(attributes{"role": role})
			for what, got := range map[string]answer{
				"rename":  admin.put(key.path, envelope("", "", attributes{"name": "mine"})),
				"weaken":  admin.put(key.path, envelope("", "", attributes{"name": "mine", "role": "VIEWER"})),
				"restore": owner.put(key.path, envelope("", "", attributes{"name": "mine", "role": role})),
				"revoke":  admin.post(key.path+"/actions/revoke", ""),
				"delete":  admin.delete(key.path),
			} {
				switch {
				case what == "restore":
					got.want(200)
				case refused:
					got.refused(403, problem{code: "forbidden"})
				case got.status >= 300:
					t.Errorf("%s a key of %s: got %d", what, role, got.status)
				}
			}
			if refused {
				owner.as(key.secret).get(accountPath).want(200)
				if got := owner.get(key.path).want(200); got.text("name") != "mine" || got.text("role") != "OWNER" {
					t.Errorf("an admin changed it: %s", got.body)
				}
			}
		})
	}
}

func TestKey_Replace(t *testing.T) {
	t.Parallel()
	staging := map[string]any{"environments": []any{"staging"}}
	both := map[string]any{"environments": []any{"production", "staging"}}
	const soon, late = "2100-01-01T00:00:00Z", "2101-01-01T00:00:00Z"
	cases := []struct {
		name string
		put  attributes
		want []any // role, scopes, expires_at
	}{
		{"everything is absent", attributes{"name": "n"}, []any{"ADMIN", staging, soon}},
		{"a null role stays", attributes{"name": "n", "role": nil}, []any{"ADMIN", staging, soon}},
		{"another role", attributes{"name": "n", "role": "VIEWER"}, []any{"VIEWER", staging, soon}},
		{"null clears the scopes", attributes{"name": "n", "scopes": nil}, []any{"ADMIN", map[string]any{}, soon}},
		{"no scope is no restriction", attributes{"name": "n", "scopes": attributes{}}, []any{"ADMIN", map[string]any{}, soon}},
		{"other scopes", attributes{"name": "n", "scopes": attributes{"environments": []string{"production", "staging"}}}, []any{"ADMIN", both, soon}},
		{"null clears the expiry", attributes{"name": "n", "expires_at": nil}, []any{"ADMIN", staging, nil}},
		{"another expiry", attributes{"name": "n", "expires_at": late}, []any{"ADMIN", staging, late}},
		{"the status is not for writing", attributes{"name": "n", "status": "REVOKED"}, []any{"ADMIN", staging, soon}},
	}
	first := newOwner(t, "pro")
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			owner := first.in(t)
			key := owner.makeKey(attributes{"role": "ADMIN", "scopes": attributes{"environments": []string{"staging"}}, "expires_at": soon})
			put := owner.put(key.path, envelope("", "", c.put)).want(200)
			for _, got := range []answer{put, owner.get(key.path).want(200)} {
				if difference := cmp.Diff(c.want, []any{got.attribute("role"), got.attribute("scopes"), got.attribute("expires_at")}); difference != "" {
					t.Errorf("%s: want (-), got (+):\n%s", got.what, difference)
				}
				if got.text("status") != "ACTIVE" || got.text("name") != "n" {
					t.Errorf("%s: got %s", got.what, got.body)
				}
			}
		})
	}
}

func TestTimes_Spellings(t *testing.T) {
	t.Parallel()
	owner := newOwner(t, "pro")
	for written, want := range map[string]string{
		"2100-01-31T08:00:00Z":            "2100-01-31T08:00:00Z",
		"2100-01-31t08:00:00z":            "2100-01-31T08:00:00Z",
		"2100-01-31T10:00:00+02:00":       "2100-01-31T08:00:00Z",
		"2100-01-31T00:30:00-07:30":       "2100-01-31T08:00:00Z",
		"2100-01-31T08:00:00":             "2100-01-31T08:00:00Z",
		"2100-01-31T08:00":                "2100-01-31T08:00:00Z",
		"2100-01-31T08:00:00.5Z":          "2100-01-31T08:00:00.5Z",
		"2100-01-31T08:00:00.123456Z":     "2100-01-31T08:00:00.123456Z",
		"2100-01-31T08:00:00.1234569Z":    "2100-01-31T08:00:00.123456Z",
		"2100-01-31T08:00:00.123456789":   "2100-01-31T08:00:00.123456Z",
		"2100-01-31T08:00:00.000000001Z":  "2100-01-31T08:00:00Z",
		"21000131T080000Z":                "2100-01-31T08:00:00Z",
		"21000131T1000+0200":              "2100-01-31T08:00:00Z",
		"2100-01-31T10:00:00+02":          "2100-01-31T08:00:00Z",
		"2100-01-31T10:00:00+0200":        "2100-01-31T08:00:00Z",
		"9999-12-31T23:59:59.999999Z":     "9999-12-31T23:59:59.999999Z",
		"9999-12-31T23:59:59.999999+1:00": "", "2100-01-31": "", "2100-01-31 08:00:00Z": "", "08:00": "", "now": "",
		"2100-13-01T00:00:00Z": "", "2100-01-31T24:00:00Z": "", "2100-01-31T08:60:00Z": "", "2100-02-30T08:00:00Z": "",
		"+2100-01-31T08:00:00Z": "", " 2100-01-31T08:00:00Z": "", "10000-01-01T00:00:00Z": "", "2100-01-31T08:00:00 Z": "", "4102444800": "",
	} {
		t.Run(fmt.Sprintf("%q", written), func(t *testing.T) {
			got := owner.in(t).post(keysPath, envelope("", "", attributes{"name": "k", "expires_at": written}))
			got.what += " with " + written
			if want == "" {
				got.refused(400, invalid("/data/attributes/expires_at"))
			} else if got.want(201); got.text("expires_at") != want {
				t.Errorf("%q became %q, want %q", written, got.text("expires_at"), want)
			}
		})
	}
}

// TestTimes_YearOfFiveDigits: converted to UTC, the year has five digits,
// which RFC 3339 cannot write.
func TestTimes_YearOfFiveDigits(t *testing.T) {
	t.Parallel()
	owner := newOwner(t, "pro")
	owner.post(keysPath, envelope("", "", attributes{"name": "k", "expires_at": "9999-12-31T23:59:59-01:00"})).
		refused(400, invalid("/data/attributes/expires_at"))
	owner.put(aKey(owner), envelope("", "", attributes{"name": "k", "expires_at": "9999-12-31T23:59:59-01:00"})).
		refused(400, invalid("/data/attributes/expires_at"))
}

func TestKey_User(t *testing.T) {
	t.Parallel()
	owner := newOwner(t, "pro")
	admin, user := owner.plantUser(accounts.Admin)
	theirs := admin.as(admin.makeKey(attributes{"role": "VIEWER"}).secret)
	for _, each := range []client{admin, theirs} {
		if got := each.get("/api/v1/users/current").want(200); got.data().ID != user.ID || got.text("email") != user.Email {
			t.Errorf("got %s, want the user %s", got.body, user.ID)
		}
	}
	if mine := owner.get("/api/v1/users/current").want(200); mine.data().ID == user.ID || mine.text("role") != "OWNER" {
		t.Errorf("the first key belongs to %s", mine.body)
	}
	operated := owner.get(keysPath).want(200).page().Data
	for _, key := range operated {
		if key.Attributes["created_by"] == "" {
			t.Errorf("nobody made the key %v", key)
		}
	}
}

func TestKey_LastUsedAt(t *testing.T) {
	t.Parallel()
	owner := newOwner(t, "pro")
	key := owner.makeKey(nil)
	before := owner.get(key.path).want(200)
	if before.attribute("last_used_at") != nil {
		t.Errorf("used before its first use: %s", before.body)
	}
	began := time.Now().Add(-time.Millisecond)
	var after answer
	eventually(t, patience, "the use is noted", func() bool {
		owner.as(key.secret).get(accountPath).want(200)
		after = owner.get(key.path).want(200)
		return after.attribute("last_used_at") != nil
	})
	used, err := time.Parse(time.RFC3339Nano, after.text("last_used_at"))
	if err != nil || used.Before(began) || used.After(time.Now()) {
		t.Errorf("last used at %s, want since %s (%v)", after.text("last_used_at"), began, err)
	}
	if after.header.Get("Etag") != before.header.Get("Etag") || after.text("updated_at") != before.text("updated_at") {
		t.Error("a use changed the key's tag or updated_at")
	}
	owner.put(key.path, envelope("", "", attributes{"name": "n"}), with("If-Match", before.header.Get("Etag"))).want(200)
	if latest := owner.latest(); latest.Attributes["kind"] != "api_key" || latest.Attributes["action"] != "updated" {
		t.Errorf("a use is in the history: %v", latest)
	}
}

// TestKey_LastUsedAtOfChangedKey: the node forgets a key that changes,
// and must not forget that it was used.
func TestKey_LastUsedAtOfChangedKey(t *testing.T) {
	t.Parallel()
	owner := newOwner(t, "pro")
	key := owner.makeKey(nil)
	owner.as(key.secret).get(accountPath).want(200)
	owner.put(key.path, envelope("", "", attributes{"name": "Renamed"})).want(200)
	eventually(t, patience, "the use is noted", func() bool { return owner.get(key.path).want(200).attribute("last_used_at") != nil })
}

// TestKey_ManyWrong: every wrong key is refused as such, and right keys from the same address never wait for them.
func TestKey_ManyWrong(t *testing.T) {
	t.Parallel()
	owner := start(t, storetest.New(t, "sqlite"))
	ada := owner.join("MEMBER", "Ada")
	owner.get(environmentsPath).want(200)
	var senders sync.WaitGroup
	for sender := range 8 {
		senders.Go(func() {
			for i := range 200 {
				owner.as(fmt.Sprintf("sk_api_wrong-%d-%d", sender, i)).get(environmentsPath).refused(401, problem{code: "unauthorized"})
			}
		})
	}
	senders.Wait()
	owner.get(environmentsPath).want(200)
	owner.withRole("VIEWER").get(environmentsPath).want(200)
	signedIn := owner.signIn(attributes{"email": ada.email, "password": goodPassword}).want(201)
	owner.with(signedIn.cookie().Value).get(environmentsPath).want(200)
}

// TestKey_ExpiringMakesNoLongerOnes: a key that expires cannot make a key that expires later.
func TestKey_ExpiringMakesNoLongerOnes(t *testing.T) {
	t.Parallel()
	onBoth(t, "pro", func(t *testing.T, owner client) {
		end := time.Now().Add(time.Hour).UTC().Truncate(time.Second)
		own, other := owner.makeKey(attributes{"role": "ADMIN", "expires_at": end}), owner.makeKey(attributes{"role": "VIEWER"})
		production := attributes{"environments": []string{"production"}}
		scoped, public := owner.makeKey(attributes{"role": "MEMBER", "scopes": production}), owner.makeKey(attributes{"access": "evaluate", "scopes": production})
		draft := func(more attributes) string {
			wanted := attributes{"name": "Changed"}
			maps.Copy(wanted, more)
			return envelope("", "", wanted)
		}
		session := owner.with(owner.signIn(attributes{"api_key": own.secret}).want(201).cookie().Value)
		for name, admin := range map[string]client{"key": owner.as(own.secret), "session of the key": session} {
			t.Run(name, func(t *testing.T) {
				admin := admin.in(t)
				refused := func(got answer) {
					t.Helper()
					got.refused(400, invalid("/data/attributes/expires_at"))
				}
				refused(admin.put(own.path, draft(attributes{"expires_at": nil})))
				refused(admin.put(own.path, draft(attributes{"expires_at": end.Add(-time.Minute)})))
				refused(admin.post(keysPath, draft(nil)))
				refused(admin.post(keysPath, draft(attributes{"expires_at": nil})))
				late := admin.post(keysPath, draft(attributes{"expires_at": end.Add(time.Second)}))
				refused(late)
				if !late.contains(end.Format(time.RFC3339)) {
					t.Errorf("the latest possible time is missing: %s", late.body)
				}
				refused(admin.put(other.path, draft(attributes{"role": "ADMIN"})))
				refused(admin.put(other.path, draft(attributes{"expires_at": end.Add(time.Second)})))
				refused(admin.put(scoped.path, draft(attributes{"scopes": nil})))
				refused(admin.put(public.path, draft(attributes{"access": "full"})))
				admin.put(own.path, draft(nil)).want(200)
				admin.put(own.path, draft(attributes{"expires_at": end})).want(200) // as it is
				admin.put(other.path, draft(nil)).want(200)
				admin.post(keysPath, draft(attributes{"expires_at": end})).want(201)
			})
		}
		member := owner.join("MEMBER", "Member")
		forbidden := problem{code: "forbidden"}
		short := owner.as(own.secret)
		short.invite(unique("x")+"@example.com", "VIEWER").refused(403, forbidden)
		short.post(usersPath+"/"+member.id+"/actions/reset_password", "").refused(403, forbidden)
		short.put(usersPath+"/"+member.id, draft(attributes{"role": "ADMIN"})).refused(403, forbidden)
		short.put(usersPath+"/"+member.id, draft(attributes{"email": unique("y") + "@example.com"})).refused(403, forbidden)
		short.put(usersPath+"/"+member.id, draft(attributes{"role": "VIEWER"})).want(200)
		person := owner.join("ADMIN", "Person") // whose session ends too
		person.post(keysPath, draft(nil)).want(201)
	})
}

func TestKey_Current(t *testing.T) {
	t.Parallel()
	owner := newOwner(t, "pro")
	for _, role := range []string{"VIEWER", "MEMBER", "ADMIN"} {
		t.Run(role, func(t *testing.T) {
			owner := owner.in(t)
			made := owner.makeKey(attributes{"role": role})
			if got := owner.as(made.secret).get(keysPath + "/current").want(200); got.data().ID != made.id || got.text("role") != role {
				t.Errorf("a %s is told %+v", role, got.data())
			}
		})
	}
	person := owner.with(owner.signIn(attributes{"api_key": owner.key}).want(201).cookie().Value)
	if got := person.get(keysPath + "/current").want(200); got.text("role") != "OWNER" {
		t.Errorf("a session of a key is told %+v", got.data())
	}
	owner.put(keysPath+"/current", envelope("", "", attributes{"name": "x"})).refused(404, problem{code: "not_found"})
}
