package api_test

import (
	"net/http"
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
		if again.body != first.body || again.header.Get("Idempotency-Replayed") != "true" || again.header.Get("ETag") != first.header.Get("ETag") {
			t.Errorf("got %s, then %s", first.body, again.body)
		}
		if got := len(owner.get(keysPath + "?filter[search]=Pipeline").want(200).list()); got != 1 {
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
		t.Run(name, func(t *testing.T) { owner.in(t).post(path, keyNamed, with("Idempotency-Key", "a")).fails(409, "idempotency_mismatch") })
	}
	owner.post(keysPath, strings.Replace(keyNamed, "Pipeline", "Other", 1), with("Idempotency-Key", "a")).fails(409, "idempotency_mismatch")
	owner.post(keysPath, keyNamed, with("Idempotency-Key", strings.Repeat("x", 256)), offContract).fails(400, "validation_error")
	t.Run("another caller has its own keys", func(t *testing.T) {
		admin := owner.in(t).as(owner.in(t).key("ADMIN"))
		admin.post(keysPath, strings.Replace(keyNamed, "Pipeline", "Other", 1), with("Idempotency-Key", "a")).want(201)
	})
}

// TestOnce_RefusedRequest: a request that was refused changed nothing and may be sent again with its key, also mended.
func TestOnce_RefusedRequest(t *testing.T) {
	t.Parallel()
	owner := newOwner(t, "pro")
	owner.post(keysPath, `{"data":{"type":"api_key","attributes":{"name":7}}}`, with("Idempotency-Key", "a"), offContract).fails(400, "validation_error")
	owner.post(keysPath, keyNamed, with("Idempotency-Key", "a")).want(201)
}

// TestOnce_AtTheSameTime: of many requests at once with one key, one is carried out; the others get its answer or are told to wait.
func TestOnce_AtTheSameTime(t *testing.T) {
	t.Parallel()
	onBoth(t, "pro", func(t *testing.T, owner client) {
		job := owner.newJob()
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
	newest := owner.get(changesPath + "?page[size]=1").want(200).list()[0].Attributes
	if newest["note"] != "Issue #12: größer" {
		t.Errorf("the note is %v", newest["note"])
	}
	for name, wrong := range map[string]string{"not UTF-8": "%ff", "not encoded": "50%", "too long": strings.Repeat("x", 501)} {
		t.Run(name, func(t *testing.T) {
			owner.in(t).post(keysPath, keyNamed, with("Signalbox-Note", wrong), offContract).fails(400, "validation_error")
		})
	}
}
