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
	process, err := syscall.GetCurrentProcess()
	if err != nil {
		t.Fatal(err)
	}
	var created, ended, kernel, user syscall.Filetime
	if err := syscall.GetProcessTimes(process, &created, &ended, &kernel, &user); err != nil {
		t.Fatal(err)
	}
	var total time.Duration
	for _, spent := range []syscall.Filetime{kernel, user} {
		total += time.Duration(int64(spent.HighDateTime)<<32|int64(spent.LowDateTime)) * 100
	}
	return total
}
