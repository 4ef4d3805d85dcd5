package api_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/signalbox/signalbox/client/flageval"
	"github.com/signalbox/signalbox/internal/accounts"
	"github.com/signalbox/signalbox/internal/api"
	"github.com/signalbox/signalbox/internal/flags"
	"github.com/signalbox/signalbox/internal/observations"
	"github.com/signalbox/signalbox/internal/settings"
	"github.com/signalbox/signalbox/internal/store"
	"github.com/signalbox/signalbox/internal/store/storetest"
	"github.com/signalbox/signalbox/internal/telemetry"
)

func TestOFREP_RateLimit(t *testing.T) {
	t.Parallel()
	owner := start(t, storetest.New(t, "sqlite"), func(s *settings.Settings) { s.RateLimit = 0.01 })
	owner.ofrep("", `{}`).want(200)
	for _, key := range []string{"", "made"} {
		t.Run(fmt.Sprintf("%q", key), func(t *testing.T) {
			got := owner.in(t).ofrep(key, `{}`).want(429)
			if seconds, err := strconv.Atoi(got.header.Get("Retry-After")); err != nil || seconds < 1 {
				t.Errorf("Retry-After is %q, want seconds", got.header.Get("Retry-After"))
			}
			if details, _ := got.members()["errorDetails"].(string); details == "" || len(got.members()) != 1 {
				t.Errorf("got %s", got.body)
			}
		})
	}
}

// TestOFREP_NoRoute: a wrong path or method gets an error in the protocol's form. Web pages may not
// read it, because no key was checked.
func TestOFREP_NoRoute(t *testing.T) {
	t.Parallel()
	owner := newOwner(t, "pro")
	for path, status := range map[string]int{ofrepPath: 405, ofrepPath + "/made": 405, "/ofrep/v1/configuration": 404, "/ofrep/v2//flags": 404} {
		t.Run(path, func(t *testing.T) {
			got := owner.in(t).as("").get(path, with("Origin", "https://shop.example")).want(status)
			if details, _ := got.members()["errorDetails"].(string); details == "" || len(got.members()) != 1 {
				t.Errorf("got %s", got.body)
			}
			if got.header.Get("Content-Type") != "application/json" || got.readableBy() != "" || (got.header.Get("Allow") != "") != (status == 405) {
				t.Errorf("got %v", got.header)
			}
		})
	}
}

// anybody is an authenticator that accepts every key.
type anybody struct{}

func (anybody) Authenticate(context.Context, string, string) (accounts.Caller, error) {
	return accounts.Caller{Account: "a", KeyID: "k", Role: accounts.Viewer, Access: accounts.EvaluateAccess, Environments: []string{"production"}}, nil
}
func (a anybody) AuthenticateKey(ctx context.Context, _, _ string) (accounts.Caller, error) {
	return a.Authenticate(ctx, "", "")
}
func (anybody) Recall(string) (accounts.Caller, bool) { return accounts.Caller{}, false }
func (anybody) Expect(string)                         {}
func (anybody) Forget(string)                         {}
func (a anybody) AuthenticateSession(ctx context.Context, token, peer string) (accounts.Caller, error) {
	return a.Authenticate(ctx, token, peer)
}

// broken is a store whose reads all call read instead.
type broken struct {
	flags.Store
	read func() error
}

func (b broken) Read(context.Context, func(context.Context, flags.ReadTx) error) error {
	return b.read()
}

// TestOFREP_InternalError: a failure or a panic is answered in the protocol's format, without
// internal details.
func TestOFREP_InternalError(t *testing.T) {
	t.Parallel()
	for name, read := range map[string]func() error{
		"an error": func() error { return errors.New("sql: broken at main.go:7") },
		"a panic":  func() error { panic("sql: broken at main.go:7") },
	} {
		t.Run(name, func(t *testing.T) {
			handler := api.New(api.Services{FlagSnapshots: &flags.Snapshots{Store: broken{read: read}}, Auth: anybody{},
				Log: slog.New(slog.DiscardHandler), Metrics: telemetry.NewMetrics("test")}, api.Options{})
			for _, path := range []string{ofrepPath, ofrepPath + "/made"} {
				sent := httptest.NewRequest(http.MethodPost, path, strings.NewReader(`{"context":{}}`))
				sent.Header.Set("Authorization", "Bearer x")
				sent.Header.Set("Origin", "https://shop.example")
				recorder := httptest.NewRecorder()
				handler.ServeHTTP(recorder, sent)
				got := answer{t: t, what: name, status: recorder.Code, header: recorder.Header(), body: recorder.Body.Bytes()}
				checkExchange(t, sent, request{method: http.MethodPost, path: path}, got)
				details, _ := got.want(500).members()["errorDetails"].(string)
				if details == "" || len(got.members()) != 1 || inside.MatchString(details) {
					t.Errorf("%s at %s: got %s", name, path, got.body)
				}
				if got.header.Get("Content-Type") != "application/json" || got.header.Get("Access-Control-Allow-Origin") != "*" {
					t.Errorf("%s at %s: got %v", name, path, got.header)
				}
			}
		})
	}
}

