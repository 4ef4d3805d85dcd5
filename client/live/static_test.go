package live

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	signalbox "github.com/signalbox/signalbox/client"
	"github.com/signalbox/signalbox/client/flageval"
	"github.com/signalbox/signalbox/client/internal/testenv"
)

// snapshotOf returns a snapshot of flags with a default and the rules of one environment.
func snapshotOf(flags map[string]flageval.Definition) signalbox.Snapshot {
	s := signalbox.Snapshot{Resource: signalbox.Resource{ID: "production"}}
	for key, each := range flags {
		s.Flags = append(s.Flags, signalbox.Flag{Resource: signalbox.Resource{ID: key}, Type: each.Type, Default: each.Default, Environments: each.Environments})
	}
	return s
}

func ruled(typ flageval.Type, fallback, logic, value string) flageval.Definition {
	return flageval.Definition{Type: typ, Default: []byte(fallback), Environments: map[string]flageval.Environment{
		"production": {Enabled: true, Rules: []flageval.Rule{{Logic: []byte(logic), Value: []byte(value)}}}}}
}

const ofPro = `{"==":[{"var":"user.plan"},"pro"]}`

func TestFlag_GetDetail(t *testing.T) {
	t.Parallel()
	snapshot := snapshotOf(map[string]flageval.Definition{
		"bool":   ruled(flageval.Boolean, `false`, ofPro, `true`),
		"text":   ruled(flageval.String, `"a"`, ofPro, `"b"`),
		"number": ruled(flageval.Numeric, `1`, ofPro, `2.5`),
		"json":   ruled(flageval.JSON, `{"n":1}`, ofPro, `{"n":"two"}`),
		"named":  ruled(flageval.String, `"a"`, ofPro, `"b"`),
	})
	for i := range snapshot.Flags {
		if snapshot.Flags[i].ID == "named" {
			snapshot.Flags[i].Values = []signalbox.FlagChoice{{Name: "off", Value: []byte(`"a"`)}, {Name: "on", Value: []byte(` "b"`)}}
		}
	}
	box, _ := Static(snapshot)
	pro := WithContext(t.Context(), User("alice", Attr("plan", "pro")))
	check := func(name string, got, want any) {
		t.Helper()
		if got != want {
			t.Errorf("%s: got %+v, want %+v", name, got, want)
		}
	}
	type object struct{ N int }
	flag := box.Bool("bool", false)
	check("no context", flag.GetDetail(t.Context()), Detail[bool]{Value: false, Reason: flageval.Default, Rule: flageval.NoRule, Variant: "default"})
	check("a match", flag.GetDetail(pro), Detail[bool]{Value: true, Reason: flageval.TargetingMatch, Rule: 0, Variant: "rule-0"})
	check("another context", flag.Get(WithContext(pro, User("bob"))), false)
	check("one more context", flag.Get(WithContext(pro, ContextOf("account", "acme"))), true)
	check("a nil context", flag.Get(nil), false) //nolint:staticcheck // it must not panic
	check("text", box.String("text", "x").Get(pro), "b")
	check("number", box.Number("number", 0).Get(pro), 2.5)
	check("json", JSON(box, "json", object{7}).Get(t.Context()), object{1})
	check("json that does not decode", JSON(box, "json", object{7}).GetDetail(pro), Detail[object]{Value: object{7}, Reason: flageval.Error, Rule: flageval.NoRule, Code: flageval.TypeMismatch})
	check("another type", box.Number("text", 9).GetDetail(pro), Detail[float64]{Value: 9, Reason: flageval.Error, Rule: flageval.NoRule, Code: flageval.TypeMismatch})
	check("no flag", box.String("none", "d").GetDetail(pro), Detail[string]{Value: "d", Reason: flageval.Error, Rule: flageval.NoRule, Code: flageval.FlagNotFound})
	check("a named value", box.String("named", "").GetDetail(pro).Variant, "on")
	check("a repeated declaration", box.Bool("bool", false), flag)
}

// TestFlag_ReadsService: rules read the service of the box.
func TestFlag_ReadsService(t *testing.T) {
	t.Setenv("SIGNALBOX_SERVICE", "shop")
	box, _ := Static(snapshotOf(map[string]flageval.Definition{"f": ruled(flageval.Boolean, `false`, `{"==":[{"var":"service.key"},"shop"]}`, `true`)}))
	if flag := box.Bool("f", false); !flag.Get(t.Context()) || !flag.Get(WithContext(t.Context(), User("u"))) {
		t.Error("the service is not in the context")
	}
}

