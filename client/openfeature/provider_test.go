package openfeature_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	of "github.com/open-feature/go-sdk/openfeature"
	"github.com/open-feature/go-sdk/openfeature/telemetry"

	signalbox "github.com/signalbox/signalbox/client"
	"github.com/signalbox/signalbox/client/flageval"
	"github.com/signalbox/signalbox/client/live"
	"github.com/signalbox/signalbox/client/openfeature"
	"github.com/signalbox/signalbox/client/signalboxtest"
)

// The provider implements every interface that the SDK looks for.
var (
	_ of.FeatureProvider          = (*openfeature.Provider)(nil)
	_ of.ContextAwareStateHandler = (*openfeature.Provider)(nil)
	_ of.EventHandler             = (*openfeature.Provider)(nil)
)

func ruled(fallback, logic, value string) flageval.Environment {
	return flageval.Environment{Enabled: true, Default: []byte(fallback), Rules: []flageval.Rule{{Logic: []byte(logic), Value: []byte(value)}}}
}

func flags() signalboxtest.Flags {
	return signalboxtest.Flags{
		"bool": true, "text": "hi", "int": 10, "float": 0.5, "object": map[string]any{"title": "Pictures", "count": 100, "shown": true},
		"ruled": ruled(`"external"`, `{"and":[{"==":[{"var":"user.fn"},"Ada"]},{"==":[{"var":"user.age"},29]},{"==":[{"var":"user.customer"},false]}]}`, `"internal"`),
		"keyed": ruled(`"no"`, `{"==":[{"var":"user.key"},"u-1"]}`, `"yes"`),
		"firm":  ruled(`"no"`, `{"==":[{"var":"account.tier"},7]}`, `"yes"`),
		"split": ruled(`"no"`, `{"fractional":[[true,1]]}`, `"yes"`),
		"off":   flageval.Environment{Default: []byte(`"off"`), Rules: []flageval.Rule{{Logic: []byte(`true`), Value: []byte(`"on"`)}}},
	}
}

// newClient registers a provider under the test's name.
func newClient(t *testing.T, provider *openfeature.Provider) *of.Client {
	t.Helper()
	if err := of.SetNamedProviderWithContextAndWait(t.Context(), t.Name(), provider); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(provider.Shutdown)
	return of.NewClient(t.Name())
}

func who(key string, attributes map[string]any) of.EvaluationContext {
	return of.NewEvaluationContext(key, attributes)
}

// TestProvider_Types: every type is resolved, with its variant and reason.
func TestProvider_Types(t *testing.T) {
	t.Parallel()
	client, ctx, nobody := newClient(t, openfeature.NewProvider(signalboxtest.New(t, flags()).Box)), t.Context(), of.EvaluationContext{}
	check := func(name string, value any, detail of.EvaluationDetails, err error, want string) {
		t.Helper()
		got := fmt.Sprint(value, " ", detail.Variant, " ", detail.Reason, " ", detail.ErrorCode)
		if got != want || (detail.ErrorCode == "") != (err == nil) {
			t.Errorf("%s: got %q, %v, want %q", name, got, err, want)
		}
	}
	boolean, err := client.BooleanValueDetails(ctx, "bool", false, nobody)
	check("bool", boolean.Value, boolean.EvaluationDetails, err, "true environment STATIC ")
	text, err := client.StringValueDetails(ctx, "text", "bye", nobody)
	check("text", text.Value, text.EvaluationDetails, err, "hi environment STATIC ")
	number, err := client.IntValueDetails(ctx, "int", 1, nobody)
	check("int", number.Value, number.EvaluationDetails, err, "10 environment STATIC ")
	float, err := client.FloatValueDetails(ctx, "float", 0.1, nobody)
	check("float", float.Value, float.EvaluationDetails, err, "0.5 environment STATIC ")
	object, err := client.ObjectValueDetails(ctx, "object", nil, nobody)
	check("object", object.Value, object.EvaluationDetails, err, "map[count:100 shown:true title:Pictures] environment STATIC ")
	text, err = client.StringValueDetails(ctx, "off", "x", nobody)
	check("disabled", text.Value, text.EvaluationDetails, err, "off environment DISABLED ")
	text, err = client.StringValueDetails(ctx, "split", "x", who("u", nil))
	check("split", text.Value, text.EvaluationDetails, err, "yes rule-0 SPLIT ")
	if set := text.FlagMetadata["flagSetId"]; set != signalboxtest.Environment {
		t.Errorf("the flag set is %v", set)
	}
	text, err = client.StringValueDetails(ctx, "missing", "x", nobody)
	check("missing", text.Value, text.EvaluationDetails, err, "x  ERROR FLAG_NOT_FOUND")
	number, err = client.IntValueDetails(ctx, "text", 13, nobody)
	check("another type", number.Value, number.EvaluationDetails, err, "13  ERROR TYPE_MISMATCH")
	number, err = client.IntValueDetails(ctx, "float", 13, nobody)
	check("a fraction", number.Value, number.EvaluationDetails, err, "13  ERROR TYPE_MISMATCH")
	object, err = client.ObjectValueDetails(ctx, "bool", func() {}, nobody)
	if _, is := object.Value.(func()); !is || err == nil {
		t.Errorf("a default that is no JSON: %v, %v", object, err)
	}
}

