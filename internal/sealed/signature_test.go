package sealed_test

import (
	"bytes"
	"path/filepath"
	"testing"

	"github.com/signalbox/signalbox/internal/sealed"
)

// processes returns two rings of one file, as two processes have them.
func processes(t *testing.T) (here, there *sealed.Ring) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "keyring")
	here, err := sealed.OpenOrCreate(path)
	if err != nil {
		t.Fatal(err)
	}
	there, err = sealed.OpenFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return here, there
}

func TestSign_SameInEveryProcess(t *testing.T) {
	t.Parallel()
	here, there := processes(t)
	made := here.Sign("streams", []byte("text"))
	if !bytes.Equal(made, there.Sign("streams", []byte("text"))) {
		t.Error("two processes sign differently")
	}
	if !there.Signed("streams", []byte("text"), made) {
		t.Error("the other process refuses the signature")
	}
}

func TestSigned_AfterRotation(t *testing.T) {
	t.Parallel()
	here, there := processes(t)
	old := here.Sign("streams", []byte("text"))
	if _, err := here.Rotate(); err != nil {
		t.Fatal(err)
	}
	made := here.Sign("streams", []byte("text"))
	for name, signature := range map[string][]byte{"old": old, "new": made} {
		t.Run(name, func(t *testing.T) {
			if !here.Signed("streams", []byte("text"), signature) || !there.Signed("streams", []byte("text"), signature) {
				t.Errorf("the signature with the %s key is refused", name)
			}
		})
	}
}

func TestSigned_Refuses(t *testing.T) {
	t.Parallel()
	here, _ := processes(t)
	stranger, _ := processes(t)
	made := here.Sign("streams", []byte("text"))
	changed := bytes.Clone(made)
	changed[len(changed)-1] ^= 1
	for name, c := range map[string]struct {
		purpose, text string
		signature     []byte
	}{
		"another text":    {"streams", "texts", made},
		"another purpose": {"stream", "stext", made},
		"a changed one":   {"streams", "text", changed},
		"a short one":     {"streams", "text", made[:len(made)-1]},
		"an empty one":    {"streams", "text", nil},
		"another ring's":  {"streams", "text", stranger.Sign("streams", []byte("text"))},
	} {
		t.Run(name, func(t *testing.T) {
			if here.Signed(c.purpose, []byte(c.text), c.signature) {
				t.Errorf("%s is accepted", name)
			}
		})
	}
}
