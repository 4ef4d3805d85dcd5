package sealed

import (
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// testKey returns the base64 of a key made of one repeated byte.
func testKey(b byte) string {
	return base64.StdEncoding.EncodeToString([]byte(strings.Repeat(string(rune(b)), keySize)))
}

func testPath(t *testing.T) string {
	t.Helper()
	return filepath.Join(t.TempDir(), "keyring")
}

// writeRing writes a ring file with exactly this mode, independent of the umask.
func writeRing(t *testing.T, text string, mode fs.FileMode) string {
	t.Helper()
	path := testPath(t)
	overwrite(t, path, text)
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
	return path
}

func overwrite(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func mustOpen(t testing.TB, source string) *Ring {
	t.Helper()
	ring, err := Open(source)
	if err != nil {
		t.Fatalf("Open: %v", err)
	}
	return ring
}

func mustCreate(t *testing.T) *Ring {
	t.Helper()
	ring, err := OpenOrCreate(testPath(t))
	if err != nil {
		t.Fatalf("Create: %v", err)
	}
	return ring
}

func mustRotate(t *testing.T, ring *Ring) string {
	t.Helper()
	id, err := ring.Rotate()
	if err != nil {
		t.Fatalf("Rotate: %v", err)
	}
	return id
}

func wantKeys(t *testing.T, ring *Ring, want ...string) {
	t.Helper()
	if got := ring.Keys(); !slices.Equal(got, want) {
		t.Errorf("Keys() = %v, want %v", got, want)
	}
	if got := ring.Primary(); got != want[len(want)-1] {
		t.Errorf("Primary() = %s, want %s", got, want[len(want)-1])
	}
}

// wantError checks that err mentions every part and no key material.
func wantError(t *testing.T, err error, parts ...string) {
	t.Helper()
	if err == nil {
		t.Fatalf("no error, want one with %q", parts)
	}
	for _, part := range parts {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("error %q lacks %q", err, part)
		}
	}
	for _, b := range []byte("abc") {
		if secret := testKey(b)[:12]; strings.Contains(err.Error(), secret) {
			t.Errorf("error %q shows key material", err)
		}
	}
}

func wantNoLeftovers(t *testing.T, ring *Ring) {
	t.Helper()
	files, err := os.ReadDir(filepath.Dir(ring.path))
	if err != nil {
		t.Fatal(err)
	}
	if len(files) != 1 {
		t.Errorf("the folder holds %v, want the key ring alone", files)
	}
}

func TestOpen_KeyOrder(t *testing.T) {
	t.Parallel()
	a, b := "0000000a "+testKey('a'), "0000000b "+testKey('b')
	texts := map[string]string{
		"lines":                  a + "\n" + b + "\n",
		"no last line break":     a + "\n" + b,
		"carriage returns":       a + "\r\n" + b + "\r\n",
		"semicolons":             a + ";" + b,
		"commas and spaces":      "  " + a + " , " + b + " , ",
		"tabs":                   strings.ReplaceAll(a+"\n"+b, " ", "\t"),
		"comments":               "# first, and; more\n\n" + a + "\n  # second\n" + b + "\n# end",
		"comment after a key":    a + "; # old, soon gone\n" + b,
		"empty entries":          ";;" + a + ",;\n\n," + b + ";",
		"header of created file": fileHeader + a + "\n" + b + "\n",
	}
	for name, text := range texts {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			wantKeys(t, mustOpen(t, text), "0000000a", "0000000b")
			wantKeys(t, mustOpen(t, writeRing(t, text, 0o600)), "0000000a", "0000000b")
		})
	}
}

