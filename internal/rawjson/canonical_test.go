package rawjson_test

import (
	"encoding/json"
	"testing"

	"github.com/signalbox/signalbox/internal/rawjson"
)

func TestSame(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		a, b string
		same bool
	}{
		{`1`, `1.0`, true},
		{`1`, `1e0`, true},
		{`100`, `1E+2`, true},
		{`1`, `"1"`, false},
		{`{"a":1,"b":[1,2]}`, `{ "b": [1.0, 2], "a": 1 }`, true},
		{`[1,2]`, `[2,1]`, false},
		{`"\u0061"`, `"a"`, true},
		{`1e999`, `1e999`, true},
		{`1e999`, `1e998`, false},
		{`null`, `false`, false},
	} {
		t.Run(c.a+" "+c.b, func(t *testing.T) {
			if got := rawjson.Same(json.RawMessage(c.a), json.RawMessage(c.b)); got != c.same {
				t.Errorf("%s and %s: same is %v, want %v", c.a, c.b, got, c.same)
			}
		})
	}
	if !rawjson.Same(nil, json.RawMessage("null")) {
		t.Error("absent and null are the same")
	}
}
