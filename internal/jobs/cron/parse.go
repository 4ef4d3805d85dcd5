package cron

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// field is one of the five fields of an expression.
type field struct {
	name      string
	low, high int
	names     []string // of low, low+1, …; upper case
}

func fields() [5]field {
	return [5]field{
		{name: "minute", low: 0, high: 59},
		{name: "hour", low: 0, high: 23},
		{name: "day-of-month", low: 1, high: 31},
		{name: "month", low: 1, high: 12, names: []string{"JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"}},
		{name: "day-of-week", low: 0, high: 7, names: []string{"SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"}},
	}
}

// Parse parses an expression. Its errors are clauses such as `the hour field "25" is wrong: 25 is above 23`.
func Parse(text string) (Schedule, error) {
	if strings.HasPrefix(text, "@") {
		return Schedule{}, nicknameError(text)
	}
	parts := strings.FieldsFunc(text, func(r rune) bool { return r == ' ' || r == '\t' })
	if len(parts) != 5 {
		return Schedule{}, fmt.Errorf("the expression must have five fields (minute, hour, day of month, month and day of week), but has %d", len(parts))
	}
	var sets [5]bitset
	for i, f := range fields() {
		set, err := f.read(parts[i])
		if err != nil {
			return Schedule{}, fmt.Errorf("the %s field %s is wrong: %w", f.name, quoted(parts[i]), err)
		}
		sets[i] = set
	}
	schedule := Schedule{
		minutes: sets[0], hours: sets[1], days: sets[2], months: sets[3], weekdays: sundayOnce(sets[4]),
		bothDays:  parts[2][0] == '*' || parts[4][0] == '*',
		wallClock: parts[0][0] != '*' && parts[1][0] != '*',
	}
	if _, ok := schedule.Next(time.Unix(0, 0)); !ok {
		return Schedule{}, fmt.Errorf("the expression never fires: no month of %s has a day of %s", quoted(parts[3]), quoted(parts[2]))
	}
	return schedule, nil
}

// nicknameError returns an error with the five fields that replace a nickname such as @daily.
func nicknameError(text string) error {
	instead := map[string]string{"@yearly": "0 0 1 1 *", "@annually": "0 0 1 1 *", "@monthly": "0 0 1 * *", "@weekly": "0 0 * * 0",
		"@daily": "0 0 * * *", "@midnight": "0 0 * * *", "@hourly": "0 * * * *"}
	if form, known := instead[strings.ToLower(text)]; known {
		return fmt.Errorf("write %s instead of %s", form, text)
	}
	return fmt.Errorf("%s is not read; write five fields, such as 0 0 * * * for every day at midnight", quoted(text))
}

// sundayOnce replaces 7 by 0. Both stand for Sunday.
func sundayOnce(weekdays bitset) bitset {
	if weekdays.has(7) {
		weekdays |= 1
	}
	return weekdays &^ (1 << 7)
}

// read parses the text of a field.
func (f field) read(text string) (bitset, error) {
	var set bitset
	for item := range strings.SplitSeq(text, ",") {
		if item == "" {
			return 0, errors.New("an item of the list is empty")
		}
		values, err := f.readItem(item)
		if err != nil {
			return 0, err
		}
		set |= values
	}
	return set, nil
}

// readItem parses a value, a range or *, each with or without a step.
func (f field) readItem(item string) (bitset, error) {
	values, stepText, stepped := strings.Cut(item, "/")
	first, last, err := f.bounds(values, stepped)
	if err != nil {
		return 0, err
	}
	step := 1
	if stepped {
		if step, err = readStep(stepText); err != nil {
			return 0, err
		}
	}
	var set bitset
	for value := first; value <= last; value += step {
		set |= 1 << value
	}
	return set, nil
}

// bounds parses the part before a step. A single value with a step starts a range up to the highest value.
func (f field) bounds(text string, stepped bool) (first, last int, err error) {
	if text == "*" {
		return f.low, f.high, nil
	}
	from, to, isRange := strings.Cut(text, "-")
	if first, err = f.value(from); err != nil {
		return 0, 0, err
	}
	switch {
	case isRange:
		last, err = f.value(to)
	case stepped:
		last = f.high
	default:
		last = first
	}
	if err == nil && last < first {
		err = fmt.Errorf("the range %s runs backward", quoted(text))
	}
	return first, last, err
}

// value parses a number or a name.
func (f field) value(text string) (int, error) {
	if i := slices.Index(f.names, strings.ToUpper(text)); i >= 0 {
		return f.low + i, nil
	}
	if text == "" {
		return 0, errors.New("a value is missing")
	}
	if !isNumber(text) {
		return 0, fmt.Errorf("%s is not %s", quoted(text), f.valueKinds())
	}
	n, err := strconv.Atoi(text)
	switch {
	case err != nil || n > f.high: // only a number too large for an int fails
		return 0, fmt.Errorf("%s is above %d", shortened(text), f.high)
	case n < f.low:
		return 0, fmt.Errorf("%s is below %d", shortened(text), f.low)
	}
	return n, nil
}

func (f field) valueKinds() string {
	if len(f.names) == 0 {
		return "a number"
	}
	return fmt.Sprintf("a number or one of %s to %s", f.names[0], f.names[len(f.names)-1])
}

// readStep parses the text after a slash. A step larger than the field leaves the first value only, as in cron.
func readStep(text string) (int, error) {
	if text == "" {
		return 0, errors.New("the step after / is missing")
	}
	if !isNumber(text) {
		return 0, fmt.Errorf("the step %s is not a number", quoted(text))
	}
	step, err := strconv.Atoi(text)
	if err != nil || step > 1_000_000 {
		return 0, fmt.Errorf("the step %s is too large", shortened(text))
	}
	if step == 0 {
		return 0, errors.New("the step must be at least 1")
	}
	return step, nil
}

func isNumber(text string) bool {
	return strings.Trim(text, "0123456789") == ""
}

func quoted(text string) string { return strconv.Quote(shortened(text)) }

// shortened returns at most 60 bytes of a text, for errors that quote it.
func shortened(text string) string {
	const most = 60
	if len(text) > most {
		return text[:most] + "…"
	}
	return text
}