// TestProvider_DeclaredObject: a flag that the service declares with a type of its own can be read over OpenFeature too.
func TestProvider_DeclaredObject(t *testing.T) {
	t.Parallel()
	box := signalboxtest.New(t, flags()).Box
	client := newClient(t, openfeature.NewProvider(box))
	declared := live.JSON(box, "object", map[string]any{}).Get(t.Context())
	object, err := client.ObjectValue(t.Context(), "object", map[string]any{}, of.EvaluationContext{})
	if err != nil || fmt.Sprint(object) != fmt.Sprint(declared) {
		t.Errorf("got %v, %v, want %v", object, err, declared)
	}
}

// TestProvider_Contexts: the evaluation context is read as by the server.
func TestProvider_Contexts(t *testing.T) {
	t.Parallel()
	client, ctx := newClient(t, openfeature.NewProvider(signalboxtest.New(t, flags()).Box)), t.Context()
	get := func(ctx context.Context, flag string, in of.EvaluationContext) string {
		return client.String(ctx, flag, "code", in)
	}
	for name, c := range map[string]struct{ got, want string }{
		"attributes":       {get(ctx, "ruled", who("", map[string]any{"fn": "Ada", "age": int64(29), "customer": false})), "internal"},
		"other attributes": {get(ctx, "ruled", who("", map[string]any{"fn": "Ada", "age": 30, "customer": false})), "external"},
		"nothing":          {get(ctx, "ruled", of.EvaluationContext{}), "external"},
		"the key":          {get(ctx, "keyed", who("u-1", nil)), "yes"},
		"a user's own key": {get(ctx, "keyed", who("other", map[string]any{"user": map[string]any{"key": "u-1"}})), "yes"},
		"another type":     {get(ctx, "firm", who("u", map[string]any{"account": map[string]any{"key": "acme", "tier": 7}})), "yes"},
		"what ctx has":     {get(live.WithContext(ctx, live.ContextOf("account", "acme", live.Attr("tier", 7))), "firm", who("u", nil)), "yes"},
	} {
		t.Run(name, func(t *testing.T) {
			if c.got != c.want {
				t.Errorf("got %s", c.got)
			}
		})
	}
}

