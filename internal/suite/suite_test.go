package suite_test

import (
	"fmt"
	"testing"

	"github.com/signalbox/signalbox/internal/suite"
)

// recorder notes how a test would have ended.
type recorder struct {
	testing.TB
	ended string
}

func (r *recorder) Helper()      {}
func (r *recorder) Skip(...any)  { r.ended += "skipped" }
func (r *recorder) Fatal(...any) { r.ended += "failed, not " }

func TestSkip(t *testing.T) {
	for value, want := range map[string]string{"": "skipped", "1": "failed, not skipped"} {
		t.Run(fmt.Sprintf("%q", value), func(t *testing.T) {
			t.Setenv("SIGNALBOX_TEST_ALL", value)
			r := &recorder{TB: t}
			if suite.Skip(r, "no server"); r.ended != want {
				t.Errorf("SIGNALBOX_TEST_ALL=%s: the test was %s", value, r.ended)
			}
		})
	}
}

func TestScale(t *testing.T) {
	for value, want := range map[string]int{"": 3, "1": 20} {
		t.Run(value, func(t *testing.T) {
			t.Setenv("SIGNALBOX_SOAK", value)
			if got := suite.Scale(3, 20); got != want {
				t.Errorf("SIGNALBOX_SOAK=%s: got %d, want %d", value, got, want)
			}
		})
	}
}
