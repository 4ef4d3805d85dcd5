package jobs

import (
	"testing"
	"time"
)

// at reads an instant of a test.
func at(t testing.TB, text string) time.Time {
	t.Helper()
	instant, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		t.Fatal(err)
	}
	return instant
}
