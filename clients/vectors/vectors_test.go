package vectors_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"testing"
)

var update = flag.Bool("update", false, "write the files instead of comparing them")

// TestVectors_Stale compares the checked-in files with what the Go packages answer now.
func TestVectors_Stale(t *testing.T) {
	for name, lines := range map[string]func(*testing.T) []any{
		"rules.jsonl":   ruleVectors,
		"flags.jsonl":   flagVectors,
		"names.jsonl":   nameVectors,
		"levels.jsonl":  levelVectors,
		"configs.jsonl": configVectors,
		"worlds.jsonl":  worldVectors,
	} {
		t.Run(name, func(t *testing.T) {
			made := encode(t, lines(t))
			if *update {
				if err := os.WriteFile(name, made, 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			stored, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(stored, made) {
				t.Errorf("%s is stale at %s; run go generate ./clients/vectors", name, firstDifference(stored, made))
			}
		})
	}
}

func encode(t *testing.T, lines []any) []byte {
	t.Helper()
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	for _, each := range lines {
		if err := encoder.Encode(each); err != nil {
			t.Fatal(err)
		}
	}
	return out.Bytes()
}

func firstDifference(a, b []byte) string {
	first, second := bytes.Split(a, []byte("\n")), bytes.Split(b, []byte("\n"))
	for i := range min(len(first), len(second)) {
		if !bytes.Equal(first[i], second[i]) {
			return fmt.Sprintf("line %d: %.300s", i+1, second[i])
		}
	}
	return fmt.Sprintf("line %d", min(len(first), len(second))+1)
}

// random picks things. Its seed is fixed, so that the vectors are the same every time.
type random struct{ *rand.Rand }

func newRandom(seed uint64) random { return random{rand.New(rand.NewPCG(seed, 34))} }

func (r random) chance(percent int) bool { return r.IntN(100) < percent }

func pick[T any](r random, from ...T) T { return from[r.IntN(len(from))] }

func raw(t *testing.T, value any) json.RawMessage {
	t.Helper()
	text, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return text
}
