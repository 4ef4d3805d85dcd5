package api_test

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/signalbox/signalbox/internal/api"
	"github.com/signalbox/signalbox/internal/suite"
)

// loaded is a snapshot as a client reads it.
type loaded struct {
	Seq       int64                                `json:"seq"`
	Flags     []resource                           `json:"flags"`
	Loggers   []resource                           `json:"loggers"`
	LogGroups []resource                           `json:"log_groups"`
	Configs   map[string]map[string]map[string]any `json:"configs"`
}

func (a answer) snapshot() loaded {
	a.t.Helper()
	var document struct {
		Data struct {
			ID, Type   string
			Attributes loaded
		}
	}
	a.want(200).decode(&document)
	return document.Data.Attributes
}

func (c client) snapshot(environment string) loaded {
	c.t.Helper()
	return c.get(snapshotsPath + "/" + environment).snapshot()
}

// short returns the ids of resources, with their values for environments.
func short(resources []resource) map[string]any {
	shown := map[string]any{}
	for _, each := range resources {
		shown[each.ID] = each.Attributes["environments"]
	}
	return shown
}

func TestSnapshot_Contents(t *testing.T) {
	t.Parallel()
	owner := newOwner(t, "pro")
	owner.makeEnvironment("qa")
	owner.makeFlag("plain", nil)
	owner.makeFlag("set", attributes{"environments": attributes{"qa": attributes{"default": true}, "production": attributes{"enabled": false}}})
	owner.discoverFlag("found")
	owner.makeGroup("group", attributes{"level": "WARN", "environments": attributes{"qa": attributes{"level": "DEBUG"}, "production": attributes{"level": "ERROR"}}})
	owner.setLogger("shop.pay", levelIn("qa", "TRACE"))
	owner.makeConfig("base", attributes{"items": items(attributes{"a": 1, "o": attributes{"x": 1, "y": 2}}), "environments": attributes{"qa": attributes{"a": 2}}})
	owner.makeConfig("child", attributes{"parent": "base", "items": items(attributes{"o": attributes{"y": 3}})})
	qa, none := owner.snapshot("qa"), owner.snapshot("no-such-environment")
	enabled := map[string]any{"enabled": true, "default": true, "rules": []any{}}
	for name, c := range map[string]struct{ got, want any }{
		"flags":         {short(qa.Flags), map[string]any{"plain": map[string]any{}, "set": map[string]any{"qa": enabled}}},
		"loggers":       {short(qa.Loggers), map[string]any{"shop.pay": map[string]any{"qa": map[string]any{"level": "TRACE"}}}},
		"groups":        {short(qa.LogGroups), map[string]any{"group": map[string]any{"qa": map[string]any{"level": "DEBUG"}}}},
		"configs":       {qa.Configs["child"]["values"], map[string]any{"a": 2.0, "o": map[string]any{"x": 1.0, "y": 3.0}}},
		"all configs":   {slices.Sorted(maps.Keys(qa.Configs)), []string{"base", "child", "common"}},
		"no values":     {short(none.Flags), map[string]any{"plain": map[string]any{}, "set": map[string]any{}}},
		"base values":   {none.Configs["base"]["values"], map[string]any{"a": 1.0, "o": map[string]any{"x": 1.0, "y": 2.0}}},
		"the last seq":  {fmt.Sprint(qa.Seq), owner.latest().ID},
		"no other seq":  {none.Seq, qa.Seq},
		"as single one": {qa.Flags[0].Attributes["name"], owner.get(flagsPath + "/" + qa.Flags[0].ID).want(200).attribute("name")},
	} {
		t.Run(name, func(t *testing.T) {
			if difference := cmp.Diff(c.want, c.got); difference != "" {
				t.Errorf("want (-), got (+):\n%s", difference)
			}
		})
	}
	// A frozen environment keeps its values, which services still use.
	owner.put(environmentsPath+"/qa", envelope("", "", attributes{"name": "qa", "managed": false})).want(200)
	if frozen := owner.snapshot("qa"); cmp.Diff(short(qa.Flags), short(frozen.Flags)) != "" || frozen.Seq <= qa.Seq {
		t.Errorf("the frozen environment has %v", short(frozen.Flags))
	}
}

func TestSnapshot_Include(t *testing.T) {
	t.Parallel()
	owner := newOwner(t, "pro")
	owner.makeFlag("made", nil)
	for include, want := range map[string][]string{
		"flags": {"flags", "seq"}, "levels": {"log_groups", "loggers", "seq"}, "configs": {"configs", "seq"},
		"flags,configs": {"configs", "flags", "seq"}, "configs,flags,flags": {"configs", "flags", "seq"},
		"flags,levels,configs": {"configs", "flags", "log_groups", "loggers", "seq"},
	} {
		t.Run(include, func(t *testing.T) {
			got := owner.in(t).get(snapshotsPath + "/production?include=" + include).want(200).data()
			if members := slices.Sorted(maps.Keys(got.Attributes)); !slices.Equal(members, want) || got.ID != "production" || got.Type != "snapshot" {
				t.Errorf("%s has %v of %s %s", include, members, got.Type, got.ID)
			}
		})
	}
	for _, include := range []string{"", "jobs", "flags,", "flags levels", "FLAGS"} {
		t.Run(fmt.Sprintf("%q", include), func(t *testing.T) {
			owner.in(t).get(snapshotsPath+"/production?include="+strings.ReplaceAll(include, " ", "%20"), offContract).
				refused(400, problem{code: "invalid_parameter", source: "parameter include"})
		})
	}
	for _, environment := range []string{"-x", "a%2Fb", "a%20b", "%00", strings.Repeat("x", 101)} {
		t.Run(fmt.Sprintf("%.40q", environment), func(t *testing.T) {
			owner.in(t).get(snapshotsPath+"/"+environment, offContract).refused(404, problem{code: "not_found"})
		})
	}
}

