package openid

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/signalbox/signalbox/internal/fault"
	"github.com/signalbox/signalbox/internal/sealed"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// clock is a clock that tests move.
type clock struct{ at time.Time }

func (c *clock) now() time.Time { return c.at }

// ring returns a new key ring.
func ring(t *testing.T) *sealed.Ring {
	t.Helper()
	ring, err := sealed.OpenOrCreate(t.TempDir() + "/keyring")
	if err != nil {
		t.Fatal(err)
	}
	return ring
}

// newProvider returns a provider whose configuration comes from handler.
func newProvider(t *testing.T, handler http.HandlerFunc) (*Provider, *clock) {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	time := &clock{time.Now()}
	provider := New(Options{Issuer: server.URL, ClientID: "signalbox", RoleClaim: "groups"}, ring(t), time.now)
	t.Cleanup(provider.Close)
	return provider, time
}

// describe serves the configuration of a provider.
func describe(w http.ResponseWriter, r *http.Request, scopes string) {
	issuer := "http://" + r.Host
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprintf(w, `{"issuer":%q,"authorization_endpoint":%q,"token_endpoint":%q,"jwks_uri":%q,"scopes_supported":[%s]}`,
		issuer, issuer+"/authorize", issuer+"/token", issuer+"/keys", scopes)
}

func reasonOf(err error) any {
	for _, refusal := range fault.All(err) {
		return refusal.Meta["reason"]
	}
	return nil
}

func TestProvider_RetriesAfterAWhile(t *testing.T) {
	t.Parallel()
	var asked atomic.Int32
	provider, clock := newProvider(t, func(w http.ResponseWriter, r *http.Request) {
		if asked.Add(1) == 1 {
			http.Error(w, "starting", http.StatusBadGateway)
			return
		}
		describe(w, r, "")
	})
	start := func() error { _, err := provider.Start(t.Context(), "http://here/callback", "/"); return err }
	for range 3 { // the provider is asked once, then not for a few seconds
		if err := start(); reasonOf(err) != ReasonUnavailable {
			t.Fatalf("got %v", err)
		}
	}
	if asked.Load() != 1 {
		t.Errorf("it was asked %d times", asked.Load())
	}
	clock.at = clock.at.Add(retryAfter)
	for range 3 { // the provider is asked once more, then its configuration is known
		if err := start(); err != nil {
			t.Fatal(err)
		}
	}
	if asked.Load() != 2 {
		t.Errorf("it was asked %d times", asked.Load())
	}
}

func TestProvider_DoesNotAnswer(t *testing.T) {
	t.Parallel()
	stop := make(chan struct{})
	provider, _ := newProvider(t, func(http.ResponseWriter, *http.Request) { <-stop })
	defer close(stop)
	provider.client.Timeout = 50 * time.Millisecond
	if _, err := provider.Start(t.Context(), "http://here/callback", "/"); reasonOf(err) != ReasonUnavailable {
		t.Errorf("got %v", err)
	}
}

func TestProvider_EndlessAnswer(t *testing.T) {
	t.Parallel()
	provider, _ := newProvider(t, func(w http.ResponseWriter, _ *http.Request) {
		for text := strings.Repeat(" ", 64<<10); ; {
			if _, err := w.Write([]byte(text)); err != nil {
				return
			}
		}
	})
	if _, err := provider.Start(t.Context(), "http://here/callback", "/"); reasonOf(err) != ReasonUnavailable {
		t.Errorf("got %v", err)
	}
}

// TestProvider_ManyAtOnce: a sign-in without a free slot fails in time.
func TestProvider_ManyAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		provider := New(Options{Issuer: "http://127.0.0.1:1"}, ring(t), time.Now)
		for range maxInFlight {
			provider.slots <- struct{}{}
		}
		began := time.Now()
		if _, err := provider.Start(t.Context(), "http://here/callback", "/"); reasonOf(err) != ReasonUnavailable || time.Since(began) != signInTimeout {
			t.Errorf("after %s got %v", time.Since(began), err)
		}
	})
}

func TestProvider_OtherIssuer(t *testing.T) {
	t.Parallel()
	provider, _ := newProvider(t, func(w http.ResponseWriter, r *http.Request) {
		r.Host = "evil.example.com"
		describe(w, r, "")
	})
	if _, err := provider.Start(t.Context(), "http://here/callback", "/"); reasonOf(err) != ReasonUnavailable {
		t.Errorf("got %v", err)
	}
}

func TestProvider_Scopes(t *testing.T) {
	t.Parallel()
	for announced, want := range map[string]string{``: "openid+email+profile&", `"openid","groups"`: "openid+email+profile+groups&"} {
		t.Run(fmt.Sprintf("%q", announced), func(t *testing.T) {
			provider, _ := newProvider(t, func(w http.ResponseWriter, r *http.Request) { describe(w, r, announced) })
			begun, err := provider.Start(t.Context(), "http://here/callback", "/")
			if err != nil || !strings.Contains(begun.Location+"&", "scope="+want) || !strings.Contains(begun.Location, "code_challenge_method=S256") {
				t.Errorf("got %s, %v", begun.Location, err)
			}
		})
	}
}

func TestFlow_Expires(t *testing.T) {
	t.Parallel()
	provider, clock := newProvider(t, func(w http.ResponseWriter, r *http.Request) { describe(w, r, "") })
	begun, err := provider.Start(t.Context(), "http://here/callback", "/flags")
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(begun.Flow, "flags") {
		t.Error("the flow is not sealed")
	}
	clock.at = clock.at.Add(FlowAge - time.Second)
	if kept, err := provider.open(begun.Flow); err != nil || kept.Return != "/flags" || kept.Verifier == "" {
		t.Errorf("got %+v, %v", kept, err)
	}
	clock.at = clock.at.Add(time.Second)
	if _, err := provider.open(begun.Flow); reasonOf(err) != ReasonState {
		t.Errorf("got %v", err)
	}
	// Another server cannot open the flow, and other sealed values do not open as a flow.
	clock.at = clock.at.Add(-FlowAge)
	other := New(provider.options, ring(t), clock.now)
	if _, _, err := other.Finish(context.WithoutCancel(t.Context()), begun.Flow, nil); reasonOf(err) != ReasonState {
		t.Errorf("got %v", err)
	}
}