func TestFlag_GetDoesNotAllocate(t *testing.T) {
	box, _ := Static(snapshotOf(map[string]flageval.Definition{"f": ruled(flageval.Boolean, `false`, ofPro, `true`)}))
	flag := box.Bool("f", false)
	ctx := WithContext(t.Context(), User("alice", Attr("plan", "pro")))
	if n := testing.AllocsPerRun(100, func() { flag.Get(ctx) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestAttr_Unencodable(t *testing.T) {
	t.Parallel()
	box, _ := Static(snapshotOf(map[string]flageval.Definition{"f": ruled(flageval.Boolean, `false`, `{"==":[{"var":"user.x"},null]}`, `true`)}))
	if !box.Bool("f", false).Get(WithContext(t.Context(), User("u", Attr("x", func() {})))) {
		t.Error("what cannot be encoded is not null")
	}
}

// TestListeners_Coalesce: listeners run off the goroutine that applies, one after the other; one that is slow is logged, and one
// that panics is called again.
func TestListeners_Coalesce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		log := &logText{}
		box, set := Static(snapshotOf(nil))
		box.problems.log = newSettings([]Option{log.option()}).log
		flag := box.Bool("f", false)
		calls := 0
		stop := flag.OnChange(func() {
			calls++
			time.Sleep(2 * time.Second) //nolint:forbidigo // in a synctest bubble
			panic("on purpose")
		})
		var keys []string
		box.OnFlagChange(func(changed []string) { keys = append(keys, changed...) })
		for i := range 10 {
			set(snapshotOf(map[string]flageval.Definition{"f": {Type: flageval.Boolean, Default: fmt.Append(nil, i%2 == 0)}, fmt.Sprint("g", i): {}}))
			if got := flag.Get(t.Context()); got != (i%2 == 0) {
				t.Errorf("a listener delays the value: %v", got)
			}
			if i == 0 {
				synctest.Wait() // the listener has begun
			}
		}
		time.Sleep(time.Minute) //nolint:forbidigo // in a synctest bubble
		synctest.Wait()
		if calls != 2 {
			t.Errorf("%d calls", calls)
		}
		if want := "f g0 g1 g2 g3 g4 g5 g6 g7 g8 g9"; strings.Join(keys, " ") != want {
			t.Errorf("got %v", keys)
		}
		if text := log.String(); strings.Count(text, "running for a second") != 1 || strings.Count(text, "panicked") != 1 {
			t.Errorf("logged %s", text)
		}
		stop()
		set(snapshotOf(nil))
		synctest.Wait()
		if calls != 2 {
			t.Error("a listener is called after its end")
		}
	})
}

// TestKeyListeners_Keys: a change that comes as a call begins is part of that call, and no call of its own without keys.
func TestKeyListeners_Keys(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var listeners keyListeners
		var calls []string
		listeners.add(&dispatcher{problems: newProblems(slog.New(slog.DiscardHandler))}, func(keys []string) { calls = append(calls, fmt.Sprint(keys)) })
		added := listeners.all.list[0]
		begin, change := added.call, sync.OnceFunc(func() { listeners.notify([]string{"b"}) })
		added.call = func() {
			change()
			begin()
		}
		listeners.notify([]string{"a"})
		synctest.Wait()
		if diff := testenv.Diff([]string{"[a b]"}, calls); diff != "" {
			t.Error(diff)
		}
	})
}

