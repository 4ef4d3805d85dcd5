package sealed

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

// goldenValue is "a secret", sealed for home with key 0000000b of inlineRing.
const goldenValue = "010000000b000102030405060708090a0b5e471a0d6dd23db102ef8db6421adf6e160f12f4e66662f1"

var home = Place{Table: "configs", Column: "value", Row: "42"}

func inlineRing(t testing.TB) *Ring {
	return mustOpen(t, "0000000a "+testKey('a')+";0000000b "+testKey('b'))
}

func mustSeal(t testing.TB, ring *Ring, place Place, plaintext string) []byte {
	t.Helper()
	value, err := ring.Seal(place, []byte(plaintext))
	if err != nil {
		t.Fatalf("Seal: %v", err)
	}
	return value
}

func TestSeal_RoundTrip(t *testing.T) {
	t.Parallel()
	ring := inlineRing(t)
	for _, plaintext := range []string{"", "x", "a secret", strings.Repeat("long", 1<<16), "\x00\xff"} {
		t.Run(fmt.Sprintf("%.40q", plaintext), func(t *testing.T) {
			value := mustSeal(t, ring, home, plaintext)
			if len(value) != len(plaintext)+overhead {
				t.Errorf("%d bytes became %d, want %d more", len(plaintext), len(value), overhead)
			}
			if len(plaintext) > 4 && bytes.Contains(value, []byte(plaintext)) {
				t.Error("the sealed value shows the plaintext")
			}
			before := slices.Clone(value)
			got, err := ring.Unseal(home, value)
			if err != nil || got == nil || string(got) != plaintext {
				t.Errorf("Unseal gave %d bytes, %v, want %d bytes", len(got), err, len(plaintext))
			}
			if !bytes.Equal(before, value) {
				t.Error("Unseal changed its input")
			}
		})
	}
	if bytes.Equal(mustSeal(t, ring, home, "x")[prefixLen:][:nonceLen], mustSeal(t, ring, home, "x")[prefixLen:][:nonceLen]) {
		t.Error("two values share a nonce")
	}
}

// Existing databases have values in this format, so this value must open forever.
func TestUnseal_StoredFormat(t *testing.T) {
	t.Parallel()
	value, err := hex.DecodeString(goldenValue)
	if err != nil {
		t.Fatal(err)
	}
	got, err := inlineRing(t).Unseal(home, value)
	if err != nil || string(got) != "a secret" {
		t.Errorf("Unseal = %q, %v", got, err)
	}
}

func TestUnseal_OtherPlace(t *testing.T) {
	t.Parallel()
	ring := inlineRing(t)
	places := []Place{
		{"a", "b", "c"}, {"a", "b", "d"}, {"a", "d", "c"}, {"d", "b", "c"}, {"b", "a", "c"},
		{"a:b", "c", "d"}, {"a", "b:c", "d"}, {"a", "b", "c:d"}, {"ab", "c", "d"}, {"a", "bc", "d"},
		{"a", "\x01b", "c"}, {"a\x01", "b", "c"}, {strings.Repeat("a", 200), "b", "c"},
	}
	for _, from := range places {
		t.Run(fmt.Sprint(from), func(t *testing.T) {
			value := mustSeal(t, ring, from, "a secret")
			for _, to := range places {
				got, err := ring.Unseal(to, value)
				if from == to && (err != nil || string(got) != "a secret") {
					t.Errorf("%q: %q, %v", to, got, err)
				}
				if from != to && (!errors.Is(err, ErrCorrupt) || got != nil) {
					t.Errorf("sealed for %q, opened in %q: %q, %v", from, to, got, err)
				}
			}
		})
	}
}

func TestSeal_IncompletePlace(t *testing.T) {
	t.Parallel()
	ring := inlineRing(t)
	value := mustSeal(t, ring, home, "a secret")
	for _, place := range []Place{{}, {"", "b", "c"}, {"a", "", "c"}, {"a", "b", ""}} {
		t.Run(fmt.Sprint(place), func(t *testing.T) {
			_, err := ring.Seal(place, nil)
			wantError(t, err, "cannot seal", "needs a table, a column and a row")
			_, err = ring.Unseal(place, value)
			wantError(t, err, "cannot unseal", "needs a table, a column and a row")
		})
	}
}

// Every flipped bit must be noticed. A flipped bit in the key id looks like a key that the ring
// does not have.
func TestUnseal_TamperedValue(t *testing.T) {
	t.Parallel()
	ring := inlineRing(t)
	value := mustSeal(t, ring, home, "a secret")
	for i := range value {
		for bit := range 8 {
			tampered := slices.Clone(value)
			tampered[i] ^= 1 << bit
			want := ErrCorrupt
			if _, known := ring.keys.Load().ciphers[keyID(tampered[1:prefixLen])]; !known {
				want = ErrUnknownKey
			}
			if got, err := ring.Unseal(home, tampered); !errors.Is(err, want) || got != nil {
				t.Errorf("byte %d bit %d: %q, %v, want %v", i, bit, got, err, want)
			}
		}
	}
}

