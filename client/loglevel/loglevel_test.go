package loglevel_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/signalbox/signalbox/client/internal/testenv"
	"github.com/signalbox/signalbox/client/loglevel"
)

func TestLevels(t *testing.T) {
	t.Parallel()
	for severity, name := range []string{"TRACE", "DEBUG", "INFO", "WARN", "ERROR", "FATAL", "SILENT"} {
		t.Run(name, func(t *testing.T) {
			level, known := loglevel.Parse(strings.ToLower(name))
			if !known || level.String() != name || level.Severity() != severity {
				t.Errorf("%s is %v with the severity %d", name, level, level.Severity())
			}
		})
	}
	for _, text := range []string{"", "WARNING", "null", "INFO ", "0"} {
		t.Run(fmt.Sprintf("%q", text), func(t *testing.T) {
			if level, known := loglevel.Parse(text); known || level != loglevel.None {
				t.Errorf("%q is taken for %v", text, level)
			}
		})
	}
	if loglevel.Default != loglevel.Info || loglevel.None.Severity() != -1 || loglevel.Level(99).String() != "Level(99)" {
		t.Error("the default is not INFO, or None has a severity")
	}
}

func TestLevel_JSON(t *testing.T) {
	t.Parallel()
	type document struct {
		Level  loglevel.Level            `json:"level"`
		Others map[string]loglevel.Level `json:"others"`
	}
	var read document
	if err := json.Unmarshal([]byte(`{"level":"debug","others":{"a":null,"b":"SILENT"}}`), &read); err != nil {
		t.Fatal(err)
	}
	written, err := json.Marshal(read)
	if want := `{"level":"DEBUG","others":{"a":null,"b":"SILENT"}}`; err != nil || string(written) != want {
		t.Errorf("got %s, %v", written, err)
	}
	for _, text := range []string{`"LOUD"`, `3`, `""`, `{}`} {
		t.Run(text, func(t *testing.T) {
			if json.Unmarshal([]byte(text), new(loglevel.Level)) == nil {
				t.Errorf("%s is taken for a level", text)
			}
		})
	}
}

func TestNormalize(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"com.example.Shop": "com.example.shop", "com/example:SHOP": "com.example.shop", "http://x": "http...x",
		"Ä/Ö": "ä.ö", "plain": "plain", "": "",
	} {
		t.Run(fmt.Sprintf("%q", name), func(t *testing.T) {
			if got := loglevel.Normalize(name); got != want {
				t.Errorf("%q: got %q, want %q", name, got, want)
			}
		})
	}
	tryMany(t, func(t *testing.T, g generator) {
		name := g.text()
		once := loglevel.Normalize(name)
		if loglevel.Normalize(once) != once || utf8.RuneCountInString(once) != utf8.RuneCountInString(name) {
			t.Fatalf("%q becomes %q, and that %q", name, once, loglevel.Normalize(once))
		}
	})
}

// sample is the input of the naive implementation.
type sample struct {
	loggers map[string]loglevel.Logger
	groups  map[string]loglevel.Group
}

// naive resolves step by step, as the specification describes it.
func (w sample) naive(name, environment string) loglevel.Resolution {
	// 1. L.environments[E].level.
	if level := w.loggers[name].Environments[environment]; level != loglevel.None {
		return loglevel.Resolution{Level: level, Origin: loglevel.FromEnvironment, Of: name}
	}
	// 2. L.level.
	if level := w.loggers[name].Level; level != loglevel.None {
		return loglevel.Resolution{Level: level, Origin: loglevel.FromBase, Of: name}
	}
	// 3. The group's environment override for E, then the group's base level.
	if level, group := w.naiveGroup(name, environment); level != loglevel.None {
		return loglevel.Resolution{Level: level, Origin: loglevel.FromGroup, Of: group}
	}
	// 4. Each existing dot-notation ancestor, nearest first, applying steps 1 to 3 at each.
	segments := strings.Split(name, ".")
	for length := len(segments) - 1; length >= 1; length-- {
		ancestor := strings.Join(segments[:length], ".")
		logger, exists := w.loggers[ancestor]
		if !exists {
			continue
		}
		level := logger.Environments[environment]
		if level == loglevel.None {
			level = logger.Level
		}
		if level == loglevel.None {
			level, _ = w.naiveGroup(ancestor, environment)
		}
		if level != loglevel.None {
			return loglevel.Resolution{Level: level, Origin: loglevel.FromAncestor, Of: ancestor}
		}
	}
	// 5. INFO.
	return loglevel.Resolution{Level: loglevel.Info, Origin: loglevel.FromDefault}
}

func (w sample) naiveGroup(name, environment string) (loglevel.Level, string) {
	group, exists := w.groups[w.loggers[name].Group]
	if !exists {
		return loglevel.None, ""
	}
	if level := group.Environments[environment]; level != loglevel.None {
		return level, group.Key
	}
	return group.Level, group.Key
}

// naiveControls: managed loggers and their descendants.
func (w sample) naiveControls(name string) bool {
	for key, logger := range w.loggers {
		if logger.Managed && (key == name || strings.HasPrefix(name, key+".")) {
			return true
		}
	}
	return false
}

var environments = []string{"production", "staging", "qa"}

// generator makes random names, levels and samples.
type generator struct{ *rand.Rand }

// tryMany tries a property with many generators; a failure names the seed of its own.
func tryMany(t *testing.T, property func(t *testing.T, g generator)) {
	t.Helper()
	for seed := range uint64(testenv.Scale(300, 30_000)) {
		if property(t, generator{rand.New(rand.NewPCG(seed, 0))}); t.Failed() {
			t.Fatalf("with the seed %d", seed)
		}
	}
}

func pick[T any](g generator, list []T) T { return list[g.IntN(len(list))] }