// TestOFREP_UnservableFlag: a stored definition that no write accepts, such as one of another
// version, does not prevent other flags from being served.
func TestOFREP_UnservableFlag(t *testing.T) {
	t.Parallel()
	owner := newOwner(t, "pro")
	owner.makeFlag("fine", nil)
	broken := flags.Flag{Account: owner.get(accountPath).want(200).data().ID, Key: "broken", Managed: true, Name: "Broken", Type: flageval.Boolean, Default: json.RawMessage(`"yes"`)}
	plant(owner, func(ctx context.Context, tx *store.Tx) error { return tx.SaveFlag(ctx, broken, nil) })
	want := map[string]any{"key": "broken", "errorCode": "PARSE_ERROR", "errorDetails": "This flag cannot be served."}
	if difference := cmp.Diff(want, owner.ofrep("broken", `{}`).want(400).members()); difference != "" {
		t.Errorf("want (-), got (+):\n%s", difference)
	}
	all := owner.ofrep("", `{}`).want(200).members()["flags"].([]any)
	if len(all) != 2 || cmp.Diff(want, all[0]) != "" || all[1].(map[string]any)["value"] != false {
		t.Errorf("got %v", all)
	}
}

// TestOFREP_ErrorCodes: every refusal of an evaluation has OpenFeature's
// code, the flag's key, and a sentence.
func TestOFREP_ErrorCodes(t *testing.T) {
	t.Parallel()
	owner := newOwner(t, "pro")
	owner.makeFlag("made", nil)
	for name, c := range map[string]struct {
		key, body, query, environment, code string
		status                              int
	}{
		"no such flag":             {"nothing", `{}`, "", "production", "FLAG_NOT_FOUND", 404},
		"no JSON":                  {"made", `{"context":`, "", "production", "PARSE_ERROR", 400},
		"no object":                {"made", `[]`, "", "production", "PARSE_ERROR", 400},
		"a context of text":        {"made", `{"context":"x"}`, "", "production", "INVALID_CONTEXT", 400},
		"no environment":           {"made", `{}`, "", "", "GENERAL", 400},
		"an unknown environment":   {"made", `{}`, "", "nowhere", "GENERAL", 400},
		"a query that is no query": {"made", `{}`, "?%zz", "production", "GENERAL", 400},
	} {
		t.Run(name, func(t *testing.T) {
			got := owner.in(t).post(ofrepPath+"/"+c.key+c.query, c.body, with("Content-Type", "application/json"), with("X-Signalbox-Environment", c.environment), offContract).want(c.status)
			members := got.members()
			if details, _ := members["errorDetails"].(string); members["errorCode"] != c.code || members["key"] != c.key || details == "" || len(members) != 3 {
				t.Errorf("got %s, want %s", got.body, c.code)
			}
		})
	}
}

// oneFlag is a store with one flag and one environment.
type oneFlag struct {
	flags.Store
	flags.ReadTx
}

func (s oneFlag) Read(ctx context.Context, fn func(context.Context, flags.ReadTx) error) error {
	return fn(ctx, s)
}

func (oneFlag) FlagsByKey(context.Context, string, []string) ([]flags.Flag, error) {
	return []flags.Flag{{Key: "made", Managed: true, Type: flageval.Boolean, Default: json.RawMessage(`true`)}}, nil
}

func (oneFlag) ManagedEnvironments(context.Context, string) (map[string]bool, error) {
	return map[string]bool{"production": true}, nil
}

// TestOFREP_CallerLeaves: evaluating all flags stops when the caller has disconnected, because an
// account may have many.
func TestOFREP_CallerLeaves(t *testing.T) {
	t.Parallel()
	handler := api.New(api.Services{FlagSnapshots: &flags.Snapshots{Store: oneFlag{}}, Evaluations: &observations.Evaluations{}, Auth: anybody{},
		Log: slog.New(slog.DiscardHandler), Metrics: telemetry.NewMetrics("test")}, api.Options{})
	for _, gone := range []bool{false, true} {
		t.Run(fmt.Sprintf("gone %t", gone), func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			if gone {
				cancel()
			}
			sent := httptest.NewRequestWithContext(ctx, http.MethodPost, ofrepPath, strings.NewReader(`{}`))
			sent.Header.Set("Authorization", "Bearer x")
			sent.Header.Set("X-Signalbox-Environment", "production")
			recorder := httptest.NewRecorder()
			handler.ServeHTTP(recorder, sent)
			if (recorder.Code == http.StatusOK) == gone || (recorder.Body.Len() > 0) == gone {
				t.Errorf("gone is %v: got %d and %q", gone, recorder.Code, recorder.Body)
			}
		})
	}
}
