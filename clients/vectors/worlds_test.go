package vectors_test

import (
	"bufio"
	"encoding/json"
	"flag"
	"maps"
	"os"
	"slices"
	"testing"

	signalbox "github.com/signalbox/signalbox/client"
	"github.com/signalbox/signalbox/client/flageval"
	"github.com/signalbox/signalbox/client/live"
	"github.com/signalbox/signalbox/client/loglevel"
)

var worldsFile = flag.String("worlds", "", "write many worlds into this file")

type configVector struct {
	Defaults map[string]any             `json:"defaults"`
	Values   map[string]json.RawMessage `json:"values"`
	Result   map[string]any             `json:"result"`
}

// configVectors merge the values of the server with the defaults of the code.
func configVectors(t *testing.T) []any {
	var lines []any
	for _, defaults := range []map[string]any{{}, {"timeout_ms": 1500, "hosts": []string{"a"}, "limits": map[string]any{"max": 1, "min": 0}}} {
		for _, values := range []map[string]json.RawMessage{
			{}, {"timeout_ms": raw(t, 200)}, {"hosts": raw(t, []string{}), "extra": raw(t, true)}, {"limits": raw(t, map[string]any{"max": 9})}, {"limits": raw(t, nil), "ratio": raw(t, 0.5)},
		} {
			snapshot := signalbox.Snapshot{Resource: signalbox.Resource{ID: "production"}, Seq: 1, Configs: map[string]map[string]json.RawMessage{"checkout": values}}
			box, _ := live.Static(snapshot)
			lines = append(lines, configVector{defaults, values, live.Config(box, "checkout", defaults).Get()})
			box.Close(t.Context())
		}
	}
	return lines
}

type declaration struct {
	Key     string          `json:"key"`
	Type    flageval.Type   `json:"type"`
	Default json.RawMessage `json:"default"`
}

type detail struct {
	Value   json.RawMessage `json:"value"`
	Reason  flageval.Reason `json:"reason"`
	Rule    int             `json:"rule"`
	Variant string          `json:"variant"`
	Code    flageval.Code   `json:"code"`
}

type worldVector struct {
	Snapshot signalbox.Snapshot         `json:"snapshot"`
	Service  string                     `json:"service"`
	Contexts []map[string]any           `json:"contexts"`
	Flags    []declaration              `json:"flags"`
	Values   [][]detail                 `json:"values"`
	Loggers  []string                   `json:"loggers"`
	Levels   map[string]loglevel.Level  `json:"levels"`
	Configs  map[string]json.RawMessage `json:"configs"`
}

// worldVectors are the values that a service gets from random snapshots.
func worldVectors(t *testing.T) []any {
	r := newRandom(4)
	var lines []any
	for range 60 {
		lines = append(lines, newWorldVector(t, r))
	}
	return lines
}

// TestWorlds_Many writes 10,000 other worlds into the file that -worlds names, for the long form of the clients' tests.
func TestWorlds_Many(t *testing.T) {
	if *worldsFile == "" {
		return
	}
	file, err := os.Create(*worldsFile)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	out := bufio.NewWriter(file)
	encoder := json.NewEncoder(out)
	r := newRandom(34)
	for range 10_000 {
		if err := encoder.Encode(newWorldVector(t, r)); err != nil {
			t.Fatal(err)
		}
	}
	if err := out.Flush(); err != nil {
		t.Fatal(err)
	}
}

func newWorldVector(t *testing.T, r random) worldVector {
	v := worldVector{Snapshot: r.snapshot(t), Flags: r.declarations(t), Loggers: []string{"a", "A/b", "a.b.c", "b", "b:c", "d"}, Levels: map[string]loglevel.Level{},
		Configs: map[string]json.RawMessage{}}
	for range 3 {
		data := r.data().(map[string]any)
		v.Contexts = append(v.Contexts, map[string]any{"user": data["user"], "account": map[string]any{"key": pick(r, "acme", "globex"), "list": data["list"]}})
	}
	box, _ := live.Static(v.Snapshot)
	defer box.Close(t.Context())
	for _, context := range v.Contexts {
		var details []detail
		for _, each := range v.Flags {
			details = append(details, each.evaluate(t, box, context))
		}
		v.Values = append(v.Values, details)
	}
	box.Adapt(&recorder{v})
	for key := range v.Snapshot.Configs {
		v.Configs[key] = raw(t, live.Config(box, key, map[string]json.RawMessage{}).Get())
	}
	return v
}

// recorder is a framework with the loggers of a world. It records their levels.
type recorder struct{ world worldVector }

