package live

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
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

// TestStart_Settings: the log names missing settings, and the box serves the code's defaults.
func TestStart_Settings(t *testing.T) {
	for _, name := range []string{"SIGNALBOX_URL", "SIGNALBOX_API_KEY", "SIGNALBOX_ENVIRONMENT", "SIGNALBOX_SERVICE"} {
		t.Setenv(name, "")
	}
	box, err := Start(t.Context(), quietly(), WithoutCache())
	for _, name := range []string{"SIGNALBOX_URL", "SIGNALBOX_API_KEY", "SIGNALBOX_ENVIRONMENT"} {
		t.Run(name, func(t *testing.T) {
			if err == nil || !strings.Contains(err.Error(), name) {
				t.Errorf("%s is not named: %v", name, err)
			}
		})
	}
	if !box.Bool("f", true).Get(t.Context()) || box.State().Status != Refused || box.Ready(t.Context()) == nil {
		t.Errorf("the state is %s", box.State())
	}
	box.Close(t.Context())
	t.Setenv("SIGNALBOX_URL", "not a URL")
	if _, err := Start(t.Context(), quietly(), WithoutCache(), WithKey("k"), WithEnvironment("e")); err == nil {
		t.Error("a wrong URL is accepted")
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
