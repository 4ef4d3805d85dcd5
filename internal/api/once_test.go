package api_test

import (
	"bytes"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
)

const keyNamed = `{"data":{"type":"api_key","attributes":{"name":"Pipeline"}}}`

// TestOnce_Repeats: a request that is sent again with its idempotency key gets the first answer, with the secret that is shown once.
func TestOnce_Repeats(t *testing.T) {
	t.Parallel()
	onBoth(t, "pro", func(t *testing.T, owner client) {
		first := owner.post(keysPath, keyNamed, with("Idempotency-Key", "a")).want(201)
		if first.header.Get("Idempotency-Replayed") != "" {
			t.Error("the first answer says that it was replayed")
		}
		again := owner.post(keysPath, keyNamed, with("Idempotency-Key", "a")).want(201)
		if !bytes.Equal(again.body, first.body) || again.header.Get("Idempotency-Replayed") != "true" || again.header.Get("ETag") != first.header.Get("ETag") {
			t.Errorf("got %s, then %s", first.body, again.body)
		}
		if got := len(owner.get(keysPath + "?filter[search]=Pipeline").want(200).ids()); got != 1 {
			t.Errorf("there are %d keys", got)
		}
		owner.post(keysPath, keyNamed, with("Idempotency-Key", "b")).want(201)
	})
}

// TestOnce_Refuses: the key of another request, and keys that are none.
func TestOnce_Refuses(t *testing.T) {
	t.Parallel()
	owner := newOwner(t, "pro")
	owner.post(keysPath, keyNamed, with("Idempotency-Key", "a")).want(201)
	for name, path := range map[string]string{"another path": environmentsPath, "a parameter": keysPath + "?dry_run=true"} {
		t.Run(name, func(t *testing.T) {
			owner.in(t).post(path, keyNamed, with("Idempotency-Key", "a"), offContract).refused(409, problem{code: "idempotency_mismatch"})
		})
	}
	owner.post(keysPath, strings.Replace(keyNamed, "Pipeline", "Other", 1), with("Idempotency-Key", "a")).refused(409, problem{code: "idempotency_mismatch"})
	owner.post(keysPath, keyNamed, func(r *request) { r.header["Idempotency-Key"] = []string{""} }, offContract).refused(400, problem{code: "validation_error"})
	owner.post(keysPath, keyNamed, with("Idempotency-Key", strings.Repeat("x", 256)), offContract).refused(400, problem{code: "validation_error"})
	t.Run("another caller has its own keys", func(t *testing.T) {
		admin := owner.in(t).withRole("ADMIN")
		admin.post(keysPath, strings.Replace(keyNamed, "Pipeline", "Other", 1), with("Idempotency-Key", "a")).want(201)
	})
}

// TestOnce_LongReport: the answer to a short report is not kept if it is long, and the report may be sent again.
func TestOnce_LongReport(t *testing.T) {
	t.Parallel()
	owner := newOwner(t, "pro")
	for name, test := range map[string]struct {
		items    int
		replayed string
	}{"short": {1, "true"}, "long": {1000, ""}} {
		t.Run(name, func(t *testing.T) {
			owner := owner.in(t)
			body := `{"contexts":[` + strings.TrimSuffix(strings.Repeat(`{},`, test.items), ",") + `]}`
			path := "/api/v1/contexts/bulk"
			first := owner.post(path, body, with("Idempotency-Key", name), offContract)
			again := owner.post(path, body, with("Idempotency-Key", name), offContract).want(first.status)
			if got := again.header.Get("Idempotency-Replayed"); got != test.replayed || !bytes.Equal(again.body, first.body) {
				t.Errorf("replayed is %q after an answer of %d bytes", got, len(first.body))
			}
		})
	}
}

// TestOnce_RefusedRequest: a request that was refused changed nothing and may be sent again with its key, also mended.
func TestOnce_RefusedRequest(t *testing.T) {
	t.Parallel()
	owner := newOwner(t, "pro")
	owner.post(keysPath, `{"data":{"type":"api_key","attributes":{"name":7}}}`, with("Idempotency-Key", "a")).want(400)
	owner.post(keysPath, keyNamed, with("Idempotency-Key", "a")).want(201)
}

// TestOnce_RefusalIsDecidedAnew: a refusal is not kept, so the same request with the same key works when its reason is gone, and only
// this answer is kept.
func TestOnce_RefusalIsDecidedAnew(t *testing.T) {
	t.Parallel()
	onBoth(t, "pro", func(t *testing.T, owner client) {
		id := unique("service")
		taken, body := owner.get(servicesPath).want(200).ids(), envelope("service", id, attributes{})
		owner.post(servicesPath, body).want(201)
		for range 2 {
			got := owner.post(servicesPath, body, with("Idempotency-Key", id))
			if got.refused(409, problem{code: "already_exists", source: "pointer /data/id"}); got.header.Get("Idempotency-Replayed") != "" {
				t.Error("a refusal was kept")
			}
		}
		owner.delete(servicesPath + "/" + id).want(204)
		for _, replayed := range []string{"", "true"} {
			got := owner.post(servicesPath, body, with("Idempotency-Key", id)).want(201)
			if got.header.Get("Idempotency-Replayed") != replayed {
				t.Errorf("got %q, want %q", got.header.Get("Idempotency-Replayed"), replayed)
			}
		}
		if got := owner.get(servicesPath).want(200).ids(); len(got) != len(taken)+1 {
			t.Errorf("got %v", got)
		}
	})
}

