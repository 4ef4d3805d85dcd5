package sealed

import (
	"bufio"
	"errors"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/signalbox/signalbox/internal/filelock"
)

func TestRotate_AppendsPrimary(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"plain":              "0000000a " + testKey('a') + "\n",
		"no last line break": "0000000a " + testKey('a'),
		"last is a comment":  "0000000a " + testKey('a') + "\n# the end",
		"separators":         ";0000000a " + testKey('a') + ";",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ring := mustOpen(t, writeRing(t, text, 0o600))
			id := mustRotate(t, ring)
			wantKeys(t, ring, "0000000a", id)
			wantKeys(t, mustOpen(t, ring.path), "0000000a", id)
			wantNoLeftovers(t, ring)
			after, err := os.ReadFile(ring.path)
			if err != nil || !strings.HasPrefix(string(after), text) {
				t.Errorf("the old text was not kept: %q, %v", after, err)
			}
		})
	}
}

func TestRotate_KeepsMode(t *testing.T) {
	t.Parallel()
	ring := mustOpen(t, writeRing(t, "0000000a "+testKey('a'), 0o600))
	mustRotate(t, ring)
	info, err := os.Stat(ring.path)
	if err != nil || info.Mode() != 0o600 {
		t.Errorf("mode %v, %v, want 0600", info.Mode(), err)
	}
}

func TestRotate_SymbolicLink(t *testing.T) {
	t.Parallel()
	target := writeRing(t, "0000000a "+testKey('a'), 0o600)
	link := testPath(t)
	if err := os.Symlink(target, link); err != nil {
		t.Fatal(err)
	}
	id := mustRotate(t, mustOpen(t, link))
	wantKeys(t, mustOpen(t, target), "0000000a", id)
	if info, err := os.Lstat(link); err != nil || info.Mode().Type() != os.ModeSymlink {
		t.Errorf("the link is now %v, %v", info.Mode(), err)
	}
}

func TestRotate_ReadsFileAgain(t *testing.T) {
	t.Parallel()
	first := mustCreate(t)
	stale := mustOpen(t, first.path)
	old, second := first.Primary(), mustRotate(t, first)
	third := mustRotate(t, stale)
	wantKeys(t, stale, old, second, third)
}

func TestRotate_BrokenFile(t *testing.T) {
	t.Parallel()
	ring := mustCreate(t)
	want := ring.Keys()
	overwrite(t, ring.path, "half a li")
	_, err := ring.Rotate()
	wantError(t, err, "cannot rotate", ring.path, "line 1")
	wantKeys(t, ring, want...)
	wantNoLeftovers(t, ring)

	if err := os.Remove(ring.path); err != nil {
		t.Fatal(err)
	}
	_, err = ring.Rotate()
	wantError(t, err, "cannot rotate", "no such file")
}

func TestRotate_InlineRing(t *testing.T) {
	t.Parallel()
	ring := mustOpen(t, "0000000a "+testKey('a')+";0000000b "+testKey('b'))
	_, err := ring.Rotate()
	wantError(t, err, "given inline", "signalbox admin keyring generate", "restart every process")
	if !errors.Is(err, ErrInline) {
		t.Errorf("Rotate = %v, want ErrInline", err)
	}
	wantKeys(t, ring, "0000000a", "0000000b")
}

func TestRotate_Concurrent(t *testing.T) {
	t.Parallel()
	const rotators = 8
	path := mustCreate(t).path
	ids, errs := make([]string, rotators), make([]error, rotators)
	var group sync.WaitGroup
	for i := range rotators {
		ring := mustOpen(t, path)
		group.Go(func() { ids[i], errs[i] = ring.Rotate() })
	}
	group.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	ring := mustOpen(t, path)
	if len(ring.Keys()) != rotators+1 {
		t.Errorf("%d keys, want %d", len(ring.Keys()), rotators+1)
	}
	for _, id := range ids {
		if !slices.Contains(ring.Keys(), id) {
			t.Errorf("key %s was lost", id)
		}
	}
	wantNoLeftovers(t, ring)
}

