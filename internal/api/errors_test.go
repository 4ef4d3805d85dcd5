package api_test

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/signalbox/signalbox/internal/settings"
	"github.com/signalbox/signalbox/internal/store/storetest"
)

// problem is one error as it should come. The source is "pointer …",
// "parameter …" or nothing.
type problem struct {
	code, source string
	meta         map[string]any
}

func invalid(pointer string) problem {
	return problem{code: "validation_error", source: "pointer " + pointer}
}
func wrongParameter(name string) problem {
	return problem{code: "invalid_parameter", source: "parameter " + name}
}

// titles are the same for every problem of a code.
var titles = map[string]string{
	"validation_error": "Invalid request", "invalid_parameter": "Invalid parameter", "unauthorized": "Unauthorized",
	"entitlement_limit_reached": "Subscription limit reached", "forbidden": "Forbidden", "not_found": "Not found",
	"method_not_allowed": "Method not allowed", "already_exists": "Already exists", "environment_protected": "Environment is protected",
	"version_mismatch": "Version mismatch", "payload_too_large": "Payload too large", "unsupported_media_type": "Unsupported media type",
	"last_owner": "Last owner", "environment_unmanaged": "Environment is not managed", "flag_unmanaged": "Flag is not managed",
	"group_nesting_unsupported": "Groups cannot be nested",
	"flag_demotion_unsupported": "Flag cannot be demoted", "row_limit_reached": "Row limit reached",
	"config_in_use": "Config is in use", "config_protected": "Config is protected", "changed_since": "Changed since", "not_revertible": "Cannot be reverted",
	"idempotency_mismatch": "Idempotency key was used", "in_progress": "In progress", "answer_lost": "Answer was lost",
	"run_finished": "Run has finished", "job_deleted": "Job was deleted",
	"rate_limited": "Too many requests", "internal_error": "Internal error", "unavailable": "Service unavailable",
}

// refusal is an error as it came, with nothing left out.
type refusal struct {
	Status, Code, Title, Detail string
	Source                      map[string]string
	Meta                        map[string]any
}

// refused requires a status and exactly these problems, to the last field.
func (a answer) refused(status int, problems ...problem) {
	a.t.Helper()
	if a.status != status {
		a.t.Errorf("%s: got %d, want %d: %s", a.what, a.status, status, a.body)
		return
	}
	var document struct{ Errors []refusal }
	a.decode(&document)
	var got []refusal
	for _, each := range document.Errors {
		if each.Detail == "" || strings.TrimSpace(each.Detail) != each.Detail {
			a.t.Errorf("%s: the detail is missing or ragged: %q", a.what, each.Detail)
		}
		each.Detail = ""
		got = append(got, each)
	}
	var want []refusal
	for _, each := range problems {
		want = append(want, each.asRefusal(status))
	}
	bySource := func(a, b refusal) int {
		return cmp.Or(cmp.Compare(a.Source["pointer"], b.Source["pointer"]), cmp.Compare(a.Source["parameter"], b.Source["parameter"]))
	}
	slices.SortFunc(got, bySource)
	slices.SortFunc(want, bySource)
	if difference := gocmp.Diff(want, got); difference != "" {
		a.t.Errorf("%s: want (-), got (+):\n%s", a.what, difference)
	}
}

func (p problem) asRefusal(status int) refusal {
	wanted := refusal{Status: strconv.Itoa(status), Code: p.code, Title: titles[p.code], Meta: map[string]any{}}
	maps.Copy(wanted.Meta, p.meta)
	if kind, place, sent := strings.Cut(p.source, " "); sent {
		wanted.Source = map[string]string{kind: place}
	}
	return wanted
}

func TestErrors_Unauthorized(t *testing.T) {
	t.Parallel()
	owner := newOwner(t, "pro")
	for name, header := range map[string]string{
		"no credential":    "",
		"another scheme":   "Basic b3duZXI6b3duZXI=",
		"no token":         "Bearer",
		"an empty token":   "Bearer   ",
		"an unknown token": "Bearer sk_api_0000000000000000000000000000000000000000000",
		"only the token":   owner.key,
		"two tokens":       "Bearer " + owner.key + " " + owner.key,
	} {
		t.Run(name, func(t *testing.T) {
			got := owner.in(t).as("").get(environmentsPath, with("Authorization", header))
			got.what += " with " + name
			got.refused(401, problem{code: "unauthorized"})
			if challenge := got.header.Get("WWW-Authenticate"); challenge != "Bearer" {
				t.Errorf("WWW-Authenticate is %q, want Bearer", challenge)
			}
		})
	}
	for _, scheme := range []string{"Bearer", "bearer", "BEARER"} {
		t.Run(scheme, func(t *testing.T) {
			owner := owner.in(t)
			owner.as("").get(environmentsPath, with("Authorization", scheme+" "+owner.key), offContract).want(200)
		})
	}
}

