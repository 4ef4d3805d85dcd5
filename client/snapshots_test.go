package signalbox_test

import (
	"errors"
	"testing"

	signalbox "github.com/signalbox/signalbox/client"
	"github.com/signalbox/signalbox/client/flageval"
	"github.com/signalbox/signalbox/client/internal/servertest"
)

func TestSnapshotsAPI_Server(t *testing.T) {
	t.Parallel()
	client, ctx := servertest.Start(t).Client(), t.Context()
	if _, err := client.Flags.Create(ctx, "made", signalbox.FlagDraft{Type: flageval.Boolean, Default: []byte("false"),
		Environments: map[string]flageval.Environment{"production": {Enabled: true, Default: []byte("true")}}}); err != nil {
		t.Fatal(err)
	}
	if _, err := client.Configs.Create(ctx, "limits", signalbox.ConfigDraft{Items: map[string]signalbox.ConfigItem{"n": {Value: []byte("5")}}}); err != nil {
		t.Fatal(err)
	}
	got, err := client.Snapshots.Get(ctx, "production", signalbox.SnapshotParams{})
	if err != nil || got.ID != "production" || got.Seq == 0 || got.StaleSince != nil || len(got.Flags) != 1 || got.Flags[0].ID != "made" ||
		string(got.Flags[0].Environments["production"].Default) != "true" || string(got.Configs["limits"]["n"]) != "5" {
		t.Fatalf("got %+v, %v", got, err)
	}
	if _, err := client.Snapshots.Get(ctx, "production", signalbox.SnapshotParams{ETag: got.ETag}); !errors.Is(err, signalbox.ErrNotModified) {
		t.Errorf("got %v", err)
	}
	part := signalbox.SnapshotParams{Include: []signalbox.SnapshotPart{signalbox.SnapshotLevels, signalbox.SnapshotConfigs}, ETag: got.ETag}
	if got, err := client.Snapshots.Get(ctx, "nowhere", part); err != nil || len(got.Flags) != 0 || len(got.Configs) == 0 {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestConnectionsAPI_Server(t *testing.T) {
	t.Parallel()
	client, ctx := servertest.Start(t).Client(), t.Context()
	follow := signalbox.EventParams{Service: "checkout", Environment: "production", AllTopics: true}
	for event, err := range client.Events.Follow(ctx, follow) {
		if err != nil {
			t.Fatal(err)
		}
		if event.Name == signalbox.EventEnvironmentChanged && event.ID == "qa" {
			break
		}
		if event.Name != signalbox.EventConnected {
			continue
		}
		for connection := range waitForConnections(t, client) {
			if *connection.Service != "checkout" || *connection.Environment != "production" || connection.Node == "" || connection.Client == "" {
				t.Errorf("got %+v", connection)
			}
		}
		if _, err := client.Environments.Create(ctx, "qa", signalbox.EnvironmentDraft{Name: "QA"}); err != nil {
			t.Fatal(err)
		}
	}
}

// waitForConnections iterates over the connections once there are some.
func waitForConnections(t *testing.T, client *signalbox.Client) func(yield func(signalbox.Connection) bool) {
	t.Helper()
	return func(yield func(signalbox.Connection) bool) {
		for found := false; !found; {
			for connection, err := range client.Connections.All(t.Context(), signalbox.ConnectionParams{Size: 1}) {
				if err != nil {
					t.Error(err)
					return
				}
				if found = true; !yield(connection) {
					return
				}
			}
		}
	}
}