func (r *recorder) Loggers() []live.Logger {
	var list []live.Logger
	for _, name := range r.world.Loggers {
		r.world.Levels[name] = loglevel.None
		list = append(list, live.Logger{Name: name})
	}
	return list
}

func (r *recorder) SetLevel(name string, level loglevel.Level) { r.world.Levels[name] = level }

func (r *recorder) OnNew(func(live.Logger)) {}

func (d declaration) evaluate(t *testing.T, box *live.Box, context map[string]any) detail {
	var contexts []live.Context
	for _, typ := range slices.Sorted(maps.Keys(context)) {
		var attributes []live.Attribute
		for name, value := range context[typ].(map[string]any) {
			attributes = append(attributes, live.Attr(name, value))
		}
		contexts = append(contexts, live.ContextOf(typ, "", attributes...))
	}
	ctx := live.WithContext(t.Context(), contexts...)
	switch d.Type {
	case flageval.Boolean:
		return detailOf(t, box.Bool(d.Key, decoded[bool](t, d.Default)).GetDetail(ctx))
	case flageval.String:
		return detailOf(t, box.String(d.Key, decoded[string](t, d.Default)).GetDetail(ctx))
	case flageval.Numeric:
		return detailOf(t, box.Number(d.Key, decoded[float64](t, d.Default)).GetDetail(ctx))
	case flageval.JSON:
	}
	return detailOf(t, live.JSON(box, d.Key, decoded[any](t, d.Default)).GetDetail(ctx))
}

func decoded[T any](t *testing.T, text json.RawMessage) T {
	t.Helper()
	var value T
	if err := json.Unmarshal(text, &value); err != nil {
		t.Fatal(err)
	}
	return value
}

func detailOf[T any](t *testing.T, found live.Detail[T]) detail {
	return detail{raw(t, found.Value), found.Reason, found.Rule, found.Variant, found.Code}
}

func worldFlags() []string { return []string{"a", "b", "c", "d", "e"} }

func (r random) declarations(t *testing.T) []declaration {
	var list []declaration
	for _, key := range worldFlags() {
		kind := pick(r, flageval.Boolean, flageval.String, flageval.Numeric, flageval.JSON)
		list = append(list, declaration{key, kind, raw(t, r.value(string(kind)))})
	}
	return list
}

func (r random) snapshot(t *testing.T) signalbox.Snapshot {
	snapshot := signalbox.Snapshot{Resource: signalbox.Resource{ID: "production"}, Seq: 1 + r.Int64N(100), Configs: map[string]map[string]json.RawMessage{}}
	for _, key := range worldFlags() {
		if r.chance(85) {
			snapshot.Flags = append(snapshot.Flags, r.flag(t, key))
		}
	}
	for _, each := range r.loggers() {
		logger := signalbox.Logger{Resource: signalbox.Resource{ID: each.Key}, Name: each.Key, Level: each.Level, Managed: each.Managed, Environments: overridesOf(each.Environments)}
		if each.Group != "" {
			logger.Group = &each.Group
		}
		snapshot.Loggers = append(snapshot.Loggers, logger)
	}
	for _, each := range r.groups() {
		snapshot.LogGroups = append(snapshot.LogGroups, signalbox.LogGroup{Resource: signalbox.Resource{ID: each.Key}, Name: each.Key, Level: each.Level,
			Environments: overridesOf(each.Environments)})
	}
	for _, key := range []string{"checkout", "search"} {
		if r.chance(70) {
			snapshot.Configs[key] = map[string]json.RawMessage{"timeout_ms": raw(t, r.IntN(5000)), "json": raw(t, r.value("JSON"))}
		}
	}
	return snapshot
}

func (r random) flag(t *testing.T, key string) signalbox.Flag {
	var d flageval.Definition
	if err := json.Unmarshal(raw(t, r.definition()), &d); err != nil {
		t.Fatal(err)
	}
	flag := signalbox.Flag{Resource: signalbox.Resource{ID: key}, Name: key, Type: d.Type, Default: d.Default, Managed: true, Environments: d.Environments}
	for i := range r.IntN(4) {
		flag.Values = append(flag.Values, signalbox.FlagChoice{Name: string(rune('A' + i)), Value: raw(t, r.value(string(d.Type)))})
	}
	return flag
}

func overridesOf(levels map[string]loglevel.Level) map[string]signalbox.LevelOverride {
	found := map[string]signalbox.LevelOverride{}
	for environment, level := range levels {
		found[environment] = signalbox.LevelOverride{Level: level}
	}
	return found
}