func TestSnapshot_ETag(t *testing.T) {
	t.Parallel()
	onBoth(t, "pro", func(t *testing.T, owner client) {
		owner.makeFlag(strings.Repeat("x", 200), nil)
		for i := range 20 {
			owner.makeFlag(fmt.Sprint("flag-", i), nil)
		}
		path := snapshotsPath + "/production"
		first := owner.get(path, with("Accept-Encoding", "identity")).want(200)
		tag := first.header.Get("Etag")
		zipped := owner.get(path).want(200) // the transport takes it apart
		if zippedTag := zipped.header.Get("Etag"); zippedTag == tag || !bytes.Equal(zipped.body, first.body) {
			t.Errorf("%s and %s are encodings of two texts", tag, zippedTag)
		}
		for _, listed := range []string{tag, zipped.header.Get("Etag"), `"x", ` + tag} {
			if got := owner.get(path, with("If-None-Match", listed)).want(304); len(got.body) != 0 || got.header.Get("Etag") == "" {
				t.Errorf("got %q, %v", got.body, got.header)
			}
		}
		if other := owner.get(snapshotsPath+"/staging", with("Accept-Encoding", "identity")).want(200).header.Get("Etag"); other == tag {
			t.Error("two environments have one tag")
		}
		owner.makeFlag("another", nil)
		if changed := owner.get(path, with("If-None-Match", tag)).want(200); changed.header.Get("Etag") == tag || len(changed.snapshot().Flags) != 22 {
			t.Errorf("the change is not in it: %v", changed.header)
		}
	})
}

// TestSnapshotParts_Has: of all kinds that the history records, only these concern a part. Every change of another one
// that is taken for them would build all snapshots anew.
func TestSnapshotParts_Has(t *testing.T) {
	t.Parallel()
	recorded := contract().Components.Schemas["Change"].Value.Properties["attributes"].Value.Properties["kind"].Value.Enum
	levels := []string{"environment", "log_group", "logger"}
	for name, c := range map[string]struct {
		parts api.SnapshotParts
		want  []string
	}{
		"flags":   {api.SnapshotParts{Flags: true}, []string{"environment", "flag"}},
		"levels":  {api.SnapshotParts{Levels: true}, levels},
		"files":   {api.SnapshotParts{Files: true}, levels},
		"configs": {api.SnapshotParts{Configs: true}, []string{"config", "environment"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got []string
			for _, kind := range recorded {
				if kind := kind.(string); c.parts.Has(kind) {
					got = append(got, kind)
				}
			}
			slices.Sort(got)
			if difference := cmp.Diff(c.want, got); difference != "" {
				t.Errorf("(-want +got):\n%s", difference)
			}
		})
	}
}

// TestSnapshot_OneState: a read during writes sees everything up to one change and nothing after
// it. Each write increments one of the numbers.
func TestSnapshot_OneState(t *testing.T) {
	t.Parallel()
	onBoth(t, "pro", func(t *testing.T, owner client) {
		owner.post(flagsPath, envelope("", "count", flag("NUMERIC", 0, nil))).want(201)
		owner.makeConfig("count", attributes{"items": items(attributes{"n": 0})})
		base := owner.snapshot("production").Seq
		var writers sync.WaitGroup
		done := make(chan struct{})
		writers.Go(func() {
			defer close(done)
			for i := range suite.Scale(20, 200) {
				owner.put(flagsPath+"/count", envelope("", "", flag("NUMERIC", i+1, nil))).want(200)
				owner.put(configsPath+"/count", envelope("", "", attributes{"items": items(attributes{"n": i + 1})})).want(200)
			}
		})
		for open := true; open; {
			select {
			case <-done:
				open = false
			default:
			}
			got := owner.snapshot("production")
			sum := got.Flags[0].Attributes["default"].(float64) + got.Configs["count"]["values"]["n"].(float64)
			if int64(sum) != got.Seq-base {
				t.Errorf("change %d has %v writes, want %d", got.Seq, sum, got.Seq-base)
			}
		}
		writers.Wait()
	})
}

func TestConnections_Parameters(t *testing.T) {
	t.Parallel()
	owner := newOwner(t, "pro")
	for _, query := range []string{"page[after]=x", "page[size]=0", "sort=node", "filter[service]=x"} {
		t.Run(query, func(t *testing.T) {
			owner.in(t).get("/api/v1/connections?"+query, offContract).refusedParameter()
		})
	}
	owner.get("/api/v1/connections?sort=-connected_at&page[size]=1000").want(200)
	for _, query := range []string{"topics=flags", "service=%0A", "environment=%FF", "since=1&since=2", "service=a&service=b", "topics=&topics=all"} {
		t.Run(query, func(t *testing.T) { owner.in(t).get("/api/ws/v1/events?"+query, offContract).refusedParameter() })
	}
}

// refusedParameter checks that a query parameter was refused.
func (a answer) refusedParameter() {
	a.t.Helper()
	if a.want(400); !a.contains(`"invalid_parameter"`) || !a.contains(`"parameter"`) {
		a.t.Errorf("%s: got %s", a.what, a.body)
	}
}