func TestErrors_Forbidden(t *testing.T) {
	t.Parallel()
	owner := newOwner(t, "pro")
	admin := owner.withRole("ADMIN")
	owner.withRole("VIEWER").post(environmentsPath, envelope("", "qa", attributes{"name": "Q"})).
		refused(403, problem{code: "forbidden"})
	owner.put(accountPath, envelope("", "", attributes{"name": "A", "plans": attributes{"jobs": "free"}})).
		refused(403, problem{code: "forbidden", source: "pointer /data/attributes/plans"})
	admin.post(keysPath, envelope("", "", attributes{"name": "k", "role": "OWNER"})).
		refused(403, problem{code: "forbidden", source: "pointer /data/attributes/role"})
	admin.delete(keysPath+"/"+owner.makeKey(attributes{"role": "OWNER"}).id).refused(403, problem{code: "forbidden"})
}

func TestErrors_LimitNamesProduct(t *testing.T) {
	t.Parallel()
	cases := []struct {
		plans, plan, product string
		maximum              float64
	}{
		{"free", "free", "platform", 2},
		{"jobs=standard", "standard", "jobs", 5},
		{"config=standard", "standard", "config", 5},
		{"logging=standard,flags=free", "standard", "logging", 5},
	}
	first := newOwner(t, "pro")
	for _, c := range cases {
		t.Run(c.plans, func(t *testing.T) {
			t.Parallel()
			owner := first.in(t).account(c.plans)
			for range int(c.maximum) - 1 { // production is managed already
				owner.makeEnvironment(unique("environment"))
			}
			want := problem{code: "entitlement_limit_reached", meta: map[string]any{
				"limit_key": "platform.managed_environments", "current": c.maximum, "maximum": c.maximum, "plan": c.plan, "product": c.product,
			}}
			owner.post(environmentsPath, envelope("", "more", attributes{"name": "More"})).refused(402, want)
			owner.put(environmentsPath+"/staging", envelope("", "", attributes{"name": "S", "managed": true})).refused(402, want)
			if owner.get(environmentsPath+"/staging").attribute("managed") != false {
				t.Error("the refused promotion happened")
			}
		})
	}
	t.Run("pro", func(t *testing.T) {
		t.Parallel()
		for range 12 {
			first.in(t).makeEnvironment(unique("environment"))
		}
	})
}

func TestErrors_Conflicts(t *testing.T) {
	t.Parallel()
	onBoth(t, "pro", func(t *testing.T, owner client) {
		t.Run("an environment in use", func(t *testing.T) {
			owner.in(t).post(environmentsPath, envelope("", "staging", attributes{"name": "S"})).
				refused(409, problem{code: "already_exists", source: "pointer /data/id"})
		})
		t.Run("a service in use", func(t *testing.T) {
			owner.in(t).post(servicesPath, envelope("", "twice", attributes{})).want(201)
			owner.in(t).post(servicesPath, envelope("", "twice", attributes{})).
				refused(409, problem{code: "already_exists", source: "pointer /data/id"})
		})
		t.Run("the key of another account", func(t *testing.T) {
			taken := owner.in(t).account("free").accountKey()
			owner.in(t).put(accountPath, envelope("", "", attributes{"name": "Mine", "key": taken})).
				refused(409, problem{code: "already_exists", source: "pointer /data/attributes/key"})
		})
		t.Run("production", func(t *testing.T) {
			owner.in(t).delete(environmentsPath+"/production").refused(409, problem{code: "environment_protected"})
			owner.in(t).put(environmentsPath+"/production", envelope("", "", attributes{"name": "P", "managed": false})).
				refused(409, problem{code: "environment_protected", source: "pointer /data/attributes/managed"})
		})
	})
}

func TestRateLimit_PerKey(t *testing.T) {
	t.Parallel()
	// One request, and the next in more than a minute.
	owner := start(t, storetest.New(t, "sqlite"), func(s *settings.Settings) { s.RateLimit = 0.01 })
	other := owner.as(owner.makeKey(nil).secret)
	for range 5 {
		got := owner.get(accountPath)
		got.refused(429, problem{code: "rate_limited"})
		if seconds, err := strconv.Atoi(got.header.Get("Retry-After")); err != nil || seconds < 1 {
			t.Errorf("Retry-After is %q, want seconds", got.header.Get("Retry-After"))
		}
	}
	other.get(accountPath).want(200) // every key has its own allowance
	other.get(accountPath).want(429)
	owner.as("").get("/api/liveness").want(200)
	owner.as("").get(accountPath).want(401)
}

// TestRateLimit_Sessions: all sessions of a key or a person share one limit.
func TestRateLimit_Sessions(t *testing.T) {
	t.Parallel()
	oncePerMinute := func(s *settings.Settings) { s.RateLimit = 0.01 }
	owner := start(t, storetest.New(t, "sqlite"), oncePerMinute)
	session := owner.with(owner.signIn(attributes{"api_key": owner.key}).want(201).cookie().Value) // which takes the key's only request
	for _, refused := range []answer{session.get(accountPath), owner.get(accountPath), owner.signIn(attributes{"api_key": owner.key})} {
		refused.refused(429, problem{code: "rate_limited"})
	}

	ada := start(t, storetest.New(t, "sqlite"), oncePerMinute).join("MEMBER", "Ada")
	ada.again().get(accountPath).want(200)
	ada.again().get(accountPath).refused(429, problem{code: "rate_limited"})
}

func TestRateLimit_OrdinaryUse(t *testing.T) {
	t.Parallel()
	owner := start(t, storetest.New(t, "sqlite"), func(s *settings.Settings) { s.RateLimit = 10_000 })
	for range 50 {
		owner.get(accountPath).want(200)
	}
}
