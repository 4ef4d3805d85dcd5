package openfeature_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	of "github.com/open-feature/go-sdk/openfeature"
	"github.com/open-feature/go-sdk/openfeature/telemetry"

	"github.com/signalbox/signalbox/client/flageval"
	"github.com/signalbox/signalbox/client/live"
	"github.com/signalbox/signalbox/client/openfeature"
	"github.com/signalbox/signalbox/client/signalboxtest"
)

// These are all that the SDK asks of a provider.
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
		if c.got != c.want {
			t.Errorf("%s: got %s", name, c.got)
		}
	}
}

// TestProvider_Events: changes and outages are events, and the state follows.
func TestProvider_Events(t *testing.T) {
	t.Parallel()
	server := signalboxtest.NewServer(t, flags())
	box, err := live.Start(t.Context(), append(server.Options(), live.WithLogger(slog.New(slog.DiscardHandler)))...)
	if err != nil {
		t.Fatal(err)
	}
	defer box.Close(t.Context())
	events := make(chan string, 100)
	client := of.NewClient(t.Name())
	for _, kind := range []of.EventType{of.ProviderReady, of.ProviderConfigChange, of.ProviderStale} {
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
	server.Close()
	waitFor(t, events, "PROVIDER_STALE")
	if state := client.State(); state != of.StaleState || client.Boolean(t.Context(), "bool", true, of.EvaluationContext{}) {
		t.Errorf("in the state %s", state)
	}
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

func TestProvider_EvaluationEvents(t *testing.T) {
	t.Parallel()
	var seen []string
	record := func(_ context.Context, event telemetry.EvaluationEvent) {
		seen = append(seen, fmt.Sprint(event.Name, " ", event.Attributes[telemetry.FlagKey], " ", event.Attributes[telemetry.ResultVariantKey], " ",
			event.Attributes[telemetry.ContextIDKey], " ", event.Attributes[telemetry.FlagSetIDKey], " ", event.Attributes[telemetry.ProviderNameKey]))
	}
	client := newClient(t, openfeature.NewProvider(signalboxtest.New(t, flags()).Box, openfeature.WithEvaluationEvents(record)))
	client.String(t.Context(), "keyed", "code", who("u-1", nil))
	if want := []string{"feature_flag.evaluation keyed rule-0 u-1 test Signalbox"}; !slices.Equal(seen, want) {
		t.Errorf("got %q", seen)
	}
}
