package signalbox_test

import (
	"fmt"
	"testing"
	"time"

	signalbox "github.com/signalbox/signalbox/client"
	"github.com/signalbox/signalbox/client/internal/servertest"
	"github.com/signalbox/signalbox/client/loglevel"
)

func TestLoggersAPI_Server(t *testing.T) {
	t.Parallel()
	client, ctx := servertest.Start(t).Client(), t.Context()
	reported, err := client.Loggers.Report(ctx, []signalbox.ReportedLogger{
		{Name: "Com/Example:Shop", Level: loglevel.Warn, Service: "shop", Environment: "production"}, {Name: "com.example.shop.cart"}, {Name: ""},
	})
	if err != nil || reported.Registered != 2 || len(reported.Rejected) != 1 {
		t.Fatalf("reported %+v, %v", reported, err)
	}
	if _, err := client.LogGroups.Create(ctx, "sql", signalbox.LogGroupDraft{Name: "SQL", Base: signalbox.LevelSetting{Level: loglevel.Error}}); err != nil {
		t.Fatal(err)
	}
	draft := signalbox.LoggerDraft{Group: "sql", Environments: map[string]signalbox.LevelSetting{"production": {Level: loglevel.Debug, TTL: time.Hour}}}
	made, err := client.Loggers.Replace(ctx, "com/example/shop", draft)
	if err != nil || !made.Managed || made.Resolved["production"].Level != loglevel.Debug || *made.Resolved["staging"].Of != "sql" {
		t.Fatalf("made %+v, %v", made, err)
	}
	expires := made.Environments["production"].ExpiresAt
	again, err := client.Loggers.Replace(ctx, made.ID, made.Draft(), signalbox.IfMatch(made.ETag))
	if err != nil || expires == nil || !again.Environments["production"].ExpiresAt.Equal(*expires) {
		t.Errorf("the draft that changes nothing made %+v, %v", again, err)
	}
	draft.Environments["production"] = signalbox.LevelSetting{Level: loglevel.Debug, Permanent: true}
	if again, err = client.Loggers.Replace(ctx, made.ID, draft); err != nil || again.Environments["production"].ExpiresAt != nil {
		t.Errorf("made %+v, %v", again, err)
	}
	for ttl, accepted := range map[time.Duration]bool{time.Nanosecond: true, -time.Nanosecond: false, -time.Hour: false} {
		t.Run(ttl.String(), func(t *testing.T) {
			draft.Environments["production"] = signalbox.LevelSetting{Level: loglevel.Debug, TTL: ttl}
			if _, err := client.Loggers.Replace(ctx, made.ID, draft); (err == nil) != accepted {
				t.Errorf("%v: %v", ttl, err)
			}
		})
	}
	managed := true
	for params, want := range map[*signalbox.LoggerParams]int{
		{}: 2, {Managed: &managed}: 1, {Group: "sql"}: 1, {Service: "shop", SeenSince: time.Now().Add(-time.Hour)}: 1, {Search: "CART"}: 1, {Service: "x"}: 0,
	} {
		if found := collect(t, client.Loggers.All(ctx, *params)); len(found) != want {
			t.Errorf("%+v: %d loggers, want %d", *params, len(found), want)
		}
	}
	for name, want := range map[string]int{"": 2, "Com.Example.Shop": 1} {
		t.Run(fmt.Sprintf("%q", name), func(t *testing.T) {
			if found := collect(t, client.Loggers.AllSources(ctx, name, signalbox.SourceParams{Paging: signalbox.Paging{Size: 1}})); len(found) != want {
				t.Errorf("%q: %+v", name, found)
			}
		})
	}
	sources, err := client.Loggers.Sources(ctx, "", signalbox.SourceParams{Service: "shop", Environment: "production"})
	if err != nil || len(sources.Items) != 1 || sources.Items[0].ResolvedLevel != loglevel.Warn || sources.Items[0].Logger != "com.example.shop" {
		t.Errorf("got %+v, %v", sources, err)
	}
	released, err := client.Loggers.Replace(ctx, made.ID, signalbox.LoggerDraft{Release: true})
	if err != nil || released.Managed || len(released.Environments) != 0 || released.Group != nil {
		t.Errorf("released %+v, %v", released, err)
	}
	if err := client.Loggers.Delete(ctx, made.ID); err != nil {
		t.Error(err)
	}
	if _, err := client.Loggers.Get(ctx, made.ID); !signalbox.IsNotFound(err) {
		t.Errorf("got %v", err)
	}
}

func TestLogGroupsAPI_Server(t *testing.T) {
	t.Parallel()
	client, ctx := servertest.Start(t).Client(), t.Context()
	at := time.Now().Add(time.Hour).UTC().Truncate(time.Microsecond)
	draft := signalbox.LogGroupDraft{Base: signalbox.LevelSetting{Level: loglevel.Trace, ExpiresAt: &at}}
	group, err := client.LogGroups.Create(ctx, "a/b SQL", draft)
	if err != nil || group.ID != "a/b SQL" || group.Name != group.ID || !group.LevelExpiresAt.Equal(at) {
		t.Fatalf("made %+v, %v", group, err)
	}
	if got, err := client.LogGroups.Get(ctx, group.ID); err != nil || got.ETag != group.ETag || got.Resolved["staging"].Level != loglevel.Trace {
		t.Errorf("got %+v, %v", got, err)
	}
	same, err := client.LogGroups.Replace(ctx, group.ID, group.Draft(), signalbox.IfMatch(group.ETag))
	if err != nil || !same.LevelExpiresAt.Equal(at) {
		t.Errorf("the draft that changes nothing made %+v, %v", same, err)
	}
	if found := collect(t, client.LogGroups.All(ctx, signalbox.LogGroupParams{Search: "sql"})); len(found) != 1 {
		t.Errorf("found %+v", found)
	}
	if err := client.LogGroups.Delete(ctx, group.ID); err != nil {
		t.Error(err)
	}
}