func TestUnseal_OtherKeySameID(t *testing.T) {
	t.Parallel()
	value := mustSeal(t, mustOpen(t, "0000000a "+testKey('a')), home, "a secret")
	_, err := mustOpen(t, "0000000a "+testKey('b')).Unseal(home, value)
	if !errors.Is(err, ErrCorrupt) {
		t.Errorf("Unseal = %v, want ErrCorrupt", err)
	}
	wantError(t, err, "configs:value:42", "key 0000000a")
}

func TestUnseal_DamagedShape(t *testing.T) {
	t.Parallel()
	ring := inlineRing(t)
	value := mustSeal(t, ring, home, "a secret")
	for n := range value {
		if got, err := ring.Unseal(home, value[:n]); !errors.Is(err, ErrCorrupt) || got != nil {
			t.Errorf("cut to %d bytes: %q, %v", n, got, err)
		}
	}
	if _, err := ring.Unseal(home, append(slices.Clone(value), 0)); !errors.Is(err, ErrCorrupt) {
		t.Errorf("one byte more: %v", err)
	}
	if _, err := ring.Unseal(home, nil); !errors.Is(err, ErrCorrupt) {
		t.Errorf("nil: %v", err)
	}
	value[0] = 7
	_, err := ring.Unseal(home, value)
	wantError(t, err, "format version 7, this program knows only 1")
}

func TestKeyPrefix(t *testing.T) {
	t.Parallel()
	value := mustSeal(t, inlineRing(t), home, "")
	if !bytes.HasPrefix(value, KeyPrefix("0000000b")) || bytes.HasPrefix(value, KeyPrefix("0000000a")) {
		t.Errorf("%x does not start with the prefix of its key", value)
	}
	for _, id := range []string{"", "0000000", "0000000B", "000000000b", "zzzzzzzz"} {
		t.Run(fmt.Sprintf("%q", id), func(t *testing.T) {
			if prefix := KeyPrefix(id); prefix != nil {
				t.Errorf("KeyPrefix(%q) = %x", id, prefix)
			}
		})
	}
}

// A key is rotated, read by another process, used to seal again, and retired.
func TestRing_KeyLife(t *testing.T) {
	t.Parallel()
	one := mustCreate(t)
	other := mustOpen(t, one.path)
	oldID, oldValue := one.Primary(), mustSeal(t, one, home, "a secret")
	newID := mustRotate(t, one)
	newValue := mustSeal(t, one, home, "a secret")
	for _, value := range [][]byte{oldValue, newValue} {
		if got, err := other.Unseal(home, value); err != nil || string(got) != "a secret" {
			t.Errorf("the other process: %q, %v", got, err)
		}
	}
	wantKeys(t, other, oldID, newID)
	text, err := os.ReadFile(one.path)
	if err != nil {
		t.Fatal(err)
	}
	overwrite(t, one.path, string(text[strings.Index(string(text), newID):])) // an operator removes the old key
	if err := one.Reload(); err != nil {
		t.Fatal(err)
	}
	if _, err := one.Unseal(home, oldValue); !errors.Is(err, ErrUnknownKey) {
		t.Errorf("Unseal with a retired key = %v, want ErrUnknownKey", err)
	}
	if _, err := one.Unseal(home, newValue); err != nil {
		t.Error(err)
	}
}

func TestUnseal_UnknownKey(t *testing.T) {
	t.Parallel()
	value := mustSeal(t, mustOpen(t, "0000000c "+testKey('c')), home, "a secret")
	_, err := inlineRing(t).Unseal(home, value)
	wantError(t, err, "configs:value:42", "0000000c is not in the inline key ring")

	ring := mustCreate(t)
	_, err = ring.Unseal(home, value)
	wantError(t, err, "0000000c is not in the key ring file "+ring.path)
	if !errors.Is(err, ErrUnknownKey) || errors.Is(err, ErrCorrupt) {
		t.Errorf("Unseal = %v, want ErrUnknownKey alone", err)
	}

	if err := os.Remove(ring.path); err != nil {
		t.Fatal(err)
	}
	_, err = ring.Unseal(home, value)
	wantError(t, err, "0000000c is not in the key ring file "+ring.path, "reading that again failed", "no such file")
	if !errors.Is(err, ErrUnknownKey) || !errors.Is(err, os.ErrNotExist) {
		t.Errorf("Unseal = %v, want ErrUnknownKey and the reason", err)
	}
}

func BenchmarkSeal(b *testing.B) {
	ring, plaintext := inlineRing(b), make([]byte, 256)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := ring.Seal(home, plaintext); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkUnseal(b *testing.B) {
	ring := inlineRing(b)
	value := mustSeal(b, ring, home, strings.Repeat("x", 256))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := ring.Unseal(home, value); err != nil {
			b.Fatal(err)
		}
	}
}