// TestDeclaration_GoTypes: declarations of one key with several Go types are apart, also if the types have the same name or only
// their defaults have the same type.
func TestDeclaration_GoTypes(t *testing.T) {
	t.Parallel()
	snapshot := snapshotOf(map[string]flageval.Definition{"theme": {Type: flageval.JSON, Default: []byte(`{"color":"red","size":3}`)}})
	snapshot.Configs = map[string]map[string]json.RawMessage{"theme": {"color": []byte(`"red"`), "size": []byte(`3`)}}
	box, _ := Static(snapshot)
	ctx, both := t.Context(), "map[color:red size:3]"
	check := func(name string, got any, want string) {
		t.Helper()
		if fmt.Sprint(got) != want {
			t.Errorf("%s: got %v, want %v", name, got, want)
		}
	}
	check("a map", JSON(box, "theme", map[string]any{}).Get(ctx), both)
	check("anything", JSON[any](box, "theme", map[string]any{}).Get(ctx), both)
	check("a config that is a map", Config(box, "theme", map[string]any{}).Get(), both)
	check("a config that is anything", Config[any](box, "theme", map[string]any{}).Get(), both)
	func() {
		type theme struct {
			Color string `json:"color,omitempty"`
		}
		check("a struct", JSON(box, "theme", theme{}).Get(ctx), "{red}")
		check("a config", Config(box, "theme", theme{}).Get(), "{red}")
	}()
	func() {
		type theme struct {
			Size int `json:"size,omitempty"`
		}
		check("another struct", JSON(box, "theme", theme{}).Get(ctx), "{3}")
		check("another config", Config(box, "theme", theme{}).Get(), "{3}")
	}()
	check("one default", JSON[any](box, "none", map[string]any{}).Get(ctx), "map[]")
	check("another default", JSON[any](box, "none", struct{}{}).Get(ctx), "{}")
}

func TestBox_ServeHTTP(t *testing.T) {
	t.Parallel()
	box, _ := Static(snapshotOf(map[string]flageval.Definition{"f<b>": ruled(flageval.String, `"<i>"`, ofPro, `"x"`)}))
	box.String("f<b>", "code")
	Config(box, "checkout", limits{Name: "secret"})
	box.Adapt(newFramework())
	page, request := httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/", nil)
	box.ServeHTTP(page, request)
	if text := page.Body.String(); !strings.Contains(text, "f&lt;b&gt;") || strings.Contains(text, "<b>") || !strings.Contains(text, "shop.payments") ||
		!strings.Contains(text, "LIVE") || strings.Contains(text, "secret") {
		t.Errorf("got %s", text)
	}
	data := httptest.NewRecorder()
	request.Header.Set("Accept", "application/json")
	box.ServeHTTP(data, request)
	var got struct {
		State struct{ Status string }
		Flags []struct{ Key, Serves string }
	}
	if err := json.Unmarshal(data.Body.Bytes(), &got); err != nil || got.State.Status != "LIVE" || len(got.Flags) != 1 || got.Flags[0].Serves != "<i>" {
		t.Errorf("got %s, %v", data.Body, err)
	}
}

// TestStart_Settings: the error, the log and Ready name missing settings and blame no server, and the box serves the code's
// defaults.
func TestStart_Settings(t *testing.T) {
	for _, name := range []string{"SIGNALBOX_URL", "SIGNALBOX_API_KEY", "SIGNALBOX_ENVIRONMENT", "SIGNALBOX_SERVICE"} {
		t.Setenv(name, "")
	}
	log := &logText{}
	box, err := Start(t.Context(), log.option(), WithoutCache())
	ready := box.Ready(t.Context())
	for _, name := range []string{"SIGNALBOX_URL", "SIGNALBOX_API_KEY", "SIGNALBOX_ENVIRONMENT"} {
		t.Run(name, func(t *testing.T) {
			for place, text := range map[string]string{"the error": fmt.Sprint(err), "the log": log.String(), "Ready": fmt.Sprint(ready)} {
				if !strings.Contains(text, name) || strings.Contains(text, "refuses") {
					t.Errorf("%s says %s", place, text)
				}
			}
		})
	}
	if !box.Bool("f", true).Get(t.Context()) || box.State().Status != Refused {
		t.Errorf("the state is %s", box.State())
	}
	box.Close(t.Context())
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := box.Ready(ended); !errors.Is(err, errClosed) {
		t.Errorf("after Close, Ready returns %v", err)
	}
	t.Setenv("SIGNALBOX_URL", "not a URL")
	box, err = Start(t.Context(), quietly(), WithoutCache(), WithKey("k"), WithEnvironment("e"))
	if ready := box.Ready(t.Context()); err == nil || fmt.Sprint(ready) != err.Error() {
		t.Errorf("a wrong URL: %v, then %v", err, ready)
	}
}