// TestOnce_AtTheSameTime: of many simultaneous requests with one key, one is carried out; the others get its answer or are asked
// to wait.
func TestOnce_AtTheSameTime(t *testing.T) {
	t.Parallel()
	onBoth(t, "pro", func(t *testing.T, owner client) {
		job := aJob(owner)
		var all sync.WaitGroup
		ids := make([]string, 16)
		for i := range ids {
			all.Go(func() {
				got := owner.post(job+"/actions/run", "", with("Idempotency-Key", "run"))
				switch got.status {
				case http.StatusOK, http.StatusCreated, http.StatusAccepted:
					ids[i] = got.data().ID
				case http.StatusConflict:
					if got.header.Get("Retry-After") == "" {
						t.Error("a request that is in progress has no Retry-After")
					}
				default:
					t.Errorf("got %d: %s", got.status, got.body)
				}
			})
		}
		all.Wait()
		made := map[string]bool{}
		for _, id := range ids {
			if id != "" {
				made[id] = true
			}
		}
		if len(made) != 1 {
			t.Errorf("%d runs were made", len(made))
		}
	})
}

// TestNote: why a change was made is in its history.
func TestNote(t *testing.T) {
	t.Parallel()
	owner := newOwner(t, "pro")
	owner.post(keysPath, keyNamed, with("Signalbox-Note", "Issue%20%2312%3A%20gr%C3%B6%C3%9Fer")).want(201)
	newest := owner.latest().Attributes
	if newest["note"] != "Issue #12: größer" {
		t.Errorf("the note is %v", newest["note"])
	}
	for name, wrong := range map[string]string{"not UTF-8": "%ff", "not encoded": "50%", "too long": strings.Repeat("x", 501)} {
		t.Run(name, func(t *testing.T) {
			owner.in(t).post(keysPath, keyNamed, with("Signalbox-Note", wrong), offContract).refused(400, problem{code: "validation_error"})
		})
	}
}

// TestSummary: a change and a dry run are described by sentences.
func TestSummary(t *testing.T) {
	t.Parallel()
	owner := newOwner(t, "pro")
	path := owner.makeFlag("made", nil)
	ruled := envelope("flag", "", boolean(false, attributes{"environments": attributes{"production": attributes{"rules": []attributes{
		{"logic": attributes{"==": []any{attributes{"var": "user.key"}, "alice"}}, "value": true}}}}}))
	const want = `{"text":"+ Rule 1: if user.key is alice, serve true","environment":"production","pointer":"/environments/production/rules"}`
	if dry := owner.put(path+"?dry_run=true", ruled).want(200); !dry.contains(`"summary":[`) || !dry.contains(want) {
		t.Errorf("the dry run says %s", dry.body)
	}
	owner.put(path, ruled).want(200)
	for _, read := range []string{changesPath + "?page[size]=1", changesPath + "/" + owner.latest().ID} {
		if got := owner.get(read).want(200); !got.contains(want) {
			t.Errorf("%s says %s", read, got.body)
		}
	}
}

// TestEvaluateFlags: one call returns every flag's value for a context, in all environments or in some.
func TestEvaluateFlags(t *testing.T) {
	t.Parallel()
	onBoth(t, "pro", func(t *testing.T, owner client) {
		owner.makeFlag("a", nil)
		owner.makeFlag("b", attributes{"environments": attributes{"production": attributes{"rules": []attributes{
			{"logic": attributes{"==": []any{attributes{"var": "user.key"}, "alice"}}, "value": true}}}}})
		path := flagsPath + "/actions/evaluate"
		all := owner.post(path, `{"context":{"user":{"key":"alice"}}}`).want(200)
		if got := all.ids(); !slices.Equal(got, []string{"a", "b"}) || !all.contains(`"production":{"value":true,"reason":"TARGETING_MATCH","rule":0}`) || !all.contains(`"staging":{"value":false`) {
			t.Errorf("got %s", all.body)
		}
		some := owner.post(path+"?page[size]=1&page[number]=2&meta[total]=true", `{"environments":["staging"],"context":{}}`).want(200)
		if !slices.Equal(some.ids(), []string{"b"}) || some.contains("production") || some.page().Meta.Pagination["total"] != 2 {
			t.Errorf("got %s", some.body)
		}
		owner.post(path+"?page[number]=9", `{}`).want(200)
		owner.post(path, `{"environments":["production","nowhere"]}`).refused(400, invalid("/environments"))
	})
}