// text returns any characters, most of them letters and separators in some script.
func (g generator) text() string {
	text := make([]rune, g.IntN(12))
	for i := range text {
		text[i] = pick(g, []rune{'a', 'Z', '.', '/', ':', ' ', 'É', 'ß', 'İ', 'ǅ', 'Σ', '日', 0, rune(g.IntN(0xd800)), rune(0x10000 + g.IntN(0x100000))})
	}
	return string(text)
}

func (g generator) level() loglevel.Level {
	return pick(g, append(loglevel.Levels(), loglevel.None, loglevel.None, loglevel.None, loglevel.None))
}

func (g generator) overrides() map[string]loglevel.Level {
	set := map[string]loglevel.Level{}
	for range g.IntN(3) {
		set[pick(g, environments[:2])] = g.level()
	}
	return set
}

// name returns a dotted path over few segments, so that trees are deep, in any spelling.
func (g generator) name() string {
	segments := []string{"a", "B", "c-d", "", "é"}
	name := pick(g, segments)
	for range g.IntN(6) {
		name += pick(g, []string{".", "/", ":"}) + pick(g, segments)
	}
	return name
}

func (g generator) sample() sample {
	w := sample{loggers: map[string]loglevel.Logger{}, groups: map[string]loglevel.Group{}}
	for _, key := range []string{"sql", "http", "a"} {
		if g.IntN(2) == 0 {
			w.groups[key] = loglevel.Group{Key: key, Level: g.level(), Environments: g.overrides()}
		}
	}
	for range g.IntN(26) {
		key := loglevel.Normalize(g.name())
		w.loggers[key] = loglevel.Logger{Key: key, Level: g.level(), Environments: g.overrides(),
			Group: pick(g, []string{"", "", "sql", "http", "a", "gone"}), Managed: g.IntN(2) == 0}
	}
	return w
}

// tree returns the loggers in random order.
func (w sample) tree() *loglevel.Tree {
	return loglevel.NewTree(slices.Collect(maps.Values(w.loggers)), slices.Collect(maps.Values(w.groups)))
}

func TestTree_Resolve_MatchesSpecification(t *testing.T) {
	t.Parallel()
	tryMany(t, func(t *testing.T, g generator) {
		w := g.sample()
		tree := w.tree()
		for _, environment := range environments {
			got := maps.Collect(tree.All(environment))
			want := map[string]loglevel.Resolution{}
			for key := range w.loggers {
				want[key] = w.naive(key, environment)
			}
			if difference := testenv.Diff(want, got); difference != "" {
				t.Fatalf("all in %s (-want +got):\n%s", environment, difference)
			}
			name := loglevel.Normalize(g.name())
			if difference := testenv.Diff(w.naive(name, environment), tree.Resolve(name, environment)); difference != "" {
				t.Fatalf("%s in %s (-want +got):\n%s", name, environment, difference)
			}
			if got := tree.Controls(name); got != w.naiveControls(name) {
				t.Fatalf("%s: controlled is %v", name, got)
			}
		}
	})
}

func TestGroup_Resolve(t *testing.T) {
	t.Parallel()
	group := loglevel.Group{Key: "sql", Level: loglevel.Warn, Environments: map[string]loglevel.Level{"qa": loglevel.Trace}}
	for environment, want := range map[string]loglevel.Resolution{
		"qa":         {Level: loglevel.Trace, Origin: loglevel.FromEnvironment, Of: "sql"},
		"production": {Level: loglevel.Warn, Origin: loglevel.FromBase, Of: "sql"},
	} {
		t.Run(environment, func(t *testing.T) {
			if got := group.Resolve(environment); got != want {
				t.Errorf("got %v", got)
			}
		})
	}
	if got := (loglevel.Group{Key: "empty"}).Resolve("qa"); got != (loglevel.Resolution{Level: loglevel.Info, Origin: loglevel.FromDefault}) {
		t.Errorf("got %v", got)
	}
}

func TestNewTree_UnusualInput(t *testing.T) {
	t.Parallel()
	tree := loglevel.NewTree([]loglevel.Logger{{Key: "a.b"}, {Key: "a", Level: loglevel.Warn}, {Key: "a", Level: loglevel.Error}}, nil)
	for key, resolved := range tree.All("qa") {
		if key != "a" || resolved.Level != loglevel.Error {
			t.Errorf("got %s %v first", key, resolved)
		}
		break
	}
	if got := tree.Resolve("a.b.c.d", "qa"); got != (loglevel.Resolution{Level: loglevel.Error, Origin: loglevel.FromAncestor, Of: "a"}) {
		t.Errorf("got %v", got)
	}
}

// A logger has the same level in all environments that are not listed.
func TestTree_Environments(t *testing.T) {
	t.Parallel()
	in := func(environments ...string) map[string]loglevel.Level {
		set := map[string]loglevel.Level{}
		for _, environment := range environments {
			set[environment] = loglevel.Warn
		}
		return set
	}
	tree := loglevel.NewTree([]loglevel.Logger{
		{Key: "a", Environments: in("1", "2"), Group: "g"}, {Key: "a.b.c", Environments: in("3"), Group: "h"}, {Key: "b", Group: "nothing"},
	}, []loglevel.Group{{Key: "g", Environments: in("4")}, {Key: "h", Environments: in("5", "1")}})
	for key, want := range map[string]string{"a": "1 2 4", "a.b.c": "1 1 2 3 4 5", "b": "", "a.b": "", "nothing": ""} {
		t.Run(key, func(t *testing.T) {
			if got := strings.Join(slices.Sorted(tree.Environments(key)), " "); got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
	for environment := range tree.Environments("a.b.c") {
		if environment != "" {
			break
		}
	}
}
