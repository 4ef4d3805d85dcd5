package live

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	signalbox "github.com/signalbox/signalbox/client"
	"github.com/signalbox/signalbox/client/flageval"
	"github.com/signalbox/signalbox/client/internal/servertest"
	"github.com/signalbox/signalbox/client/internal/testenv"
	"github.com/signalbox/signalbox/client/loglevel"
)

// maker makes random flags, contexts and levels.
type maker struct{ *rand.Rand }

func pick[T any](m maker, list ...T) T { return list[m.IntN(len(list))] }

// logic returns a rule over few attributes, so that rules match and do not match.
func (m maker) logic(depth int) string {
	if depth == 0 || m.IntN(3) == 0 {
		attribute := pick(m, "user.plan", "user.age", "user.country", "user.key", "service.key", "account.tier", "nobody")
		literal := pick(m, `"pro"`, `"free"`, `18`, `"18"`, `"NL"`, `null`, `true`, `"shop"`, `"u1"`)
		switch m.IntN(6) {
		case 0:
			return `{"in":[{"var":"` + attribute + `"},["pro","NL",18,"shop"]]}`
		case 1:
			return `{"` + pick(m, ">=", "<", "<=") + `":[{"var":"` + attribute + `"},` + literal + `]}`
		case 2:
			return `{"fractional":[[true,` + fmt.Sprint(m.IntN(100)) + `],[false,50]]}`
		case 3:
			return `{"var":["` + attribute + `",` + literal + `]}`
		}
		return `{"` + pick(m, "==", "!=", "===", "!==") + `":[{"var":"` + attribute + `"},` + literal + `]}`
	}
	switch m.IntN(4) {
	case 0:
		return `{"!":[` + m.logic(depth-1) + `]}`
	case 1:
		return `{"if":[` + m.logic(depth-1) + `,` + m.logic(depth-1) + `,` + m.logic(depth-1) + `]}`
	}
	return `{"` + pick(m, "and", "or") + `":[` + m.logic(depth-1) + `,` + m.logic(depth-1) + `]}`
}

func (m maker) value(typ flageval.Type) json.RawMessage {
	values := map[flageval.Type][]string{flageval.Boolean: {"true", "false"}, flageval.String: {`"a"`, `"b"`, `""`},
		flageval.Numeric: {"0", "-1.5", "1e3"}, flageval.JSON: {`{"b":1,"a":[2]}`, `[]`, `"x"`, `7`}}[typ]
	return json.RawMessage(pick(m, values...))
}

func (m maker) flag(typ flageval.Type) signalbox.FlagDraft {
	draft := signalbox.FlagDraft{Type: typ, Default: m.value(typ), Managed: new(true), Environments: map[string]flageval.Environment{}}
	if m.IntN(8) == 0 {
		return draft
	}
	here := flageval.Environment{Enabled: m.IntN(6) > 0}
	if m.IntN(2) == 0 {
		here.Default = m.value(typ)
	}
	for range m.IntN(4) {
		here.Rules = append(here.Rules, flageval.Rule{Logic: json.RawMessage(pick(m, m.logic(2), m.logic(2), m.logic(3), "{}")), Value: m.value(typ)})
	}
	draft.Environments["production"] = here
	return draft
}

// contexts returns the same contexts for the server and for the box.
func (m maker) contexts() (map[string]any, []Context) {
	plan, age, country, key := pick(m, "pro", "free"), pick[any](m, 17, 18, "18", nil), pick(m, "NL", "DE"), fmt.Sprint("u", m.IntN(50))
	if m.IntN(6) == 0 {
		return map[string]any{"service": map[string]any{"key": "shop"}}, nil
	}
	return map[string]any{
			"service": map[string]any{"key": "shop"}, "account": map[string]any{"key": "acme", "tier": 18},
			"user": map[string]any{"key": key, "plan": plan, "age": age, "country": country},
		}, []Context{ContextOf("account", "acme", Attr("tier", 18)),
			User(key, Attr("plan", plan), Attr("age", age), Attr("country", country))}
}

func (m maker) setting() signalbox.LevelSetting {
	return signalbox.LevelSetting{Level: pick(m, append(loglevel.Levels(), loglevel.None, loglevel.None, loglevel.None)...)}
}

// logger returns a draft that sets something: one that sets nothing would release the logger, which another draft does.
func (m maker) logger() signalbox.LoggerDraft {
	if m.IntN(5) == 0 {
		return signalbox.LoggerDraft{Release: true}
	}
	draft := signalbox.LoggerDraft{Base: m.setting(), Group: pick(m, "", "", "g")}
	if override := m.setting(); override.Level != loglevel.None {
		draft.Environments = map[string]signalbox.LevelSetting{"production": override}
	}
	return draft
}

// twins are a server and a box that must agree.
type twins struct {
	*testing.T
	maker
	client    *signalbox.Client
	box       *Box
	framework *recorder
	marker    *Flag[float64]
	flags     map[string]flageval.Type
}

// recorder is an adapter that keeps the levels.
type recorder struct{ levels map[string]loglevel.Level }

// Loggers returns no loggers.
func (r *recorder) Loggers() []Logger { return nil }

// SetLevel keeps a level.
func (r *recorder) SetLevel(name string, level loglevel.Level) { r.levels[name] = level }

// OnNew is not needed: loggers are added by hand.
func (r *recorder) OnNew(func(Logger)) {}

func loggerNames() []string { return []string{"a", "a.b", "a.b.c", "d", "d.e"} }

func (w *twins) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

