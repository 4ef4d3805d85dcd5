package jsonlogic

import (
	"errors"
	"strings"
	"testing"
)

// looping returns a rule with nested loops over a list.
func looping(depth int, list string) string {
	return strings.Repeat(`{"map":[`+list+`,`, depth) + "1" + strings.Repeat("]}", depth)
}

// lists returns data with lists in lists, and a rule that loops over all of them.
func lists(t *testing.T, depth int) (data Value, rule *Rule) {
	t.Helper()
	data = Number(1)
	for range depth {
		items := make([]Value, 400)
		for i := range items {
			items[i] = data
		}
		data = Array(items...)
	}
	return data, mustCompile(t, looping(depth, `{"var":""}`))
}

func TestRule_Steps(t *testing.T) {
	ten := `[1,2,3,4,5,6,7,8,9,0]`
	for name, c := range map[string]struct {
		rule string
		want int
	}{
		"no loop":              {`{"==":[{"var":"a"},1]}`, 0},
		"a loop":               {`{"some":[` + ten + `,{"==":[{"var":""},1]}]}`, 10 * 5},
		"a loop over the data": {`{"some":[{"var":"a"},{"==":[{"var":""},1]}]}`, 5},
		"a loop in a loop":     {looping(2, ten), 10 * (10*2 + 14)},
		"a list of a loop":     {`{"all":[{"map":[` + ten + `,1]},1]}`, 10*2 + 10*2},
		"merged lists":         {`{"all":[{"merge":[` + ten + `,` + ten + `]},1]}`, 20 * 2},
		"a choice of lists":    {`{"none":[{"if":[{"var":"a"},` + ten + `,[1]]},1]}`, 10 * 2},
		"a reduction":          {`{"reduce":[` + ten + `,{"var":"current"},0]}`, 10 * 3},
	} {
		t.Run(name, func(t *testing.T) {
			if got := mustCompile(t, c.rule).Steps(); got != c.want {
				t.Errorf("%s takes %d steps, want %d", c.rule, got, c.want)
			}
		})
	}
	if got := mustCompile(t, looping(30, ten)).Steps(); got < 1<<62 {
		t.Errorf("many nested loops take %d steps", got)
	}
}

// TestDecideWithin_Shared: rules that are allowed alone exhaust their common steps, and later rules are not decided.
func TestDecideWithin_Shared(t *testing.T) {
	t.Parallel()
	data, rule := lists(t, 2) // about 400 × 400 × 2 steps
	steps := NewSteps(1_000_000)
	for range 3 {
		if d := rule.DecideWithin(steps, data); d.Err != nil || !d.Matched {
			t.Fatalf("%+v", d)
		}
	}
	if d := rule.DecideWithin(steps, data); d.Matched || !errors.Is(d.Err, ErrSteps) {
		t.Errorf("%+v, want ErrSteps", d)
	}
	if d := mustCompile(t, `{"==":[1,1]}`).DecideWithin(steps, data); d.Matched || !errors.Is(d.Err, ErrSteps) {
		t.Errorf("a small rule afterward: %+v, want ErrSteps", d)
	}
	if d := rule.DecideWithin(nil, data); d.Err != nil || !d.Matched {
		t.Errorf("without limit: %+v", d)
	}
}

// TestDecideWithin_OwnLimit: a rule that exceeds the limit of one evaluation does not stop the rules after it.
func TestDecideWithin_OwnLimit(t *testing.T) {
	t.Parallel()
	steps := NewSteps(3 << 20)
	data, rule := lists(t, 3)
	if d := rule.DecideWithin(steps, data); !errors.Is(d.Err, ErrLimit) {
		t.Errorf("%+v, want ErrLimit", d)
	}
	data, rule = lists(t, 2)
	if d := rule.DecideWithin(steps, data); d.Err != nil {
		t.Errorf("%+v", d)
	}
}

// TestDecideWithin_AgreesWithDecide: enough steps change no result.
func TestDecideWithin_AgreesWithDecide(t *testing.T) {
	t.Parallel()
	data := Object(Member{"list", Array(Number(1), String("x"))}, Member{"text", String(strings.Repeat("1", 5000))})
	for _, rule := range []string{`{"==":[{"var":"text"},1]}`, `{"some":[{"var":"list"},{"==":[{"var":""},"x"]}]}`, `{"*":[]}`, `{"fractional":[[true,1]]}`} {
		t.Run(rule, func(t *testing.T) {
			compiled := mustCompile(t, rule)
			if got, want := compiled.DecideWithin(NewSteps(3<<20), data), compiled.Decide(data); got != want {
				t.Errorf("got %+v, want %+v", got, want)
			}
		})
	}
}
