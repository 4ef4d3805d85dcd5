// Package compare measures functions side by side. The functions take turns in short rounds, so that a busy machine
// slows all of them equally. The result of each is its best round: the cost of the code when nothing else runs. The
// ratio compares best rounds, and the median shows how busy the machine was.
package compare

import (
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
	batch     = 256 // calls between two readings of the clock
)

// Contender is a function to measure.
type Contender struct {
	Name string
	Call func()
}

// Figure is the result of one contender.
type Figure struct {
	Contender
	Allocs float64   // allocations per call
	rounds []float64 // nanoseconds per call in each round
}

// Measure measures contenders.
func Measure(contenders []Contender) []*Figure {
	figures := make([]*Figure, len(contenders))
	for i, each := range contenders {
		figures[i] = &Figure{Contender: each, Allocs: testing.AllocsPerRun(1000, each.Call)}
	}
	for range rounds {
		for _, f := range figures {
			f.rounds = append(f.rounds, round(f.Call))
		}
	}
	return figures
}

// round runs call for about roundTime and returns the nanoseconds that one call took.
func round(call func()) float64 {
	calls, start := 0, time.Now()
	for {
		for range batch {
			call()
		}
		calls += batch
		if elapsed := time.Since(start); elapsed >= roundTime {
			return float64(elapsed.Nanoseconds()) / float64(calls)
		}
	}
}

// Best returns the nanoseconds of a call in the best round.
func (f *Figure) Best() float64 { return slices.Min(f.rounds) }

func (f *Figure) median() float64 {
	sorted := slices.Sorted(slices.Values(f.rounds))
	return sorted[len(sorted)/2]
}

// Report writes a table of figures with their ratio to the first.
func Report(w io.Writer, title string, figures []*Figure) error {
	base := figures[0].Best()
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(t, "%s\tns/op\tallocs/op\tratio\tmedian ns/op\t\n", title)
	for _, f := range figures {
		fmt.Fprintf(t, "%s\t%.1f\t%.0f\t%.2f\t%.1f\t\n", f.Name, f.Best(), f.Allocs, f.Best()/base, f.median())
	}
	fmt.Fprintln(t)
	return t.Flush()
}
