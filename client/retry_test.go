package signalbox

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/signalbox/signalbox/client/internal/testenv"
)

func busy(status int, retryAfter string) reply {
	r := refused(status, CodeRateLimited)
	if retryAfter != "" {
		r.header["Retry-After"] = retryAfter
	}
	return r
}

func TestRetry_Pauses(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		replies []reply
		want    []time.Duration
	}{
		"rate limit":  {[]reply{busy(429, ""), ok(environmentBody)}, []time.Duration{250 * time.Millisecond}},
		"unavailable": {[]reply{busy(503, ""), ok(environmentBody)}, []time.Duration{250 * time.Millisecond}},
		"cut connections": {[]reply{{cut: true}, {cut: true}, ok(environmentBody)},
			[]time.Duration{250 * time.Millisecond, 500 * time.Millisecond}},
		"an answer that breaks off": {[]reply{{status: 200, header: map[string]string{"Content-Length": "5000"}, body: environmentBody}, ok(environmentBody)},
			[]time.Duration{250 * time.Millisecond}},
		"what the server asks for, and some": {[]reply{busy(429, "3"), ok(environmentBody)}, []time.Duration{3250 * time.Millisecond}},
		"no longer than the bound":           {[]reply{busy(503, "10"), ok(environmentBody)}, []time.Duration{10 * time.Second}},
		"nonsense in the header":             {[]reply{busy(503, "soon"), ok(environmentBody)}, []time.Duration{250 * time.Millisecond}},
		"a date that has passed": {[]reply{busy(503, "Wed, 21 Oct 2015 07:28:00 GMT"), ok(environmentBody)},
			[]time.Duration{250 * time.Millisecond}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := newStub(t, test.replies...)
			client, pauses := server.client(t)
			if _, err := client.Environments.Get(t.Context(), "staging"); err != nil {
				t.Fatal(err)
			}
			if diff := testenv.Diff(test.want, pauses.taken); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestRetry_AttemptLimit(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		reply  reply
		policy RetryPolicy
		want   int // attempts
	}{
		"after as many as allowed":           {busy(503, ""), DefaultRetry(), 4},
		"at once without a policy":           {busy(503, ""), RetryPolicy{}, 1},
		"at once when the wait is too long":  {busy(429, "11"), DefaultRetry(), 1},
		"at once when it is no use":          {refused(500, CodeInternal), DefaultRetry(), 1},
		"at once when it is refused":         {refused(404, CodeNotFound), DefaultRetry(), 1},
		"after as many cuts as are allowed":  {reply{cut: true}, RetryPolicy{Attempts: 3, MaxWait: time.Second}, 3},
		"at once when the answer is no JSON": {ok("<html>"), DefaultRetry(), 1},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := newStub(t, test.reply)
			client, _ := server.client(t, WithRetry(test.policy))
			if _, err := client.Environments.Get(t.Context(), "staging"); err == nil {
				t.Error("it succeeded")
			}
			if got := len(server.requests()); got != test.want {
				t.Errorf("%d attempts, not %d", got, test.want)
			}
		})
	}
}

// TestRetry_SameIdempotencyKey: every attempt of a call has the key of the call, and the next call has another.
func TestRetry_SameIdempotencyKey(t *testing.T) {
	t.Parallel()
	const one = `{"data":{"id":"s","type":"any","attributes":{}}}`
	server := newStub(t, reply{cut: true}, refused(409, CodeInProgress), ok(one))
	client, _ := server.client(t, WithNote("INC-1"))
	ctx := t.Context()
	_, first := client.Jobs.Run(ctx, "j")
	_, second := client.Jobs.Run(ctx, "j")
	_, chosen := client.Services.Create(ctx, "s", ServiceDraft{}, Once("mine"), Note("größer & 100 %"))
	_, read := client.Services.Get(ctx, "s")
	if err := errors.Join(first, second, chosen, read); err != nil {
		t.Fatal(err)
	}
	var keys, notes []string
	for _, sent := range server.requests() {
		keys, notes = append(keys, sent.header.Get("Idempotency-Key")), append(notes, sent.header.Get("Signalbox-Note"))
	}
	if keys[0] == "" || keys[0] != keys[1] || keys[0] != keys[2] || keys[3] == keys[0] || keys[4] != "mine" || keys[5] != "" {
		t.Errorf("the keys are %q", keys)
	}
	if want := []string{"INC-1", "INC-1", "INC-1", "INC-1", "gr%C3%B6%C3%9Fer%20%26%20100%20%25", ""}; !slices.Equal(notes, want) {
		t.Errorf("the notes are %q", notes)
	}
}