func TestCounter_Concurrent(t *testing.T) {
	t.Parallel()
	box, set := Static(snapshotOf(map[string]flageval.Definition{"f": {Type: flageval.Boolean, Default: []byte("true")}}))
	flag := box.Bool("f", false)
	ctx, cancel := context.WithCancel(t.Context())
	replacing := make(chan struct{})
	go func() {
		defer close(replacing)
		for i := 0; ctx.Err() == nil; i++ {
			set(snapshotOf(map[string]flageval.Definition{"f": {Type: flageval.Boolean, Default: fmt.Append(nil, i%2 == 0)}}))
		}
	}()
	const readers, reads = 8, 2000
	done := make(chan struct{})
	for range readers {
		go func() {
			for range reads {
				flag.Get(ctx)
			}
			done <- struct{}{}
		}()
	}
	for range readers {
		<-done
	}
	cancel()
	<-replacing
	var sum uint64
	box.flags.takeCounts(func(each count) { sum += each.n })
	if sum != readers*reads {
		t.Errorf("counted %d, want %d", sum, readers*reads)
	}
}

// TestReporter_CountsAfterError: counts that were refused or not sent are kept for the next report, and counts that may have
// arrived are not.
func TestReporter_CountsAfterError(t *testing.T) {
	t.Parallel()
	const declared = 2*reportSize + 200
	refuse := func(w http.ResponseWriter) { w.WriteHeader(http.StatusServiceUnavailable) }
	cut := func(http.ResponseWriter) { panic(http.ErrAbortHandler) }
	for name, test := range map[string]struct {
		failing int // the request that fails
		fail    func(http.ResponseWriter)
		kept    uint64
	}{
		"the first refused":  {1, refuse, declared},
		"the second refused": {2, refuse, declared - reportSize},
		"the first cut":      {1, cut, declared - reportSize},
		"the last cut":       {3, cut, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var requests atomic.Int32
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				_, _ = io.Copy(io.Discard, r.Body) // the client has sent everything when it gets the answer
				if int(requests.Add(1)) == test.failing {
					test.fail(w)
					return
				}
				w.WriteHeader(http.StatusAccepted)
			}))
			t.Cleanup(server.Close)
			box, _ := Static(snapshotOf(nil))
			var err error
			if box.reports.client, err = signalbox.New(server.URL, "k"); err != nil {
				t.Fatal(err)
			}
			for i := range declared {
				box.Bool(fmt.Sprint("f", i), false).Get(t.Context())
			}
			if err := box.reports.sendCounts(t.Context()); err == nil || int(requests.Load()) != test.failing {
				t.Errorf("after %d requests: %v", requests.Load(), err)
			}
			var kept uint64
			box.flags.takeCounts(func(each count) { kept += each.n })
			if kept != test.kept {
				t.Errorf("%d of %d are kept, want %d", kept, declared, test.kept)
			}
		})
	}
}

func TestRecentSet_Bounded(t *testing.T) {
	t.Parallel()
	var set recentSet
	for i := range 3 * maxSeenContexts {
		if !set.add(fmt.Sprint(i)) || set.add(fmt.Sprint(i)) {
			t.Fatalf("%d is not remembered", i)
		}
		if len(set.newer)+len(set.older) > maxSeenContexts {
			t.Fatal("it grows")
		}
	}
}

func TestValueText(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]string{`"blue"`: "blue", `true`: "true", `{"a":1}`: `{"a":1}`, ``: ``, `"` + strings.Repeat("é", 80) + `"`: strings.Repeat("é", 50) + "…"} {
		t.Run(fmt.Sprintf("%.40q", value), func(t *testing.T) {
			if diff := testenv.Diff(want, valueText(value)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestContents_DiscoveredFlag: a flag is served only while it is managed.
func TestContents_DiscoveredFlag(t *testing.T) {
	t.Parallel()
	flag := func(managed bool) map[string]*signalbox.Flag {
		return map[string]*signalbox.Flag{"f": {Resource: signalbox.Resource{ID: "f"}, Type: flageval.Boolean, Default: []byte("true"), Managed: managed}}
	}
	contents := newContents("production", signalbox.Snapshot{})
	for _, managed := range []bool{false, true, false} {
		contents = contents.withResources(1, flag(managed), nil, nil)
		if _, served := contents.flags["f"]; served != managed {
			t.Errorf("a flag that is managed (%v) is served: %v", managed, served)
		}
	}
}