// write changes a few things, and the marker last.
func (w *twins) write(number int) {
	w.Helper()
	ctx := w.Context()
	for key, typ := range w.flags {
		if w.IntN(2) == 0 {
			_, err := w.client.Flags.Replace(ctx, key, w.flag(typ))
			w.must(err)
		}
	}
	for _, name := range loggerNames() {
		if w.IntN(2) == 0 {
			_, err := w.client.Loggers.Replace(ctx, name, w.logger())
			w.must(err)
		}
	}
	_, err := w.client.LogGroups.Replace(ctx, "g", signalbox.LogGroupDraft{Base: w.setting()})
	w.must(err)
	_, err = w.client.Flags.Replace(ctx, "marker", signalbox.FlagDraft{Type: flageval.Numeric, Default: fmt.Append(nil, number)})
	w.must(err)
}

// flagDifferences says what differs between the box and the server, for one context.
func (w *twins) flagDifferences(sent map[string]any, contexts []Context) (differences []string) {
	w.Helper()
	ctx := WithContext(w.Context(), contexts...)
	for key, typ := range w.flags {
		want, err := w.client.Flags.Evaluate(w.Context(), key, "production", sent)
		w.must(err)
		value, reason, rule := w.read(ctx, key, typ)
		wantRule := flageval.NoRule
		if want.Rule != nil {
			wantRule = *want.Rule
		}
		if value != canonical(want.Value) || reason != want.Reason || rule != wantRule {
			differences = append(differences, fmt.Sprintf("%s for %v: %s %s by %d here, %s %s by %d at the server", key, sent, value, reason, rule, want.Value, want.Reason, wantRule))
		}
	}
	return differences
}

func canonical(text json.RawMessage) string {
	var value any
	if json.Unmarshal(text, &value) != nil {
		return string(text)
	}
	again, _ := json.Marshal(value)
	return string(again)
}

func detailText[T any](d Detail[T]) (string, flageval.Reason, int) {
	text, _ := json.Marshal(d.Value)
	return canonical(text), d.Reason, d.Rule
}

func (w *twins) read(ctx context.Context, key string, typ flageval.Type) (string, flageval.Reason, int) {
	switch typ {
	case flageval.Boolean:
		return detailText(w.box.Bool(key, false).GetDetail(ctx))
	case flageval.String:
		return detailText(w.box.String(key, "code").GetDetail(ctx))
	case flageval.Numeric:
		return detailText(w.box.Number(key, 99).GetDetail(ctx))
	case flageval.JSON:
	}
	return detailText(JSON[any](w.box, key, "code").GetDetail(ctx))
}

// levelDifferences says which levels differ between the box and the server.
func (w *twins) levelDifferences() (differences []string) {
	w.Helper()
	controlled := map[string]bool{}
	for _, name := range loggerNames() { // ancestors first
		found, err := w.client.Loggers.Get(w.Context(), name)
		w.must(err)
		parent, _ := loglevel.Parent(name)
		controlled[name] = found.Managed || controlled[parent]
		want := loglevel.None
		if controlled[name] {
			want = found.Resolved["production"].Level
		}
		w.box.levels.mu.Lock()
		got := w.framework.levels[name]
		w.box.levels.mu.Unlock()
		if got != want {
			differences = append(differences, fmt.Sprintf("logger %s: %q here, %q at the server", name, got, want))
		}
	}
	return differences
}

// agree waits until the box and the server agree. A box that reads changes one by one may read the marker in a later state
// than the other resources.
func (w *twins) agree(seed int) {
	w.Helper()
	sent, contexts := w.contexts()
	var differences []string
	defer func() {
		for _, each := range differences {
			w.Logf("seed %d, %s", seed, each)
		}
	}()
	testenv.Wait(w, "the box agrees with the server", func() bool {
		differences = append(w.flagDifferences(sent, contexts), w.levelDifferences()...)
		return len(differences) == 0
	})
}

// TestBox_AgreesWithServer: after any changes, flags and levels have the same values in the box as on the server.
func TestBox_AgreesWithServer(t *testing.T) {
	t.Parallel()
	servertest.Each(t, func(t *testing.T, start func(...string) *servertest.Server) {
		server := start("SIGNALBOX_RATE_LIMIT=1000000")
		w := &twins{T: t, maker: maker{rand.New(rand.NewPCG(7, 0))}, client: server.Client(), box: readyBox(t, server.URL),
			framework: &recorder{map[string]loglevel.Level{}}, flags: map[string]flageval.Type{}}
		for _, typ := range []flageval.Type{flageval.Boolean, flageval.String, flageval.Numeric, flageval.JSON} {
			key := strings.ToLower(string(typ))
			w.flags[key] = typ
			_, err := w.client.Flags.Create(t.Context(), key, w.flag(typ))
			w.must(err)
		}
		_, err := w.client.Flags.Create(t.Context(), "marker", signalbox.FlagDraft{Type: flageval.Numeric, Default: []byte("-1")})
		w.must(err)
		_, err = w.client.LogGroups.Create(t.Context(), "g", signalbox.LogGroupDraft{})
		w.must(err)
		for _, name := range loggerNames() {
			_, err := w.client.Loggers.Replace(t.Context(), name, w.logger())
			w.must(err)
			w.box.levels.add(w.framework, Logger{Name: name, Uses: loglevel.Info})
		}
		w.marker = w.box.Number("marker", -2)
		for seed := range testenv.Scale(25, 5000) { // on each database
			w.write(seed)
			testenv.Wait(t, "the server's contents", func() bool { return w.marker.Get(t.Context()) == float64(seed) })
			w.agree(seed)
		}
	})
}
