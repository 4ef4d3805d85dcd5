package optional_test

import (
	"testing"

	"github.com/signalbox/signalbox/internal/optional"
)

func TestValue_ThreeStates(t *testing.T) {
	t.Parallel()
	var left optional.Value[int]
	for _, c := range []struct {
		name          string
		value         optional.Value[int]
		absent, null  bool
		or            int
		hasAnyPointer bool
	}{
		{"absent", left, true, false, 7, false},
		{"null", optional.Null[int](), false, true, 7, false},
		{"present", optional.Of(0), false, false, 0, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, present := c.value.Get()
			if c.value.IsAbsent() != c.absent || c.value.IsNull() != c.null || present != c.hasAnyPointer {
				t.Errorf("%s: wrong state", c.name)
			}
			if c.value.Or(7) != c.or || (c.value.Pointer() != nil) != c.hasAnyPointer {
				t.Errorf("%s: wrong value", c.name)
			}
		})
	}
}