func TestOpen_MalformedText(t *testing.T) {
	t.Parallel()
	good := "0000000a " + testKey('a') + "\n"
	tests := map[string]struct{ text, want string }{
		"empty":           {" \n", "no key"},
		"only comments":   {"# nothing\n#\n", "no key in it"},
		"key alone":       {good + testKey('b'), "line 2: expected a key id"},
		"three words":     {good + "\n0000000b " + testKey('b') + " x", "line 3: expected a key id"},
		"swapped":         {testKey('b') + " 0000000b\n", "line 1: the first word must be a key id"},
		"short id":        {"0000b " + testKey('b') + "\n", "line 1: the first word must be a key id"},
		"upper-case id":   {"0000000B " + testKey('b') + "\n", "line 1: the first word must be a key id"},
		"not hex":         {"0000000g " + testKey('b') + "\n", "line 1: the first word must be a key id"},
		"not base64":      {good + "0000000b " + testKey('b')[:20] + "!\n", "line 2: key 0000000b is not base64"},
		"unpadded base64": {good + "0000000b " + strings.TrimRight(testKey('b'), "=") + "\n", "line 2: key 0000000b is not base64"},
		"stray bits":      {"0000000b " + strings.Replace(testKey('b'), "I=", "J=", 1) + "\n", "line 1: key 0000000b is not base64"},
		"short key":       {"0000000b " + base64.StdEncoding.EncodeToString([]byte("sixteen bytes ..")) + "\n", "line 1: key 0000000b is 16 bytes long, it must be 32"},
		"empty key":       {"0000000b ==\n", "line 1: key 0000000b is not base64"},
		"duplicate id":    {good + "0000000a " + testKey('b') + "\n", "line 2: the key id 0000000a is used twice"},
		"second entry":    {strings.TrimSpace(good) + ";" + testKey('b') + "\n", "line 2: expected a key id"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := Open(test.text)
			wantError(t, err, test.want)
			path := writeRing(t, test.text, 0o600)
			_, err = Open(path)
			wantError(t, err, test.want, path)
		})
	}
}

func TestOpen_ErrorsHideKeys(t *testing.T) {
	t.Parallel()
	const secret = "c2VjcmV0c2VjcmV0c2VjcmV0"
	slash := "/" + strings.Repeat("c2VjcmV0", 6)[:42]
	for _, source := range []string{
		testKey('a'), strings.TrimRight(testKey('a'), "="), slash, slash + "=", secret + "c2VjcmV0",
		"0000000a:" + testKey('a'), "0000000a=" + testKey('a'), "0000000a " + secret, slash + "= 0000000a",
		slash + " 0000000a", secret + "\n" + secret, "key " + secret, "0000000a " + secret + ";0000000b " + secret,
		strings.Repeat("c2Vj", 16), strings.Repeat("c2V-", 10) + "c2Vj", "#" + secret,
	} {
		t.Run(fmt.Sprintf("%q", source), func(t *testing.T) {
			_, err := Open(source)
			wantError(t, err, "inline")
			if strings.Contains(err.Error(), "c2Vj") {
				t.Errorf("error %q shows key material", err)
			}
		})
	}
}

func TestOpen_Paths(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	for _, source := range []string{
		folder + "/missing", folder + "/my keys/ring", "./my keys, the ring", "../nowhere/ring", "data-of-nobody/keyring",
	} {
		t.Run(source, func(t *testing.T) {
			_, err := Open(source)
			if !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("Open(%q) = %v, want fs.ErrNotExist", source, err)
			}
			wantError(t, err, "key ring file", strings.TrimLeft(source, "./"))
		})
	}
	odd := filepath.Join(folder, "0000000a "+strings.ReplaceAll(testKey('a'), "/", "_"))
	overwrite(t, odd, "0000000b "+testKey('b'))
	wantKeys(t, mustOpen(t, odd+"\n"), "0000000b")
}

func TestOpen_NotPrivateFile(t *testing.T) {
	t.Parallel()
	text := "0000000a " + testKey('a') + "\n"
	for mode, private := range map[fs.FileMode]bool{
		0o600: true, 0o400: true, 0o640: false, 0o604: false, 0o620: false, 0o644: false, 0o601: false, 0o700: false,
	} {
		t.Run(fmt.Sprint(mode), func(t *testing.T) {
			path := writeRing(t, text, mode)
			_, err := Open(path)
			if private && err != nil {
				t.Errorf("mode %o: %v", mode, err)
			} else if !private {
				wantError(t, err, fmt.Sprintf("mode %04o", mode), "run chmod 600 \""+path+"\"")
			}
		})
	}
	_, err := Open(t.TempDir())
	wantError(t, err, "is not a regular file")
	_, err = Open(writeRing(t, strings.Repeat("#", maxFileSize+1), 0o600))
	wantError(t, err, "larger than")
	_, err = Open("")
	wantError(t, err, "no key ring was given")
}

