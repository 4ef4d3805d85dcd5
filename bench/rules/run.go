package rules

import (
	"errors"
	"fmt"
	"io"

	"github.com/signalbox/signalbox/bench/compare"
)

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

func report(w io.Writer, s scenario, figures []*compare.Figure) error {
	return compare.Report(w, "rule: "+s.name, figures)
}

func measure(s scenario) ([]*compare.Figure, error) {
	var list []compare.Contender
	for _, c := range contenders() {
		decide, err := c.checked(s)
		if err != nil {
			return nil, fmt.Errorf("%s, rule %q: %w", c.name, s.name, err)
		}
		list = append(list, compare.Contender{Name: c.name, Call: func() { decide() }})
	}
	return compare.Measure(list), nil
}

// checked prepares a contender for the user who matches, after checking its decisions for all users of the scenario.
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
