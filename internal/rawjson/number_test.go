package rawjson_test

import (
	"encoding/json"
	"fmt"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/internal/rawjson"
)

func TestSame_ExactNumbers(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("9", 30)
	for _, c := range []struct {
		a, b string
		same bool
	}{
		{"9007199254740993", "9007199254740992", false},
		{"0.1", "0.10000000000000000001", false},
		{"1", "10e-1", true},
		{"-0", "0", true},
		{"-0.0e7", "0", true},
		{"0e" + long, "0", true},
		{"-1", "1", false},
		{"120", "1.2E+2", true},
		{"0.00120", "12e-4", true},
		{"1e400", "1e401", false},
		{"1e400", "10e399", true},
		{"1e-400", "0", false},
		{"1e000000000000000000000000000002", "100", true},
		{"1e999999999999999999", "10e999999999999999998", true},
		{"1e" + long, "1e" + long, true},
		{"1e" + long, "2e" + long, false},
		{"1e" + long, "1e-" + long, false},
	} {
		t.Run(c.a+" "+c.b, func(t *testing.T) {
			if got := rawjson.Same(json.RawMessage(c.a), json.RawMessage(c.b)); got != c.same {
				t.Errorf("%s and %s: same is %v, want %v", c.a, c.b, got, c.same)
			}
		})
	}
	if !json.Valid(rawjson.Canonical(json.RawMessage("[-12.50, 1e" + long + "]"))) {
		t.Error("what comes out is no JSON")
	}
}

// Numbers of few digits, so that many are equal, against exact fractions.
func TestSame_NumbersLikeFractions(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // the same numbers every time
	equal := 0
	for range 50_000 {
		a, b := anyNumber(random), anyNumber(random)
		left, _ := new(big.Rat).SetString(a)
		right, _ := new(big.Rat).SetString(b)
		want := left.Cmp(right) == 0
		if got := rawjson.Same(json.RawMessage(a), json.RawMessage(b)); got != want {
			t.Fatalf("%s and %s: same is %v, want %v", a, b, got, want)
		}
		if want {
			equal++
		}
	}
	if equal < 1000 {
		t.Errorf("only %d pairs were equal", equal)
	}
}

func anyNumber(random *rand.Rand) string {
	pick := func(texts ...string) string { return texts[random.IntN(len(texts))] }
	text := pick("", "-") + pick("0", "1", "10", "100", "2")
	if random.IntN(2) == 0 {
		text += "." + pick("0", "00", "1", "10", "01", "001")
	}
	if random.IntN(2) == 0 {
		text += fmt.Sprintf("%s%s%d", pick("e", "E"), pick("", "+", "-", "-0"), random.IntN(4))
	}
	return text
}