// A ring is rotated, reloaded and used at the same time. Every value must open.
func TestRotate_WhileInUse(t *testing.T) {
	t.Parallel()
	ring := mustCreate(t)
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			for range 5 {
				if _, err := ring.Rotate(); err != nil {
					t.Error(err)
				}
			}
		})
		group.Go(func() {
			reader := mustOpen(t, ring.path)
			for range 50 {
				checkRoundTrip(t, ring, reader)
			}
		})
	}
	group.Wait()
	wantKeys(t, mustOpen(t, ring.path), ring.Keys()...)
	if len(ring.Keys()) != 21 {
		t.Errorf("%d keys, want 21", len(ring.Keys()))
	}
}

func checkRoundTrip(t *testing.T, sealer, opener *Ring) {
	place := Place{"jobs", "secret", "1"}
	value, err := sealer.Seal(place, []byte("hush"))
	if err != nil {
		t.Error(err)
	}
	if got, err := opener.Unseal(place, value); err != nil || string(got) != "hush" {
		t.Errorf("Unseal = %q, %v", got, err)
	}
	if err := opener.Reload(); err != nil {
		t.Error(err)
	}
}

func TestLockFile_GivesUp(t *testing.T) {
	t.Parallel()
	path := mustCreate(t).path
	held, err := lockFile(path, 1)
	if err != nil {
		t.Fatal(err)
	}
	_, err = lockFile(path, 2)
	wantError(t, err, "gave up on the key ring file "+path, "another process holds the lock")

	// Reading does not need the lock.
	if _, err := Open(path); err != nil {
		t.Error(err)
	}
	held.Close()
	free, err := lockFile(path, 1)
	if err != nil {
		t.Fatal(err)
	}
	free.Close()
}

// A lock on a file that was replaced meanwhile protects nothing.
func TestLockFile_ReplacedFile(t *testing.T) {
	t.Parallel()
	ring := mustCreate(t)
	old, err := os.Open(ring.path)
	if err != nil {
		t.Fatal(err)
	}
	defer old.Close()
	mustRotate(t, ring)
	if err := lockCurrent(old, ring.path); !errors.Is(err, filelock.ErrLocked) {
		t.Errorf("lockCurrent of a replaced file = %v, want ErrLocked", err)
	}
}

// rotatorPath is the variable that makes a copy of the test binary rotate a ring until it is killed.
const rotatorPath = "SEALED_TEST_ROTATE"

// Processes are killed while they rotate. Every rotation that they had reported must be in the
// ring, and the ring must be intact.
func TestRotate_KilledProcess(t *testing.T) {
	if path := os.Getenv(rotatorPath); path != "" {
		rotateForever(t, path)
	}
	t.Parallel()
	path := testPath(t)
	var done [2][]string
	var group sync.WaitGroup
	for i := range done {
		group.Go(func() { done[i] = rotateAndKill(t, path) })
	}
	group.Wait()
	ring := mustOpen(t, path)
	for _, id := range slices.Concat(done[:]...) {
		if !slices.Contains(ring.Keys(), id) {
			t.Errorf("key %s was reported and then lost", id)
		}
	}
	mustRotate(t, ring) // the lock was released when its holders were killed
}

func rotateForever(t *testing.T, path string) {
	ring, err := OpenOrCreate(path)
	for range 1000 { // bounded, in case the parent cannot kill this process
		var id string
		if err == nil {
			id, err = ring.Rotate()
		}
		if err != nil {
			t.Fatal(err)
		}
		_, _ = os.Stdout.WriteString("id " + id + "\n")
	}
}

func rotateAndKill(t *testing.T, path string) (ids []string) {
	child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestRotate_KilledProcess$")
	child.Env = append(os.Environ(), rotatorPath+"="+path)
	child.WaitDelay = 10 * time.Second
	output, err := child.StdoutPipe()
	if err != nil {
		t.Error(err)
		return nil
	}
	if err := child.Start(); err != nil {
		t.Error(err)
		return nil
	}
	lines := bufio.NewScanner(output)
	for lines.Scan() {
		if id, ok := strings.CutPrefix(lines.Text(), "id "); ok && len(id) == 8 {
			ids = append(ids, id)
		}
		if len(ids) == 5 {
			_ = child.Process.Kill() // its output up to now is still read
		}
	}
	_ = child.Wait()
	if len(ids) < 5 {
		t.Errorf("the child reported only %v", ids)
	}
	return ids
}
