//go:build !unix

package store_test

func isFullDiskProcess() bool { return false }
func fullDiskProcess() int    { return 0 }
