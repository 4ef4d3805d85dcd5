package rawjson_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/signalbox/signalbox/internal/rawjson"
)

func TestEncode_AsDecoded(t *testing.T) {
	t.Parallel()
	for _, text := range []string{`{"a":[1.50,"<&>"],"b":{"c":1e400}}`, `null`, `"\n"`, `12345678901234567890.10`} {
		t.Run(text, func(t *testing.T) {
			value, err := rawjson.Decode[any]([]byte(text))
			if err != nil {
				t.Fatal(err)
			}
			if got, err := rawjson.Encode(value); err != nil || string(got) != text {
				t.Errorf("got %s (%v)", got, err)
			}
		})
	}
}

func TestDecode_Broken(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "{", `{"a":}`} {
		t.Run(fmt.Sprintf("%q", text), func(t *testing.T) {
			if value, err := rawjson.Decode[any]([]byte(text)); err == nil || value != nil {
				t.Errorf("%q became %v", text, value)
			}
		})
	}
}

func TestEncode_Impossible(t *testing.T) {
	t.Parallel()
	if _, err := rawjson.Encode(make(chan int)); err == nil {
		t.Error("a channel was encoded")
	}
}

func TestReplaceNumbers(t *testing.T) {
	t.Parallel()
	value, _ := rawjson.Decode[any]([]byte(`[1,{"a":[2,"3",null]}]`))
	got, err := rawjson.Encode(rawjson.ReplaceNumbers(value, func(n json.Number) any { return n.String() + "!" }))
	if want := `["1!",{"a":["2!","3",null]}]`; err != nil || string(got) != want {
		t.Errorf("got %s (%v), want %s", got, err, want)
	}
}

func TestIsWord(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{"pro": true, " pro ": true, "True": true, "v1": true, "ünder": true,
		"": false, " ": false, "true": false, "null": false, "1": false, " 1": false, "-1": false, ".5": false, "0x10": false, "Infinity": false} {
		t.Run(fmt.Sprintf("%q", text), func(t *testing.T) {
			t.Parallel()
			if got := rawjson.IsWord(text); got != want {
				t.Errorf("got %t", got)
			}
		})
	}
}
