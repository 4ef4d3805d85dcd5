package jsonapi

import (
	"fmt"
	"maps"
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/signalbox/signalbox/internal/fault"
	"github.com/signalbox/signalbox/internal/naming"
	"github.com/signalbox/signalbox/internal/optional"
	"github.com/signalbox/signalbox/internal/page"
)

// maxSorts limits the number of fields in a sort.
const maxSorts = 8

// Query reads the query parameters of one request and collects problems.
type Query struct {
	// Strict makes Err refuse every unknown parameter.
	Strict bool

	values   url.Values
	known    []string // the names that were read; empty if the request has no parameters
	problems fault.Problems
}

// ParseQuery parses a raw query.
func ParseQuery(raw string) (*Query, error) {
	if raw == "" {
		return &Query{}, nil
	}
	values, err := url.ParseQuery(raw)
	if err != nil {
		return nil, fault.New(fault.InvalidParameter, "The query string is malformed: %v.", err)
	}
	return &Query{values: values}, nil
}

// Values returns a copy of all parameters.
func (q *Query) Values() url.Values {
	values := url.Values{}
	maps.Copy(values, q.values)
	return values
}

// Page reads page[number], page[size], meta[total] and sort.
func (q *Query) Page() page.Request {
	return page.Request{
		Number: q.Integer("page[number]", 1, 1, math.MaxInt32),
		Size:   q.Integer("page[size]", page.DefaultSize, 1, page.MaxSize),
		Total:  q.Bool("meta[total]").Or(false),
		Sort:   q.sort(),
	}
}

// Cursor reads page[after] and page[size] of a list that has only one order.
func (q *Query) Cursor(order string) page.Cursor {
	if wish, sent := q.text("sort"); sent && wish != order {
		q.wrong("sort", "must be %s: this list has one order", order)
	}
	after, _ := q.text("page[after]")
	return page.Cursor{After: after, Size: q.Integer("page[size]", page.DefaultCursorSize, 1, page.MaxSize)}
}

// Filter reads filter[name], or name alone as older clients send it. It refuses an empty value: a script whose variable
// is not set must not get everything.
func (q *Query) Filter(name string) optional.Value[string] {
	value := q.FilterOrEmpty(name)
	if text, sent := value.Get(); sent && text == "" {
		q.wrong(q.filterName(name), "must have a value; leave it out to see everything")
		return optional.Value[string]{}
	}
	return value
}

// Search reads filter[search]. An empty search matches everything.
func (q *Query) Search() string { return q.FilterOrEmpty("search").Or("") }

// FilterOrEmpty reads a filter that may be empty.
func (q *Query) FilterOrEmpty(name string) optional.Value[string] {
	text, sent := q.text(q.filterName(name))
	if !sent {
		return optional.Value[string]{}
	}
	return optional.Of(text)
}

// FilterBool reads a filter that is true or false.
func (q *Query) FilterBool(name string) optional.Value[bool] {
	text, sent := q.Filter(name).Get()
	return q.toBool(q.filterName(name), text, sent)
}

// FilterRange reads a filter such as [2030-01-01T00:00:00Z,*). The first time is inclusive, the second exclusive. *
// means an open end and is returned as the zero time.
func (q *Query) FilterRange(name string) (from, to time.Time) {
	text, sent := q.Filter(name).Get()
	if !sent {
		return from, to
	}
	inner, opened := strings.CutPrefix(text, "[")
	inner, closed := strings.CutSuffix(inner, ")")
	first, second, two := strings.Cut(inner, ",")
	if !opened || !closed || !two || strings.Contains(second, ",") {
		q.wrong(q.filterName(name), "must be a range such as [2030-01-01T00:00:00Z,*)")
		return from, to
	}
	return q.rangeEnd(name, first), q.rangeEnd(name, second)
}

func (q *Query) rangeEnd(name, text string) time.Time {
	if text == "*" {
		return time.Time{}
	}
	at, ok := ParseTime(text)
	if !ok {
		q.wrong(q.filterName(name), "must have an RFC 3339 date and time or * in place of %q", text)
	}
	return at
}

// Time reads a parameter that is a time. If the parameter is absent, it returns the zero time.
func (q *Query) Time(name string) time.Time {
	text, sent := q.text(name)
	at, ok := ParseTime(text)
	if sent && !ok {
		q.wrong(name, "must be an RFC 3339 date and time such as 2030-01-01T00:00:00Z")
	}
	return at
}

// Filters reads all filters of the request.
func (q *Query) Filters() map[string]string {
	filters := map[string]string{}
	for parameter := range q.values {
		name, opened := strings.CutPrefix(parameter, "filter[")
		name, closed := strings.CutSuffix(name, "]")
		if !opened || !closed {
			continue
		}
		if text, sent := q.Filter(name).Get(); sent {
			filters[name] = text
		}
	}
	return filters
}

