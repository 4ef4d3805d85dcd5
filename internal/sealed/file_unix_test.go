//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package sealed

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// An administrator may rotate for a service that runs as another user.
func TestRotate_KeepsOwner(t *testing.T) {
	t.Parallel()
	if os.Getuid() != 0 {
		t.Skip("only root can rotate for another user")
	}
	const service = 12345
	ring := mustCreate(t)
	if err := os.Chown(ring.path, service, service); err != nil {
		t.Skip("cannot give files away here:", err)
	}
	mustRotate(t, ring)
	info, err := os.Stat(ring.path)
	if err != nil {
		t.Fatal(err)
	}
	if got := info.Sys().(*syscall.Stat_t).Uid; got != service {
		t.Errorf("the file belongs to user %d after a rotation by root, want %d", got, service)
	}
}

func TestOpen_NamedPipe(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := Open(path)
	wantError(t, err, path, "is not a regular file")
}
