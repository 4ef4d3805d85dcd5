//go:build !(linux || darwin || freebsd)

package app

// freeSpace returns the free bytes on the disk of a folder; false if unknown.
func freeSpace(string) (uint64, bool) { return 0, false }
