// Package testenv decides what tests do when a tool is missing, and how long they run.
package testenv

import (
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"time"
)

// All reports whether SIGNALBOX_TEST_ALL is set, as it is by make test: no test may be skipped.
func All() bool { return os.Getenv("SIGNALBOX_TEST_ALL") != "" }

// Skip skips a test because a tool is missing. It fails the test when SIGNALBOX_TEST_ALL is set.
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

// Diff returns "" if two values are deeply equal, else both of them. It stands in for a test library: a test-only
// dependency would show up in every program that imports the client.
func Diff(want, got any) string {
	if reflect.DeepEqual(want, got) {
		return ""
	}
	return "-want " + show(want) + "\n+got  " + show(got)
}

// show returns a value as JSON, which follows pointers, and in Go syntax, which shows differences that JSON hides.
func show(value any) string {
	text, err := json.Marshal(value)
	if err != nil {
		return fmt.Sprintf("%+v", value)
	}
	return fmt.Sprintf("%s %+v", text, value)
}

// Wait waits until a condition holds.
func Wait(t testing.TB, what string, holds func() bool) {
	t.Helper()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for limit := time.After(30 * time.Second); !holds(); {
		select {
		case <-tick.C:
		case <-limit:
			t.Fatalf("waited 30 s for this: %s", what)
		}
	}
}

// Leaks returns the goroutines that still run code of a package 5 s after the tests ended, or "".
func Leaks(code string) string {
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for limit := time.After(5 * time.Second); ; {
		left := running(code)
		if left == "" {
			return ""
		}
		select {
		case <-tick.C:
		case <-limit:
			return left
		}
	}
}

func running(code string) string {
	stacks := make([]byte, 1<<20)
	stacks = stacks[:runtime.Stack(stacks, true)]
	var found []string
	for each := range strings.SplitSeq(string(stacks), "\n\n") {
		if strings.Contains(each, code) && !strings.Contains(each, "testenv.running(") {
			found = append(found, each)
		}
	}
	return strings.Join(found, "\n\n")
}
