package rules

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"testing"
	"text/tabwriter"
	"time"
)

const (
	rounds    = 60
	roundTime = 2 * time.Millisecond
	batch     = 256 // calls between two looks at the clock
)

// figure is what was measured of one contender in one scenario.
type figure struct {
	contender string
	decide    func() bool
	rounds    []float64 // nanoseconds a decision
	allocs    float64
}

// Run measures every contender in every scenario and writes a table for each.
func Run(w io.Writer) error {
	for _, s := range scenarios() {
		figures, err := measure(s)
		if err != nil {
			return err
		}
		if err := report(w, s, figures); err != nil {
			return err
		}
	}
	return nil
}

func measure(s scenario) ([]*figure, error) {
	var figures []*figure
	for _, c := range contenders() {
		decide, err := c.checked(s)
		if err != nil {
			return nil, fmt.Errorf("%s, rule %q: %w", c.name, s.name, err)
		}
		figures = append(figures, &figure{contender: c.name, decide: decide, allocs: testing.AllocsPerRun(1000, func() { decide() })})
	}
	for range rounds {
		for _, f := range figures {
			f.rounds = append(f.rounds, round(f.decide))
		}
	}
	return figures, nil
}

// checked prepares a contender that decides as the scenario says, for the user who matches.
func (c contender) checked(s scenario) (func() bool, error) {
	for _, u := range s.misses {
		decide, err := c.prepare(s, u)
		if err != nil {
			return nil, err
		}
		if decide() {
			return nil, fmt.Errorf("matches %+v", u)
		}
	}
	decide, err := c.prepare(s, match())
	if err == nil && !decide() {
		err = errors.New("does not match")
	}
	return decide, err
}

// round runs decide for about roundTime and returns the nanoseconds that one call took.
func round(decide func() bool) float64 {
	calls, start := 0, time.Now()
	for {
		for range batch {
			decide()
		}
		calls += batch
		if elapsed := time.Since(start); elapsed >= roundTime {
			return float64(elapsed.Nanoseconds()) / float64(calls)
		}
	}
}

func (f *figure) best() float64 { return slices.Min(f.rounds) }

func (f *figure) median() float64 {
	sorted := slices.Sorted(slices.Values(f.rounds))
	return sorted[len(sorted)/2]
}

func report(w io.Writer, s scenario, figures []*figure) error {
	base := figures[0].best()
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(t, "rule: %s\tns/op\tallocs/op\tratio\tmedian ns/op\t\n", s.name)
	for _, f := range figures {
		fmt.Fprintf(t, "%s\t%.1f\t%.0f\t%.2f\t%.1f\t\n", f.contender, f.best(), f.allocs, f.best()/base, f.median())
	}
	fmt.Fprintln(t)
	return t.Flush()
}