func TestOpenOrCreate_NewFile(t *testing.T) {
	t.Parallel()
	ring := mustCreate(t)
	if len(ring.Keys()) != 1 {
		t.Errorf("Keys() = %v, want one", ring.Keys())
	}
	info, err := os.Stat(ring.path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("stat: %v, %v, want mode 0600", info.Mode(), err)
	}
	again, err := OpenOrCreate(ring.path)
	if err != nil {
		t.Fatal(err)
	}
	wantKeys(t, again, ring.Keys()...)
	wantNoLeftovers(t, ring)

	// The text of the file works inline too.
	text, err := os.ReadFile(ring.path)
	if err != nil {
		t.Fatal(err)
	}
	wantKeys(t, mustOpen(t, string(text)), ring.Keys()...)
}

func TestOpenOrCreate_Fails(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "missing", "keyring")
	_, err := OpenOrCreate(path)
	wantError(t, err, "cannot create the key ring file "+path, "no such file")

	// A broken file is reported and never replaced.
	broken := writeRing(t, "half a li", 0o600)
	_, err = OpenOrCreate(broken)
	wantError(t, err, broken, "line 1")
	_, err = OpenOrCreate(broken)
	wantError(t, err, broken, "line 1")
}

func TestOpenOrCreate_Concurrent(t *testing.T) {
	t.Parallel()
	const openers = 32
	path := testPath(t)
	rings, errs := make([]*Ring, openers), make([]error, openers)
	var group sync.WaitGroup
	for i := range openers {
		group.Go(func() { rings[i], errs[i] = OpenOrCreate(path) })
	}
	group.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	for _, ring := range rings {
		wantKeys(t, ring, rings[0].Primary())
	}
	wantNoLeftovers(t, rings[0])
}

func TestReload_ChangedFile(t *testing.T) {
	t.Parallel()
	a, b := "0000000a "+testKey('a')+"\n", "0000000b "+testKey('b')+"\n"
	path := writeRing(t, a, 0o600)
	ring := mustOpen(t, path)
	steps := []struct {
		text    string
		want    []string
		wantErr string
	}{
		{a, []string{"0000000a"}, ""},
		{a + b, []string{"0000000a", "0000000b"}, ""},
		{a + b + "broken", []string{"0000000a", "0000000b"}, "line 3"},
		{"", []string{"0000000a", "0000000b"}, "no key in it"},
		{b + a, []string{"0000000b", "0000000a"}, ""},
		{b, []string{"0000000b"}, ""},
	}
	for _, step := range steps {
		overwrite(t, path, step.text)
		if err := ring.Reload(); step.wantErr != "" {
			wantError(t, err, path, step.wantErr)
		} else if err != nil {
			t.Error(err)
		}
		wantKeys(t, ring, step.want...)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := ring.Reload(); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Reload of a removed file = %v", err)
	}
	wantKeys(t, ring, "0000000b")
}

func TestReload_InlineRing(t *testing.T) {
	t.Parallel()
	ring := mustOpen(t, "0000000a "+testKey('a'))
	if err := ring.Reload(); err != nil {
		t.Error(err)
	}
	wantKeys(t, ring, "0000000a")
}

func TestRing_PrintsNoKeys(t *testing.T) {
	t.Parallel()
	ring := mustOpen(t, "0000000a "+testKey('a'))
	text := fmt.Sprintf("%v %+v %#v", ring, ring, ring)
	for _, secret := range []string{testKey('a')[:12], "aaaaaaaa", "61616161", "97 97 97", "0x61, 0x61"} {
		if strings.Contains(text, secret) {
			t.Errorf("%q shows the key", text)
		}
	}
}

// Keys returns the ids of all keys, oldest first.
func (r *Ring) Keys() []string {
	var ids []string
	for _, id := range r.keys.Load().order {
		ids = append(ids, id.String())
	}
	return ids
}
