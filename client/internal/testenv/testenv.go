// Package testenv decides what tests do when the environment lacks a tool, and how long they run.
package testenv

import (
	"os"
	"testing"
)

// All reports whether SIGNALBOX_TEST_ALL is set, as make test does: no test may be skipped.
func All() bool { return os.Getenv("SIGNALBOX_TEST_ALL") != "" }

// Skip skips a test for want of a tool. It fails the test when SIGNALBOX_TEST_ALL is set.
func Skip(t testing.TB, reason string) {
	t.Helper()
	if All() {
		t.Fatal(reason)
	}
	t.Skip(reason)
}

// Scale returns long when SIGNALBOX_SOAK is set, else short.
func Scale(short, long int) int {
	if os.Getenv("SIGNALBOX_SOAK") != "" {
		return long
	}
	return short
}
