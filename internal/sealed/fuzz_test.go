package sealed

import (
	"bytes"
	"encoding/hex"
	"errors"
	"slices"
	"strings"
	"testing"
)

// FuzzUnseal opens arbitrary bytes as sealed values. Nobody can guess a tag, so only the one
// value that was really sealed may open.
func FuzzUnseal(f *testing.F) {
	ring := inlineRing(f)
	genuine, err := hex.DecodeString(goldenValue) // constant, because each fuzz worker runs this again
	if err != nil {
		f.Fatal(err)
	}
	f.Add("configs", "value", "42", genuine)
	f.Add("configs", "value", "43", genuine)
	f.Add("configs:value", "42", "x", genuine[:overhead])
	f.Add("", "", "", []byte{version})
	f.Fuzz(func(t *testing.T, table, column, row string, value []byte) {
		place := Place{table, column, row}
		got, err := ring.Unseal(place, value)
		if err == nil && (place != home || !bytes.Equal(value, genuine)) {
			t.Fatalf("%q opened to %q in %q", value, got, place)
		}
		known := errors.Is(err, ErrCorrupt) || errors.Is(err, ErrUnknownKey) || place.check() != nil
		if err != nil && (got != nil || !known) {
			t.Fatalf("Unseal = %q, %v", got, err)
		}
		if place.check() == nil {
			checkSealed(t, ring, place, value)
		}
	})
}

func checkSealed(t *testing.T, ring *Ring, place Place, plaintext []byte) {
	value, err := ring.Seal(place, plaintext)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := ring.Unseal(place, value); err != nil || !bytes.Equal(got, plaintext) {
		t.Fatalf("%q came back as %q, %v", plaintext, got, err)
	}
}

// FuzzParse parses arbitrary text as a ring. If the text parses, a rotation and a retirement
// must keep all other keys.
func FuzzParse(f *testing.F) {
	f.Add("0000000a " + testKey('a') + "\n0000000b " + testKey('b') + "\n")
	f.Add("# c, d\n;0000000a " + testKey('a') + ";, # x\n0000000b\t" + testKey('b'))
	f.Add("0000000a " + testKey('a') + "\n0000000a " + testKey('b'))
	f.Add("0000000a AAAA")
	f.Fuzz(func(t *testing.T, text string) {
		keys, err := parse(text)
		if err != nil {
			checkSilent(t, text, err)
			return
		}
		id := keys.freshID()
		grown, err := parse(appendKey(text, id))
		if err != nil || !slices.Equal(grown.order, append(slices.Clone(keys.order), id)) {
			t.Fatalf("a rotated %q is %v, %v", text, grown, err)
		}
	})
}

// checkSilent checks that an error repeats no word that is long enough to be a key.
func checkSilent(t *testing.T, text string, err error) {
	for word := range strings.FieldsSeq(text) {
		if len(word) > 16 && strings.Contains(err.Error(), word) {
			t.Fatalf("error %q repeats %q", err, word)
		}
	}
}
