package rules

import (
	"strings"
	"testing"
)

// TestRun: every contender decides as the rules say, and ours does not allocate. It does not judge the times.
func TestRun(t *testing.T) {
	for _, s := range scenarios() {
		t.Run(s.name, func(t *testing.T) {
			figures, err := measure(s)
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range figures {
				if (f.Name == ours || f.Name == typed) && f.Allocs != 0 {
					t.Errorf("%s, rule %q: %v allocations", f.Name, s.name, f.Allocs)
				}
			}
			var table strings.Builder
			if err := report(&table, s, figures); err != nil {
				t.Fatal(err)
			}
			if lines := strings.Count(table.String(), "\n"); lines != len(contenders())+2 {
				t.Errorf("%d lines:\n%s", lines, &table)
			}
		})
	}
}
