package signalbox_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"

	signalbox "github.com/signalbox/signalbox/client"
	"github.com/signalbox/signalbox/client/flageval"
)

// Make an environment managed, and recognize that the plan is full.
func Example() {
	ctx := context.Background()
	client, err := signalbox.New("http://127.0.0.1:8080", os.Getenv("SIGNALBOX_API_KEY"), signalbox.WithUserAgent("deploy/2.1"))
	if err != nil {
		slog.Error("Creating the client failed.", "error", err)
		return
	}
	staging, err := client.Environments.Get(ctx, "staging")
	if err != nil {
		slog.Error("Reading the environment failed.", "error", err)
		return
	}
	draft := staging.Draft()
	draft.Managed = new(true)
	_, err = client.Environments.Replace(ctx, staging.ID, draft, signalbox.IfMatch(staging.ETag))
	if refusal, is := errors.AsType[*signalbox.APIError](err); is && signalbox.IsLimitReached(err) {
		limit, _ := refusal.Limit()
		slog.Error("The plan is full.", "plan", limit.Plan, "maximum", limit.Maximum)
	}
}

// Print the history of one resource, newest change first.
func ExampleChangesAPI_All() {
	client, err := signalbox.New("http://127.0.0.1:8080", os.Getenv("SIGNALBOX_API_KEY"))
	if err != nil {
		slog.Error("Creating the client failed.", "error", err)
		return
	}
	for change, err := range client.Changes.All(context.Background(), signalbox.ChangeParams{Resource: "environment:staging"}) {
		if err != nil {
			slog.Error("Reading the history failed.", "error", err)
			return
		}
		fmt.Fprintln(os.Stdout, change.CreatedAt, change.Action, "by", change.Actor.Name)
	}
}

// Serve a flag to the customers of one plan, and see why one of them gets it.
func ExampleFlagsAPI_Evaluate() {
	ctx := context.Background()
	client, err := signalbox.New("http://127.0.0.1:8080", os.Getenv("SIGNALBOX_API_KEY"))
	if err != nil {
		slog.Error("Creating the client failed.", "error", err)
		return
	}
	_, err = client.Flags.Create(ctx, "checkout-v2", signalbox.FlagDraft{
		Type: flageval.Boolean, Default: json.RawMessage(`false`),
		Environments: map[string]flageval.Environment{"production": {Enabled: true, Rules: []flageval.Rule{
			{Description: "Gold", Logic: json.RawMessage(`{"==":[{"var":"user.plan"},"gold"]}`), Value: json.RawMessage(`true`)},
		}}},
	})
	if err != nil && !signalbox.IsAlreadyExists(err) {
		slog.Error("Creating the flag failed.", "error", err)
		return
	}
	decided, err := client.Flags.Evaluate(ctx, "checkout-v2", "production", map[string]any{"user": map[string]any{"key": "alice", "plan": "gold"}})
	if err != nil {
		slog.Error("Evaluating the flag failed.", "error", err)
		return
	}
	fmt.Println(string(decided.Value), decided.Reason)
	for _, rule := range decided.Explanation.Rules {
		fmt.Println(rule.Index, rule.Description, rule.Matched)
	}
}

// Follow changes, and reload everything when events may have been missed.
func ExampleEventsAPI_Follow() {
	ctx := context.Background()
	client, err := signalbox.New("http://127.0.0.1:8080", os.Getenv("SIGNALBOX_API_KEY"))
	if err != nil {
		slog.Error("Creating the client failed.", "error", err)
		return
	}
	for event, err := range client.Events.Follow(ctx, signalbox.EventParams{}) {
		switch {
		case err != nil:
			slog.Error("The stream ended.", "error", err)
		case event.Name == signalbox.EventConnected && !event.Resumed, event.Name == signalbox.EventFlagsChanged:
			fmt.Println("read all flags")
		case event.Name == signalbox.EventFlagChanged, event.Name == signalbox.EventFlagDeleted:
			fmt.Println("read the flag", event.ID)
		}
	}
}
