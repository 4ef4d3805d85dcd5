//go:build linux || darwin || freebsd

package app

import "golang.org/x/sys/unix"

// freeSpace returns the free bytes on the disk of a folder; false if unknown.
func freeSpace(folder string) (uint64, bool) {
	var stat unix.Statfs_t
	if err := unix.Statfs(folder, &stat); err != nil {
		return 0, false
	}
	return uint64(stat.Bavail) * uint64(stat.Bsize), true //nolint:unconvert,gosec // the types differ between systems
}
