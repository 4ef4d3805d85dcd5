package rawjson_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/signalbox/signalbox/internal/rawjson"
)

func TestDiff_Operations(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ from, to, want string }{
		{`{"a":1}`, `{ "a": 1.0 }`, `[]`},
		{``, ``, `[]`},
		{``, `{"a":1}`, `[{"op":"replace","path":"","value":{"a":1}}]`},
		{`{"a":1}`, ``, `[{"op":"replace","path":"","value":null}]`},
		{`{"a":1,"b":2,"c":3}`, `{"a":1,"b":null,"d":4}`,
			`[{"op":"replace","path":"/b","value":null},{"op":"remove","path":"/c"},{"op":"add","path":"/d","value":4}]`},
		{`{"a/b":{"m~n":1}}`, `{"a/b":{"m~n":2,"":3,"~1":4}}`,
			`[{"op":"add","path":"/a~1b/","value":3},{"op":"replace","path":"/a~1b/m~0n","value":2},{"op":"add","path":"/a~1b/~01","value":4}]`},
		{`{"a":{}}`, `{"a":[]}`, `[{"op":"replace","path":"/a","value":[]}]`},
		{`[1,2,3]`, `[1,9,2,3]`, `[{"op":"add","path":"/1","value":9}]`},
		{`[1,2,3,4]`, `[1,4]`, `[{"op":"remove","path":"/2"},{"op":"remove","path":"/1"}]`},
		{`[{"a":1},2]`, `[{"a":2},2,3]`, `[{"op":"replace","path":"/0/a","value":2},{"op":"add","path":"/2","value":3}]`},
		{`[1,1]`, `[1,1,1]`, `[{"op":"add","path":"/2","value":1}]`},
		{`{"ü\"":"\u0061"}`, `{"ü\"":"a"}`, `[]`},
	} {
		t.Run(fmt.Sprintf("%.40q %.40q", c.from, c.to), func(t *testing.T) {
			got, err := json.Marshal(rawjson.Diff(text(c.from), text(c.to)))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, string(got)); diff != "" {
				t.Errorf("from %s to %s (-want +got):\n%s", c.from, c.to, diff)
			}
		})
	}
}

func text(written string) json.RawMessage {
	if written == "" {
		return nil
	}
	return json.RawMessage(written)
}

func TestDiff_AppliedGivesTheOther(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		from, to := value(4).Draw(t, "from"), value(4).Draw(t, "to")
		if rapid.Bool().Draw(t, "edited") {
			to = edited(t, from)
		}
		was, is := encode(t, from), encode(t, to)
		patch := rawjson.Diff(was, is)
		if got := encode(t, apply(t, decode(t, was), patch)); !rawjson.Same(got, is) {
			t.Errorf("%s becomes %s, want %s, by %+v", was, got, is, patch)
		}
		if (len(patch) == 0) != rawjson.Same(was, is) {
			t.Errorf("%s and %s: the patch is %+v", was, is, patch)
		}
		if !slices.EqualFunc(patch, rawjson.Diff(was, is), func(a, b rawjson.Operation) bool { return cmp.Equal(a, b) }) {
			t.Error("the patch is another one the second time")
		}
	})
}

// value generates JSON values whose names need escapes, and are often the same.
func value(depth int) *rapid.Generator[any] {
	scalars := rapid.OneOf(rapid.SampledFrom([]any{nil, true, false, "", "a", "<b>", "~/"}), rapid.Map(rapid.IntRange(0, 3), func(n int) any { return n }))
	if depth == 0 {
		return scalars
	}
	names := rapid.SampledFrom([]string{"", "a", "b", "a/b", "~", "~1", "0", "-", "ü", `"`})
	return rapid.OneOf(scalars,
		rapid.Map(rapid.SliceOfN(value(depth-1), 0, 5), func(items []any) any { return items }),
		rapid.Map(rapid.MapOfN(names, value(depth-1), 0, 5), func(members map[string]any) any { return members }))
}

// edited returns a value with one part of it replaced.
func edited(t *rapid.T, from any) any {
	switch from := from.(type) {
	case []any:
		if len(from) == 0 {
			break
		}
		changed, at := slices.Clone(from), rapid.IntRange(0, len(from)-1).Draw(t, "at")
		if rapid.Bool().Draw(t, "removed") {
			return slices.Delete(changed, at, at+1)
		}
		changed[at] = edited(t, changed[at])
		return changed
	case map[string]any:
		changed := map[string]any{"new": nil}
		maps.Copy(changed, from)
		return changed
	}
	return value(1).Draw(t, "replacement")
}

// apply applies a patch as RFC 6902 says; add, remove and replace are all there is.
func apply(t *rapid.T, document any, patch rawjson.Patch) any {
	for _, operation := range patch {
		if operation.Path == "" {
			if operation.Op != "replace" {
				t.Fatalf("%s of the whole", operation.Op)
			}
			document = decode(t, operation.Value)
			continue
		}
		steps := strings.Split(operation.Path, "/")[1:]
		for i, step := range steps {
			steps[i] = strings.ReplaceAll(strings.ReplaceAll(step, "~1", "/"), "~0", "~")
		}
		document = applyAt(t, document, steps, operation)
	}
	return document
}

func applyAt(t *rapid.T, within any, steps []string, operation rawjson.Operation) any {
	switch within := within.(type) {
	case map[string]any:
		_, exists := within[steps[0]]
		switch {
		case exists == (operation.Op == "add" && len(steps) == 1):
			t.Fatalf("%s at %s: a member exists is %v", operation.Op, operation.Path, exists)
		case len(steps) > 1:
			within[steps[0]] = applyAt(t, within[steps[0]], steps[1:], operation)
		case operation.Op == "remove":
			delete(within, steps[0])
		default:
			within[steps[0]] = decode(t, operation.Value)
		}
		return within
	case []any:
		at, err := strconv.Atoi(steps[0])
		if err != nil || at < 0 || at > len(within) || at == len(within) && operation.Op != "add" {
			t.Fatalf("%s has no place for %s", operation.Path, operation.Op)
		}
		switch {
		case len(steps) > 1:
			within[at] = applyAt(t, within[at], steps[1:], operation)
		case operation.Op == "add":
			return slices.Insert(within, at, decode(t, operation.Value))
		case operation.Op == "remove":
			return slices.Delete(within, at, at+1)
		default:
			within[at] = decode(t, operation.Value)
		}
		return within
	}
	t.Fatalf("%s leads through %v", operation.Path, within)
	return nil
}

func encode(t *rapid.T, value any) json.RawMessage {
	text, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func decode(t *rapid.T, text json.RawMessage) (value any) {
	if err := json.Unmarshal(text, &value); err != nil {
		t.Fatal(err)
	}
	return value
}
