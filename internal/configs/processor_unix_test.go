//go:build unix

package configs

import (
	"syscall"
	"testing"
	"time"
)

// processorTime returns the processor time of this process. Other processes do not affect it,
// unlike the clock.
func processorTime(t *testing.T) time.Duration {
	t.Helper()
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		t.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
