package jsonlogic

import "testing"

// TestEvaluate_NoAllocations: neither Decide nor Evaluate allocates for common rules.
func TestEvaluate_NoAllocations(t *testing.T) {
	data := mustParse(t, benchData)
	for name, source := range benchRules() {
		t.Run(name, func(t *testing.T) {
			r, err := Compile([]byte(source), FlagKey("checkout-v2"))
			if err != nil {
				t.Fatal(err)
			}
			if n := testing.AllocsPerRun(200, func() { r.Decide(data) }); n != 0 {
				t.Errorf("Decide allocates %v times", n)
			}
			if n := testing.AllocsPerRun(200, func() { _, _ = r.Evaluate(data) }); n != 0 {
				t.Errorf("Evaluate allocates %v times", n)
			}
		})
	}
}
