package signalbox_test

import (
	"encoding/json"
	"testing"

	signalbox "github.com/signalbox/signalbox/client"
	"github.com/signalbox/signalbox/client/internal/servertest"
	"github.com/signalbox/signalbox/client/internal/testenv"
)

func TestConfigsAPI_Server(t *testing.T) {
	t.Parallel()
	api, ctx := servertest.Start(t).Client().Configs, t.Context()
	page, err := api.List(ctx, signalbox.ConfigParams{})
	if err != nil || len(page.Items) != 1 || page.Items[0].ID != signalbox.CommonConfig {
		t.Fatalf("listed %+v, %v", page, err)
	}
	made, err := api.Create(ctx, "shop", signalbox.ConfigDraft{Items: map[string]signalbox.ConfigItem{
		"timeout": {Value: json.RawMessage(`5`)},
		"db":      {Value: json.RawMessage(`{"host":"a","port":1}`), Type: signalbox.ConfigJSON, Schema: json.RawMessage(`{"required":["host"]}`)},
	}, Environments: map[string]signalbox.ConfigOverrides{"production": {"db": json.RawMessage(`{"host":"b"}`)}}})
	if err != nil || made.Name != "shop" || *made.Parent != signalbox.CommonConfig || made.Items["timeout"].Type != signalbox.ConfigNumber || made.ETag == "" {
		t.Fatalf("made %+v, %v", made, err)
	}
	got, err := api.Get(ctx, "shop")
	if diff := testenv.Diff(made, got); diff != "" || err != nil {
		t.Error(err, diff)
	}
	resolved, err := api.Resolve(ctx, "shop", "production")
	if err != nil || string(resolved.Values["db"]) != `{"host":"b","port":1}` || *resolved.Environment != "production" ||
		resolved.Origins["db"] != (signalbox.ConfigOrigin{Config: "shop", Source: "environment"}) {
		t.Errorf("resolved %+v, %v", resolved, err)
	}
	if base, err := api.Resolve(ctx, "shop", ""); err != nil || base.Environment != nil || string(base.Values["db"]) != `{"host":"a","port":1}` {
		t.Errorf("resolved %+v, %v", base, err)
	}
	if _, err := api.Resolve(ctx, "shop", "nowhere"); !signalbox.IsInvalidParameter(err) {
		t.Errorf("an environment that does not exist resolves: %v", err)
	}
	again, err := api.Replace(ctx, "shop", made.Draft(), signalbox.IfMatch(made.ETag))
	same(t, made, again, err)

	if child, err := api.Create(ctx, "alone", signalbox.ConfigDraft{Standalone: true}); err != nil || child.Parent != nil {
		t.Errorf("made %+v, %v", child, err)
	}
	if child, err := api.Replace(ctx, "alone", signalbox.ConfigDraft{Parent: new("shop")}); err != nil || *child.Parent != "shop" {
		t.Errorf("replaced by %+v, %v", child, err)
	}
	if err := api.Delete(ctx, "shop"); !signalbox.IsConfigInUse(err) {
		t.Errorf("got %v", err)
	}
	if err := api.Delete(ctx, signalbox.CommonConfig); !signalbox.IsConfigProtected(err) {
		t.Errorf("got %v", err)
	}
	if found := collect(t, api.All(ctx, signalbox.ConfigParams{Parent: "shop"})); len(found) != 1 || found[0].ID != "alone" {
		t.Errorf("found %+v", found)
	}
	if err := api.Delete(ctx, "alone"); err != nil {
		t.Error(err)
	}
}