func TestRetry_OnlySafeRequests(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		call  func(context.Context, *Client) error
		again bool
	}{
		"list": {func(ctx context.Context, c *Client) error { _, err := c.Keys.List(ctx, KeyParams{}); return err }, true},
		"replace": {func(ctx context.Context, c *Client) error {
			_, err := c.Services.Replace(ctx, "s", ServiceDraft{})
			return err
		}, true},
		"delete": {func(ctx context.Context, c *Client) error { return c.Services.Delete(ctx, "s") }, true},
		"revoke": {func(ctx context.Context, c *Client) error { _, err := c.Keys.Revoke(ctx, "k"); return err }, true},
		"report": {func(ctx context.Context, c *Client) error {
			_, err := c.Contexts.Report(ctx, []ReportedContext{{Type: "t", Key: "k"}})
			return err
		}, true},
		"evaluate": {func(ctx context.Context, c *Client) error {
			_, err := c.Flags.Evaluate(ctx, "f", "staging", nil)
			return err
		}, true},
		"declare": {func(ctx context.Context, c *Client) error {
			_, err := c.Flags.Report(ctx, []ReportedFlag{{ID: "f"}})
			return err
		}, true},
		"run": {func(ctx context.Context, c *Client) error { _, err := c.Jobs.Run(ctx, "j"); return err }, true},
		"create": {func(ctx context.Context, c *Client) error {
			_, err := c.Services.Create(ctx, "s", ServiceDraft{})
			return err
		}, true},
		"create key": {func(ctx context.Context, c *Client) error {
			_, err := c.Keys.Create(ctx, KeyDraft{Name: "k"})
			return err
		}, true},
		"measure": {func(ctx context.Context, c *Client) error { return c.Metrics.Report(ctx, []Metric{{Name: "m"}}) }, false},
		"send a read": {func(ctx context.Context, c *Client) error {
			_, err := c.Send(ctx, "GET", "/api/v1/jobs", nil)
			return err
		}, true},
		"send a POST": {func(ctx context.Context, c *Client) error {
			_, err := c.Send(ctx, "POST", "/api/v1/jobs/j/actions/run", nil)
			return err
		}, false},
		"sign in": {func(ctx context.Context, c *Client) error {
			_, _, err := SignInWithKey(ctx, c.Account.transport.base, "k")
			return err
		}, false},
	}
	for name, test := range tests {
		for fault, broken := range map[string]reply{"unavailable": busy(503, ""), "cut": {cut: true}} {
			t.Run(name+" "+fault, func(t *testing.T) {
				t.Parallel()
				server := newStub(t, broken)
				client, _ := server.client(t)
				if err := test.call(t.Context(), client); err == nil {
					t.Error("it succeeded")
				}
				if got := len(server.requests()); (got > 1) != test.again {
					t.Errorf("%d attempts", got)
				}
			})
		}
	}
}

func TestRetry_ResendsBody(t *testing.T) {
	t.Parallel()
	server := newStub(t, busy(503, "1"), reply{cut: true}, ok(environmentBody))
	client, _ := server.client(t)
	if _, err := client.Environments.Replace(t.Context(), "staging", EnvironmentDraft{Name: "S"}, IfMatch(`"t"`)); err != nil {
		t.Fatal(err)
	}
	seen := server.requests()
	if len(seen) != 3 {
		t.Fatalf("%d attempts", len(seen))
	}
	for _, each := range seen {
		if each.body != seen[0].body || each.header.Get("If-Match") != `"t"` {
			t.Errorf("an attempt differs: %+v", each)
		}
	}
}

func TestRetry_UntrustedCertificate(t *testing.T) {
	t.Parallel()
	server := httptest.NewUnstartedServer(http.NotFoundHandler())
	server.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	server.StartTLS()
	t.Cleanup(server.Close)
	client, err := New(server.URL, "k", func(t *transport) {
		t.wait = func(context.Context, time.Duration) error { return errors.New("it waits") }
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.Account.Get(t.Context()); err == nil || !strings.Contains(err.Error(), "certificate") || strings.Contains(err.Error(), "it waits") {
		t.Errorf("got %v", err)
	}
}

func TestRetryPolicy_Jitter(t *testing.T) {
	t.Parallel()
	policy := RetryPolicy{Attempts: 100, MinWait: time.Second, MaxWait: 10 * time.Second}
	read := request{method: http.MethodGet}
	lost := &connectionError{"", errors.New("reset")}
	for attempt, longest := range map[int]time.Duration{
		1: time.Second, 2: 2 * time.Second, 3: 4 * time.Second, 4: 8 * time.Second, 5: 10 * time.Second, 99: 10 * time.Second,
	} {
		t.Run(fmt.Sprint(attempt), func(t *testing.T) {
			for _, random := range []float64{0, 0.5, 0.999} {
				pause, again := policy.next(attempt, read, lost, random)
				if !again || pause > longest || pause < longest/2 || (random == 0) != (pause == longest) {
					t.Errorf("attempt %d: %v, %v", attempt, pause, again)
				}
			}
		})
	}
}

// answers is a round tripper without I/O, as synctest needs it.
type answers func() (*http.Response, error)

func (a answers) RoundTrip(*http.Request) (*http.Response, error) { return a() }

func TestRetry_CanceledWhileWaiting(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		attempts := 0
		client, err := New("http://host", "k", WithHTTPClient(&http.Client{Transport: answers(func() (*http.Response, error) {
			attempts++
			return nil, errors.New("connection refused")
		})}))
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancelCause(t.Context())
		began := time.Now()
		time.AfterFunc(100*time.Millisecond, func() { cancel(errors.New("the program ends")) })
		_, err = client.Account.Get(ctx)
		if err == nil || !strings.Contains(err.Error(), "the program ends") || !strings.Contains(err.Error(), "connection refused") {
			t.Errorf("got %v", err)
		}
		if took := time.Since(began); took != 100*time.Millisecond || attempts != 1 {
			t.Errorf("%d attempts in %v", attempts, took)
		}
	})
}

func TestRetry_NotBeyondDeadline(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		client, err := New("http://host", "k", WithHTTPClient(&http.Client{Transport: answers(func() (*http.Response, error) {
			return nil, errors.New("connection refused")
		})}))
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		began := time.Now()
		if _, err = client.Account.Get(ctx); err == nil || errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
		if took := time.Since(began); took != 0 {
			t.Errorf("it took %v", took)
		}
	})
}

func TestRetry_TotalDuration(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		client, err := New("http://host", "k", WithHTTPClient(&http.Client{Transport: answers(func() (*http.Response, error) {
			return nil, errors.New("connection refused")
		})}))
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		_, err = client.Account.Get(t.Context())
		if took := time.Since(began); err == nil || took < 875*time.Millisecond || took > 1750*time.Millisecond {
			t.Errorf("%v in %v", err, took)
		}
	})
}
