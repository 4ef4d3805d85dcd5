package signalbox_test

import (
	"testing"

	signalbox "github.com/signalbox/signalbox/client"
	"github.com/signalbox/signalbox/client/flageval"
	"github.com/signalbox/signalbox/client/internal/servertest"
	"github.com/signalbox/signalbox/client/loglevel"
)

// TestApply_Server: Apply creates a missing resource and replaces an existing one.
func TestApply_Server(t *testing.T) {
	t.Parallel()
	client, ctx := servertest.Start(t).Client(), t.Context()
	const id = "applied"
	if _, err := client.Flags.Report(ctx, []signalbox.ReportedFlag{{ID: id, Type: flageval.Boolean, Default: []byte("true")}}); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"First", "Second"} {
		for kind, apply := range map[string]func() (string, error){
			"environment": func() (string, error) {
				made, err := client.Environments.Apply(ctx, id, signalbox.EnvironmentDraft{Name: name})
				return made.Name, err
			},
			"service": func() (string, error) {
				made, err := client.Services.Apply(ctx, id, signalbox.ServiceDraft{Name: name})
				return made.Name, err
			},
			"context type": func() (string, error) {
				made, err := client.ContextTypes.Apply(ctx, id, signalbox.ContextTypeDraft{Name: name})
				return made.Name, err
			},
			"flag": func() (string, error) {
				made, err := client.Flags.Apply(ctx, id, signalbox.FlagDraft{Name: name, Type: flageval.Boolean, Default: []byte("false"),
					Environments: map[string]flageval.Environment{"production": {Enabled: true}}})
				if err == nil && !made.Managed {
					t.Error("an applied flag is not managed")
				}
				return made.Name, err
			},
			"logger": func() (string, error) {
				made, err := client.Loggers.Apply(ctx, id, signalbox.LoggerDraft{Name: name, Base: signalbox.LevelSetting{Level: loglevel.Debug}})
				return made.Name, err
			},
			"log group": func() (string, error) {
				made, err := client.LogGroups.Apply(ctx, "group", signalbox.LogGroupDraft{Name: name})
				return made.Name, err
			},
			"config": func() (string, error) {
				made, err := client.Configs.Apply(ctx, id, signalbox.ConfigDraft{Name: name})
				return made.Name, err
			},
			"job": func() (string, error) {
				made, err := client.Jobs.Apply(ctx, id, signalbox.JobDraft{Name: name, Enabled: new(false), Schedule: "0 0 * * *",
					Configuration: signalbox.JobConfiguration{URL: "https://example.com"}})
				return made.Name, err
			},
		} {
			t.Run(name+" "+kind, func(t *testing.T) {
				if got, err := apply(); err != nil || got != name {
					t.Errorf("%s: got %q, %v", kind, got, err)
				}
			})
		}
	}
	if _, err := client.LogGroups.Apply(ctx, id, signalbox.LogGroupDraft{}); !signalbox.IsAlreadyExists(err) {
		t.Errorf("a log group with the id of a logger: %v", err)
	}
	if _, err := client.Configs.Apply(ctx, id, signalbox.ConfigDraft{}, signalbox.IfMatch(`"other"`)); !signalbox.IsVersionMismatch(err) {
		t.Errorf("got %v", err)
	}
}
