//go:build !unix

package store_test

func isFullDiskProcess() bool   { return false }
func fullDiskProcess() int      { return 0 }
func isFrozenNodeProcess() bool { return false }
func frozenNodeProcess() int    { return 0 }
