package flageval

import (
	"encoding/json"
	"fmt"
	"sync"
	"testing"

	"github.com/signalbox/signalbox/client/internal/testenv"
	"github.com/signalbox/signalbox/client/jsonlogic"
)

func static(key string, typ Type, value string) *Flag {
	return Compile(Definition{Key: key, Type: typ, Default: json.RawMessage(value)})
}

func TestView_Reads(t *testing.T) {
	view := NewView("e", static("b", Boolean, "true"), static("s", String, `"x"`), static("n", Numeric, "2.50"), static("j", JSON, `{"a":1}`), static("bad", Boolean, "1"))
	in := jsonlogic.Null()
	b, e := view.Bool("b", in, false)
	check(t, e, None)
	s, e := view.Text("s", in, "")
	check(t, e, None)
	n, e := view.Number("n", in, 0)
	check(t, e, None)
	j, e := view.JSON("j", in, nil)
	check(t, e, None)
	if !b || s != "x" || n != 2.5 || string(j) != `{"a":1}` {
		t.Errorf("%v, %v, %v, %s", b, s, n, j)
	}
	b, e = view.Bool("s", in, true)
	check(t, e, TypeMismatch)
	s, e = view.Text("none", in, "fallback")
	check(t, e, FlagNotFound)
	n, e = view.Number("b", in, 7)
	check(t, e, TypeMismatch)
	j, e = view.JSON("n", in, json.RawMessage("[]"))
	check(t, e, TypeMismatch)
	if !b || s != "fallback" || n != 7 || string(j) != "[]" {
		t.Errorf("%v, %v, %v, %s", b, s, n, j)
	}
	_, e = view.Bool("bad", in, true)
	check(t, e, ParseError)
}

func check(t *testing.T, e Evaluation, code Code) {
	t.Helper()
	if e.Code != code || (e.Reason == Error) != (code != None) || e.Rule != NoRule {
		t.Errorf("%+v, want %q", e, code)
	}
}

// TestSnapshot_Immutable: a change returns a new snapshot and leaves the old one unchanged.
func TestSnapshot_Immutable(t *testing.T) {
	first := NewSnapshot(static("b", String, `"1"`), static("a", String, `"1"`))
	second := first.With([]*Flag{static("a", String, `"2"`)}, nil)
	third := second.With([]*Flag{static("c", String, `"3"`)}, []string{"b", "none"})
	value := func(s *Snapshot, key string) string { return string(s.Evaluate("e", key, jsonlogic.Null()).Raw()) }
	for i, s := range []*Snapshot{first, second, third} {
		want := []map[string]string{{"a": `"1"`, "b": `"1"`, "c": ""}, {"a": `"2"`, "b": `"1"`, "c": ""}, {"a": `"2"`, "b": "", "c": `"3"`}}[i]
		got := map[string]string{"a": value(s, "a"), "b": value(s, "b"), "c": value(s, "c")}
		if diff := testenv.Diff(want, got); diff != "" {
			t.Errorf("snapshot %d (-want +got)\n%s", i, diff)
		}
	}
	if diff := testenv.Diff([][]string{{"a", "b"}, {"a", "b"}, {"a", "c"}}, [][]string{first.Keys(), second.Keys(), third.In("e").Keys()}); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if f, ok := third.Flag("c"); !ok || f.Key() != "c" {
		t.Error("c is there")
	}
	if _, ok := third.Flag("b"); ok {
		t.Error("b is gone")
	}
	if len(NewSnapshot().Keys()) != 0 || NewSnapshot().In("e").Environment() != "e" {
		t.Error("an empty snapshot has no flags")
	}
	replaced := first.With([]*Flag{static("b", String, `"4"`)}, []string{"b"})
	if value(replaced, "b") != `"4"` {
		t.Error("a flag that is removed and added is there")
	}
}

// TestLive: readers see complete views, and no update of concurrent writers is lost.
func TestLive(t *testing.T) {
	var live Live
	if _, e := live.Load().Bool("x", jsonlogic.Null(), true); e.Code != FlagNotFound {
		t.Errorf("%+v", e)
	}
	live.Store(NewView("e", static("pair", JSON, "0")))
	const writers, updates = 4, 50
	var group sync.WaitGroup
	for w := range writers {
		group.Go(func() {
			for i := range updates {
				flag := static(fmt.Sprintf("w%d-%d", w, i), Numeric, "1")
				live.Update(func(v *View) *View { return v.With([]*Flag{flag}, nil) })
			}
		})
		group.Go(func() {
			for range updates {
				view := live.Load()
				for _, key := range view.Keys() {
					if e := view.Evaluate(key, jsonlogic.Null()); e.Reason != Static {
						t.Errorf("%s: %+v", key, e)
					}
				}
			}
		})
	}
	group.Wait()
	if got := len(live.Load().Keys()); got != writers*updates+1 {
		t.Errorf("%d flags, want %d", got, writers*updates+1)
	}
	var empty Live
	empty.Update(func(v *View) *View { return v.With([]*Flag{static("first", Numeric, "1")}, nil) })
	if len(empty.Load().Keys()) != 1 {
		t.Error("the zero Live can be updated")
	}
}

// TestView_NoAllocations: for a matching rule, a split and a missing flag.
func TestView_NoAllocations(t *testing.T) {
	in := context(t, benchContext)
	for name, logic := range benchLogic() {
		live := benchLive(logic)
		if n := testing.AllocsPerRun(200, func() { live.Load().Bool("flag-500", in, false) }); n != 0 {
			t.Errorf("%s: a read allocates %v times", name, n)
		}
	}
	view := NewView("e", static("s", String, `"x"`), static("n", Numeric, "1"), static("j", JSON, "{}"))
	if n := testing.AllocsPerRun(200, func() {
		view.Text("s", in, "")
		view.Number("n", in, 0)
		view.JSON("j", in, nil)
		view.Bool("none", in, false)
	}); n != 0 {
		t.Errorf("reads allocate %v times", n)
	}
}