// Bool reads a parameter that is true or false.
func (q *Query) Bool(name string) optional.Value[bool] {
	text, sent := q.text(name)
	return q.toBool(name, text, sent)
}

// Text reads a parameter as it is. If the parameter is absent, it returns "".
func (q *Query) Text(name string) string {
	text, _ := q.text(name)
	return text
}

// SentText reads a parameter as it is. If the parameter is absent, it returns nil.
func (q *Query) SentText(name string) *string {
	if text, sent := q.text(name); sent {
		return &text
	}
	return nil
}

// Refuse adds a problem: a filter or another parameter breaks a rule of its list.
func (q *Query) Refuse(name, rule string) { q.wrong(q.filterName(name), "%s", rule) }

// Know marks parameters as known that are read elsewhere. It refuses a parameter that was sent more than once, because
// the caller may have meant either value.
func (q *Query) Know(names ...string) {
	if len(q.values) == 0 {
		return
	}
	for _, name := range names {
		if count := len(q.values[name]); count > 1 && !slices.Contains(q.known, name) {
			q.wrong(name, "must be sent once; this request has it %d times", count)
		}
		q.known = append(q.known, name)
	}
}

// DryRun reads dry_run. It returns an error if the path does not support it.
func (q *Query) DryRun(supported bool) (bool, error) {
	wanted := q.Bool("dry_run").Or(false)
	if wanted && !supported {
		q.wrong("dry_run", "is not supported here: leave it out and the request is carried out. Creating, replacing or deleting a single resource supports it")
	}
	return wanted, q.problems.Err()
}

// Err returns the problems. It also refuses unknown filter and page parameters, because ignoring a filter would return
// too much.
func (q *Query) Err() error {
	for _, name := range slices.Sorted(maps.Keys(q.values)) {
		family, _, bracketed := strings.Cut(name, "[")
		refused := q.Strict || bracketed && (family == "filter" || family == "page")
		if refused && !slices.Contains(q.known, name) {
			q.unknown(name)
		}
	}
	return q.problems.Err()
}

// unknown refuses a parameter that was never read.
func (q *Query) unknown(name string) {
	slices.Sort(q.known)
	known := slices.Compact(q.known)
	rule := "is not known here: this path takes no parameters."
	if len(known) > 0 {
		rule = "is not known here; known are " + strings.Join(known, ", ") + "."
	}
	q.problems.Add(fault.New(fault.InvalidParameter, "%s %s%s", name, rule, naming.DidYouMean(name, known)).At(fault.Parameter(name)))
}

// filterName returns the spelling of a filter that the caller used.
func (q *Query) filterName(name string) string {
	bracketed := "filter[" + name + "]"
	if q.values.Has(name) && !q.values.Has(bracketed) {
		return name
	}
	return bracketed
}

func (q *Query) text(name string) (string, bool) {
	q.Know(name)
	values := q.values[name]
	if len(values) != 1 {
		return "", false
	}
	if !utf8.ValidString(values[0]) || strings.ContainsRune(values[0], 0) {
		q.wrong(name, "must be valid UTF-8 without the character U+0000")
		return "", false
	}
	return values[0], true
}

// Integer reads a parameter that is a whole number from least to most.
func (q *Query) Integer(name string, fallback, least, most int) int {
	text, sent := q.text(name)
	if !sent {
		return fallback
	}
	number, err := strconv.Atoi(text)
	if err != nil || number < least || number > most {
		q.wrong(name, "must be a whole number from %d to %d", least, most)
		return fallback
	}
	return number
}

func (q *Query) toBool(name, text string, sent bool) optional.Value[bool] {
	switch text = strings.ToLower(text); {
	case text == "true" || text == "false":
		return optional.Of(text == "true")
	case sent:
		q.wrong(name, "must be true or false")
	}
	return optional.Value[bool]{}
}

func (q *Query) sort() []page.Order {
	text, sent := q.text("sort")
	if !sent {
		return nil
	}
	fields := strings.Split(text, ",")
	orders := make([]page.Order, 0, len(fields))
	for _, field := range fields {
		name, descending := strings.CutPrefix(field, "-")
		if name == "" || len(fields) > maxSorts || slices.ContainsFunc(orders, func(o page.Order) bool { return o.Field == name }) {
			q.wrong("sort", "must be up to %d different field names, separated by commas, each with - before it for descending", maxSorts)
			return nil
		}
		orders = append(orders, page.Order{Field: name, Descending: descending})
	}
	return orders
}

func (q *Query) wrong(name, format string, args ...any) {
	rule := fmt.Sprintf(format, args...)
	q.problems.Add(fault.New(fault.InvalidParameter, "%s %s.", name, rule).At(fault.Parameter(name)))
}
