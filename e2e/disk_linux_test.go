package e2e

import (
	"fmt"
	"syscall"
	"testing"

	"github.com/signalbox/signalbox/internal/store/storetest"
)

// disk is a file system of its own, in memory, that a test can fill.
type disk struct{ folder string }

const roomy = "size=1g"

// mountDisk mounts a disk at a folder until the end of the test. Only root may do that.
func mountDisk(t *testing.T, folder string) (*disk, error) {
	t.Helper()
	if err := syscall.Mount("tmpfs", folder, "tmpfs", 0, roomy); err != nil {
		return nil, err
	}
	t.Cleanup(func() { _ = syscall.Unmount(folder, syscall.MNT_DETACH) })
	return &disk{folder}, nil
}

// fill leaves no space on the disk.
func (d *disk) fill(t *testing.T) {
	t.Helper()
	storetest.Wait(t, patience, "the disk is full", func() bool { // a file may grow between the two calls
		var now syscall.Statfs_t
		err := syscall.Statfs(d.folder, &now)
		return err == nil && d.resize(fmt.Sprint("size=", (now.Blocks-now.Bfree)*uint64(now.Bsize))) == nil //nolint:gosec // a size is positive
	})
}

// free makes space again.
func (d *disk) free(t *testing.T) {
	t.Helper()
	if err := d.resize(roomy); err != nil {
		t.Fatal(err)
	}
}

func (d *disk) resize(size string) error {
	return syscall.Mount("tmpfs", d.folder, "tmpfs", syscall.MS_REMOUNT, size)
}

// canMount reports whether this user may mount disks.
func canMount(t *testing.T) bool {
	t.Helper()
	folder := t.TempDir()
	if syscall.Mount("tmpfs", folder, "tmpfs", 0, roomy) != nil {
		return false
	}
	return syscall.Unmount(folder, 0) == nil
}
