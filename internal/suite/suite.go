// Package suite holds the two switches of the test suite: whether a test may
// be skipped, and whether it runs in its short or its long form.
package suite

import (
	"os"
	"testing"
)

// The environment variables that make test and make soak set.
const (
	allVariable  = "SIGNALBOX_TEST_ALL"
	soakVariable = "SIGNALBOX_SOAK"
)

// Skip skips a test because this machine or this run lacks something. The reason
// says what to do about it. Under make test nothing may be skipped, so the test
// fails instead.
func Skip(t testing.TB, reason string) {
	t.Helper()
	if os.Getenv(allVariable) != "" {
		t.Fatal(reason)
	}
	t.Skip(reason)
}

// Scale returns long under make soak and short otherwise. The numbers are the
// rounds, sockets or steps of an endurance test.
func Scale[N any](short, long N) N {
	if os.Getenv(soakVariable) != "" {
		return long
	}
	return short
}