// TestProvider_Events: changes and outages are events, and the state follows.
func TestProvider_Events(t *testing.T) {
	t.Parallel()
	server := signalboxtest.NewServer(t, flags())
	gate := newGate(t, server.URL)
	box, err := live.Start(t.Context(), append(server.Options(), live.WithURL(gate.URL), live.WithLogger(slog.New(slog.DiscardHandler)))...)
	if err != nil {
		t.Fatal(err)
	}
	defer box.Close(t.Context())
	events := make(chan string, 100)
	client := of.NewClient(t.Name())
	for _, kind := range []of.EventType{of.ProviderReady, of.ProviderConfigChange, of.ProviderStale, of.ProviderError} {
		callback := func(details of.EventDetails) { events <- fmt.Sprint(kind, " ", details.FlagChanges) }
		client.AddHandler(kind, &callback)
	}
	newClient(t, openfeature.NewProvider(box))
	waitFor(t, events, "PROVIDER_READY")
	server.Set(signalboxtest.Flags{"bool": false})
	waitFor(t, events, "PROVIDER_CONFIGURATION_CHANGED [bool]")
	if client.Boolean(t.Context(), "bool", true, of.EvaluationContext{}) {
		t.Error("the change is not served")
	}
	for _, each := range []struct {
		status int
		event  string
		state  of.State
	}{
		{http.StatusServiceUnavailable, "PROVIDER_STALE", of.StaleState},
		{http.StatusUnauthorized, "PROVIDER_ERROR", of.ErrorState},
		{http.StatusOK, "PROVIDER_READY", of.ReadyState},
	} {
		gate.set(each.status)
		waitFor(t, events, each.event)
		value, err := client.BooleanValue(t.Context(), "bool", true, of.EvaluationContext{})
		if state := client.State(); state != each.state || value || err != nil {
			t.Errorf("with the status %d: %s, %v, %v", each.status, state, value, err)
		}
	}
}

// gate is a proxy that can answer with a status instead.
type gate struct {
	*httptest.Server
	mu     sync.Mutex
	status int
	conns  map[net.Conn]bool
}

func newGate(t *testing.T, target string) *gate {
	t.Helper()
	to, err := url.Parse(target)
	if err != nil {
		t.Fatal(err)
	}
	forward := httputil.NewSingleHostReverseProxy(to)
	forward.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	codes := map[int]string{http.StatusUnauthorized: "unauthorized", http.StatusServiceUnavailable: "unavailable"}
	g := &gate{status: http.StatusOK, conns: map[net.Conn]bool{}}
	g.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		g.mu.Lock()
		status := g.status
		g.mu.Unlock()
		if status == http.StatusOK {
			forward.ServeHTTP(w, r)
			return
		}
		w.WriteHeader(status)
		fmt.Fprintf(w, `{"errors":[{"status":"%d","code":%q,"title":"On purpose"}]}`, status, codes[status])
	}))
	g.Config.ConnState = func(conn net.Conn, _ http.ConnState) {
		g.mu.Lock()
		defer g.mu.Unlock()
		g.conns[conn] = true
	}
	g.Start()
	t.Cleanup(func() { g.set(http.StatusGone); g.Close() })
	return g
}

// set cuts all connections and answers with a status from now on; 200 forwards.
func (g *gate) set(status int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.status = status
	for conn := range g.conns {
		conn.Close()
	}
	clear(g.conns)
}

func waitFor(t *testing.T, events <-chan string, want string) {
	t.Helper()
	for limit := time.After(30 * time.Second); ; {
		select {
		case got := <-events:
			if strings.HasPrefix(got, want) {
				return
			}
		case <-limit:
			t.Fatal("no event " + want)
		}
	}
}

// TestProvider_NotReady: a provider without values says so, and serves defaults.
func TestProvider_NotReady(t *testing.T) {
	t.Parallel()
	box, err := live.Start(t.Context(), live.WithURL("http://127.0.0.1:1"), live.WithKey("k"), live.WithEnvironment("e"), live.WithoutCache(),
		live.WithLogger(slog.New(slog.DiscardHandler)))
	if err != nil {
		t.Fatal(err)
	}
	defer box.Close(t.Context())
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	provider := openfeature.NewProvider(box)
	defer provider.Shutdown()
	err = provider.InitWithContext(ctx, of.EvaluationContext{})
	if refused, is := errors.AsType[*of.ProviderInitError](err); !is || refused.ErrorCode != of.ProviderNotReadyCode {
		t.Errorf("got %v", err)
	}
	found := provider.BooleanEvaluation(t.Context(), "f", true, nil)
	if !found.Value || found.ResolutionDetail().ErrorCode != of.ProviderNotReadyCode {
		t.Errorf("got %+v", found)
	}
}

