package openfeature_test

import (
	"context"
	"fmt"
	"log/slog"

	of "github.com/open-feature/go-sdk/openfeature"
	"github.com/open-feature/go-sdk/openfeature/telemetry"

	signalbox "github.com/signalbox/signalbox/client"
	"github.com/signalbox/signalbox/client/flageval"
	"github.com/signalbox/signalbox/client/live"
	"github.com/signalbox/signalbox/client/openfeature"
)

// example returns a box with one flag, as [live.Start] would return it.
func example() *live.Box {
	box, _ := live.Static(signalbox.Snapshot{Resource: signalbox.Resource{ID: "production"}, Flags: []signalbox.Flag{
		{Resource: signalbox.Resource{ID: "color"}, Type: flageval.String, Default: []byte(`"green"`)}}})
	return box
}

// Evaluate a flag of Signalbox with the SDK.
func ExampleNewProvider() {
	ctx := context.Background()
	if err := of.SetNamedProviderWithContextAndWait(ctx, "shop", openfeature.NewProvider(example())); err != nil {
		slog.Error("There are no flags yet; the defaults in the code are used.", "error", err)
	}
	user := of.NewEvaluationContext("alice", map[string]any{"plan": "pro"})
	fmt.Println(of.NewClient("shop").String(ctx, "color", "blue", user))
	// Output: green
}

// Record every evaluation as OpenTelemetry's log record: give the event to your logs bridge.
func ExampleWithEvaluationEvents() {
	ctx := context.Background()
	record := func(_ context.Context, event telemetry.EvaluationEvent) {
		fmt.Println(event.Name, event.Attributes[telemetry.FlagKey], event.Attributes[telemetry.ResultReasonKey])
	}
	provider := openfeature.NewProvider(example(), openfeature.WithEvaluationEvents(record))
	if err := of.SetNamedProviderWithContextAndWait(ctx, "recorded", provider); err != nil {
		slog.Error("There are no flags yet; the defaults in the code are used.", "error", err)
	}
	of.NewClient("recorded").String(ctx, "color", "blue", of.EvaluationContext{})
	// Output: feature_flag.evaluation color static
}
