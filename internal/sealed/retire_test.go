package sealed

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
)

func TestRetire_RemovesOneKey(t *testing.T) {
	t.Parallel()
	ring := mustCreate(t)
	first := ring.Primary()
	second := mustRotate(t, ring)
	third := mustRotate(t, ring)
	place := Place{"configs", "value", "1"}
	value, err := ring.Seal(place, []byte("secret"))
	if err != nil {
		t.Fatal(err)
	}
	if err := ring.Retire(second); err != nil {
		t.Fatal(err)
	}
	if ids := ring.IDs(); len(ids) != 2 || ids[0] != first || ids[1] != third || ring.Primary() != third {
		t.Errorf("the ring has %v", ids)
	}
	again, err := OpenFile(ring.path)
	if err != nil {
		t.Fatal(err)
	}
	if plain, err := again.Unseal(place, value); err != nil || string(plain) != "secret" {
		t.Errorf("got %q, %v", plain, err)
	}
	text, err := os.ReadFile(ring.path)
	if err != nil || !strings.HasPrefix(string(text), fileHeader) || strings.Contains(string(text), second) {
		t.Errorf("the file is %q, %v", text, err)
	}
}

func TestRetire_Refusals(t *testing.T) {
	t.Parallel()
	ring := mustCreate(t)
	if err := ring.Retire(ring.Primary()); err == nil || !strings.Contains(err.Error(), "rotate the ring first") {
		t.Errorf("got %v", err)
	}
	for _, id := range []string{"00000000", "nonsense", ""} {
		t.Run(fmt.Sprintf("%q", id), func(t *testing.T) {
			if err := ring.Retire(id); !errors.Is(err, ErrUnknownKey) {
				t.Errorf("%q: got %v", id, err)
			}
		})
	}
	if len(ring.IDs()) != 1 {
		t.Errorf("the ring has %v", ring.IDs())
	}
}

func TestGenerate_IsKeyOfRing(t *testing.T) {
	t.Parallel()
	ring, err := Open(Generate() + ";" + Generate())
	if err != nil || len(ring.IDs()) != 2 {
		t.Errorf("got %v", err)
	}
	if err := ring.Retire(ring.IDs()[0]); !errors.Is(err, ErrInline) {
		t.Errorf("got %v", err)
	}
}