// TestProvider_LastKnownValues: with values from before, a provider is initialized at once, and stale.
func TestProvider_LastKnownValues(t *testing.T) {
	t.Parallel()
	kept := filepath.Join(t.TempDir(), "kept.json")
	text, err := json.Marshal(signalbox.Snapshot{Resource: signalbox.Resource{ID: "e"}, Seq: 7, Flags: []signalbox.Flag{
		{Resource: signalbox.Resource{ID: "color"}, Type: flageval.String, Default: []byte(`"red"`)}}})
	if err == nil {
		err = os.WriteFile(kept, text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	box, err := live.Start(t.Context(), live.WithURL("http://127.0.0.1:1"), live.WithKey("k"), live.WithEnvironment("e"), live.WithoutCache(),
		live.WithBootstrap(kept), live.WithLogger(slog.New(slog.DiscardHandler)))
	if err != nil {
		t.Fatal(err)
	}
	defer box.Close(t.Context())
	stale, began := make(chan string, 10), time.Now()
	client := newClient(t, openfeature.NewProvider(box))
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("it took %s", took)
	}
	callback := func(of.EventDetails) { stale <- "PROVIDER_STALE" }
	client.AddHandler(of.ProviderStale, &callback)
	waitFor(t, stale, "PROVIDER_STALE")
	if color := client.String(t.Context(), "color", "blue", of.EvaluationContext{}); color != "red" || client.State() != of.StaleState {
		t.Errorf("%s in the state %s", color, client.State())
	}
}

// TestProvider_InitAgain: after a shutdown a provider can be used again, and reports its changes.
func TestProvider_InitAgain(t *testing.T) {
	t.Parallel()
	values := signalboxtest.New(t, flags())
	provider := openfeature.NewProvider(values.Box)
	for i := range 3 {
		if err := provider.InitWithContext(t.Context(), of.EvaluationContext{}); err != nil {
			t.Fatal(err)
		}
		values.Set(signalboxtest.Flags{"int": i})
		if got := <-provider.EventChannel(); got.EventType != of.ProviderConfigChange || !slices.Equal(got.FlagChanges, []string{"int"}) {
			t.Errorf("got %+v", got)
		}
		provider.Shutdown()
		values.Set(signalboxtest.Flags{"bool": i%2 == 0})
		provider.Shutdown() // again changes nothing
	}
}

func TestProvider_EvaluationEvents(t *testing.T) {
	t.Parallel()
	var seen []string
	record := func(_ context.Context, event telemetry.EvaluationEvent) {
		seen = append(seen, fmt.Sprint(event.Name, " ", event.Attributes[telemetry.FlagKey], " ", event.Attributes[telemetry.ResultVariantKey], " ",
			event.Attributes[telemetry.ContextIDKey], " ", event.Attributes[telemetry.FlagSetIDKey], " ", event.Attributes[telemetry.ProviderNameKey],
			" ", event.Attributes[telemetry.ResultReasonKey], " ", event.Attributes[telemetry.ErrorTypeKey]))
	}
	client := newClient(t, openfeature.NewProvider(signalboxtest.New(t, flags()).Box, openfeature.WithEvaluationEvents(record)))
	client.String(t.Context(), "keyed", "code", who("u-1", nil))
	client.String(t.Context(), "missing", "code", who("u-2", nil))
	client.Int(t.Context(), "text", 1, who("", nil))
	if want := []string{
		"feature_flag.evaluation keyed rule-0 u-1 test Signalbox targeting_match <nil>",
		"feature_flag.evaluation missing <nil> u-2 test Signalbox error flag_not_found",
		"feature_flag.evaluation text <nil>  test Signalbox error type_mismatch",
	}; !slices.Equal(seen, want) {
		t.Errorf("got %q", seen)
	}
}
