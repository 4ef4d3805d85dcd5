package signalbox_test

import (
	"encoding/json"
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

// TestSnapshot_JSON: a written snapshot is read back, and equals the server's document.
func TestSnapshot_JSON(t *testing.T) {
	t.Parallel()
	const sent = `{"data":{"id":"production","type":"snapshot","attributes":{"seq":7,
		"flags":[{"id":"f","type":"flag","attributes":{"type":"BOOLEAN","default":true,"managed":true,"environments":{"production":{"enabled":false}}}}],
		"loggers":[{"id":"shop","type":"logger","attributes":{"level":"DEBUG","managed":true,"group":"g"}}],
		"log_groups":[{"id":"g","type":"log_group","attributes":{"level":null}}],
		"configs":{"checkout":{"values":{"n":1.50}}}}},"meta":{}}`
	var read, again signalbox.Snapshot
	if err := json.Unmarshal([]byte(sent), &read); err != nil {
		t.Fatal(err)
	}
	if read.ID != "production" || read.Seq != 7 || read.Flags[0].ID != "f" || *read.Loggers[0].Group != "g" || string(read.Configs["checkout"]["n"]) != "1.50" {
		t.Errorf("read %+v", read)
	}
	text, err := json.Marshal(read)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &again); err != nil {
		t.Fatal(err)
	}
	if again.Seq != 7 || len(again.Flags) != 1 || again.Loggers[0].Level != read.Loggers[0].Level || string(again.Configs["checkout"]["n"]) != "1.50" {
		t.Errorf("read again %+v", again)
	}
	if err := json.Unmarshal([]byte(`{"errors":[]}`), &again); err == nil {
		t.Error("a document without a snapshot is read")
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
