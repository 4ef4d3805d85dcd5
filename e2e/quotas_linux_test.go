package e2e

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"
)

// quota is a limit of the free plan, which concurrent writers try to exceed.
type quota struct {
	path    string // of the API
	maximum int
	body    string // of a new resource, with its key
	stored  string // the SQL that counts them for an account
}

// quotas returns the limits. A clock that is moved makes their jobs due, so the jobs have a target that answers.
func quotas(target string) []quota {
	return []quota{
		{"jobs", 10, newJob("%s", "0 0 1 1 *", target),
			`SELECT count(*) FROM jobs WHERE account_id = $1 AND enabled = TRUE AND deleted_at IS NULL`},
		{"loggers", 15, `{"data":{"type":"logger","id":%q,"attributes":{"level":"DEBUG"}}}`,
			`SELECT count(*) FROM loggers WHERE account_id = $1 AND kind = 'logger' AND managed = TRUE AND deleted_at IS NULL`},
		{"log_groups", 3, `{"data":{"type":"log_group","id":%q,"attributes":{}}}`,
			`SELECT count(*) FROM loggers WHERE account_id = $1 AND kind = 'log_group' AND deleted_at IS NULL`},
	}
}

// create makes a resource of the quota's kind. Loggers are made by replacing them.
func (q quota) create(client *http.Client, url, key, name string) (status int, answer string) {
	method, path := http.MethodPost, url+"/api/v1/"+q.path
	if q.path == "loggers" {
		method, path = http.MethodPut, path+"/"+name
	}
	return ask(client, method, path, key, fmt.Sprintf(q.body, name))
}

// useQuotas creates and deletes resources of an account on the free plan, and looks how many there are.
func (h *history) useQuotas() {
	all := quotas(h.target.URL)
	h.each(10*h.pace, func(client *http.Client, url string, _ int) {
		each := all[rand.IntN(len(all))]
		name := fmt.Sprintf("%s-%d", each.path, rand.IntN(2*each.maximum)) // loggers and log groups share their ids
		var status int
		var answer string
		if rand.IntN(4) == 0 {
			status, answer = ask(client, http.MethodDelete, url+"/api/v1/"+each.path+"/"+name, h.small, "")
		} else {
			status, answer = each.create(client, url, h.small, name)
		}
		h.mu.Lock()
		defer h.mu.Unlock()
		switch status {
		case http.StatusOK, http.StatusCreated, http.StatusNoContent:
			h.slots++
		case http.StatusPaymentRequired:
			h.full++
		case 0, http.StatusNotFound, http.StatusConflict, http.StatusServiceUnavailable, http.StatusTooManyRequests:
		default:
			h.broken = append(h.broken, fmt.Sprintf("a write near a quota got %d %s", status, answer))
		}
	})
}

// watchQuotas lists what the account on the free plan has.
func (h *history) watchQuotas() {
	all := quotas(h.target.URL)
	h.each(10*h.pace, func(_ *http.Client, url string, i int) {
		each := all[i%len(all)]
		got, err := (&exchange{url: url, method: http.MethodGet, path: "/api/v1/" + each.path, key: h.small}).send()
		var listed struct{ Data []json.RawMessage }
		if err != nil || got.status != http.StatusOK || json.Unmarshal([]byte(got.body), &listed) != nil {
			return
		}
		if len(listed.Data) > each.maximum {
			h.mu.Lock()
			defer h.mu.Unlock()
			h.broken = append(h.broken, fmt.Sprintf("a list shows %d %s, and the plan allows %d", len(listed.Data), each.path, each.maximum))
		}
	})
}

// checkQuotas fills every quota: no slot may have been lost, and none may be left beyond the maximum.
func (h *history) checkQuotas(t *testing.T, db *sql.DB) {
	t.Helper()
	var account string
	if err := db.QueryRowContext(t.Context(), `SELECT id FROM accounts WHERE name = 'other'`).Scan(&account); err != nil {
		t.Fatal(err)
	}
	for _, each := range quotas(h.target.URL) {
		if stored := number(t, db, each.stored, account); stored > each.maximum {
			t.Errorf("there are %d %s, and the plan allows %d", stored, each.path, each.maximum)
		}
		for i := range each.maximum + 1 {
			status, answer := each.create(http.DefaultClient, h.urls[0], h.small, fmt.Sprintf("more-%s-%d", each.path, i))
			stored := number(t, db, each.stored, account)
			if status == http.StatusPaymentRequired && strings.Contains(answer, "limit_key") && stored == each.maximum {
				break
			}
			if status >= http.StatusMultipleChoices || stored > each.maximum {
				t.Errorf("%s: with %d of %d, another one got %d %s", each.path, stored, each.maximum, status, answer)
				break
			}
		}
	}
}
