package storetest

import (
	"cmp"
	"fmt"
	"slices"
	"testing"

	"github.com/signalbox/signalbox/internal/fault"
	"github.com/signalbox/signalbox/internal/page"
	"github.com/signalbox/signalbox/internal/store"
)

// oddNames sort differently by their bytes than in any language.
func oddNames() []string {
	return []string{"b", "B", "a", "Z", "_", "~", "a-b", "ab", "a b", "ä", "a\u0308", "é", "z", "Ω", "日本", "\U0001F6A6", "10", "9", " "}
}

// listing is one of the store's lists with what it promises.
type listing[T any] struct {
	read func(tx *store.ReadTx, request page.Request) (page.List[T], error)
	// id breaks ties.
	id func(T) string
	// fields gives what each sort field sorts by: a string, an int64 or nil.
	fields    map[string]func(T) any
	byDefault string
	// newestFirst makes the order without a wish a descending one.
	newestFirst bool
}

// unasked is the order when none is asked for.
func (l listing[T]) unasked() page.Order {
	return page.Order{Field: l.byDefault, Descending: l.newestFirst}
}

// check compares the list with everything that was written.
func (l listing[T]) check(t *testing.T, db *store.DB, written []T) {
	t.Helper()
	t.Run("sorted by default by "+l.byDefault, func(t *testing.T) {
		l.expect(t, db, nil, l.sorted(written, l.unasked()))
	})
	for field := range l.fields {
		for _, descending := range []bool{false, true} {
			order := page.Order{Field: field, Descending: descending}
			t.Run(fmt.Sprintf("sort by %s, descending %v", field, descending), func(t *testing.T) {
				l.expect(t, db, []page.Order{order}, l.sorted(written, order))
			})
		}
	}
	l.checkSeveral(t, db, written)
	l.checkPages(t, db, written)
	t.Run("unknown sort field", func(t *testing.T) {
		for _, field := range []string{"nothing", "id; --", "account_id", ""} {
			_, err := l.list(t, db, page.Request{Number: 1, Size: 10, Sort: []page.Order{{Field: field}}})
			refused(t, err, fault.InvalidParameter)
			if all := fault.All(err); len(all) != 1 || all[0].Source != fault.Parameter("sort") {
				t.Errorf("the refusal of %q does not point at sort: %v", field, err)
			}
		}
	})
}

// checkSeveral sorts by two fields, of which the first has ties.
func (l listing[T]) checkSeveral(t *testing.T, db *store.DB, written []T) {
	t.Helper()
	t.Run("sort by several fields", func(t *testing.T) {
		for first := range l.fields {
			for second := range l.fields {
				orders := []page.Order{{Field: first, Descending: true}, {Field: second}}
				l.expect(t, db, orders, l.sorted(written, orders...))
			}
		}
	})
}

func (l listing[T]) checkPages(t *testing.T, db *store.DB, written []T) {
	t.Helper()
	t.Run("pages without gaps", func(t *testing.T) {
		for _, size := range []int{1, 3, len(written), len(written) + 1} {
			var read []T
			for number := 1; ; number++ {
				list, err := l.list(t, db, page.Request{Number: number, Size: size, Total: true})
				if err != nil {
					t.Fatal(err)
				}
				if list.Total != len(written) {
					t.Errorf("page %d counts %d in all, want %d", number, list.Total, len(written))
				}
				if len(list.Items) == 0 {
					break
				}
				read = append(read, list.Items...)
			}
			same(t, read, l.sorted(written, l.unasked()))
		}
	})
}

func (l listing[T]) list(t *testing.T, db *store.DB, request page.Request) (page.List[T], error) {
	t.Helper()
	return tryGet(t, db, func(tx *store.ReadTx) (page.List[T], error) { return l.read(tx, request) })
}

func (l listing[T]) expect(t *testing.T, db *store.DB, orders []page.Order, want []T) {
	t.Helper()
	list, err := l.list(t, db, page.Request{Number: 1, Size: page.MaxSize, Sort: orders})
	if err != nil {
		t.Fatal(err)
	}
	if same(t, l.ids(list.Items), l.ids(want)) {
		same(t, list.Items, want)
	}
}

func (l listing[T]) ids(items []T) []string {
	ids := make([]string, len(items))
	for i, item := range items {
		ids[i] = l.id(item)
	}
	return ids
}

func (l listing[T]) sorted(items []T, orders ...page.Order) []T {
	return slices.SortedFunc(slices.Values(items), func(a, b T) int {
		for _, order := range orders {
			value := l.fields[order.Field]
			if decided := compare(value(a), value(b), order.Descending); decided != 0 {
				return decided
			}
		}
		return cmp.Compare(l.id(a), l.id(b))
	})
}

// compare sorts what is missing last, in both directions.
func compare(a, b any, descending bool) int {
	if a == nil && b == nil {
		return 0
	}
	if a == nil {
		return 1
	}
	if b == nil {
		return -1
	}
	decided := 0
	switch a := a.(type) {
	case string:
		decided = cmp.Compare(a, b.(string))
	case int64:
		decided = cmp.Compare(a, b.(int64))
	}
	if descending {
		return -decided
	}
	return decided
}

// searches is a table of searches in names, and of what each finds.
func searches() (names []string, table map[string][]string) {
	names = []string{"Äpfel & Birnen", "50% off", "500 off", `back\slash`, "under_score", "underscore", "ПРОДАКШН", "İstanbul", "plain"}
	table = map[string][]string{
		"äpfel":     {"Äpfel & Birnen"},
		"ÄPFEL":     {"Äpfel & Birnen"},
		"50%":       {"50% off"},
		"%":         {"50% off"},
		"_":         {"under_score"},
		`\`:         {`back\slash`},
		`k\s`:       {`back\slash`},
		"UNDER":     {"under_score", "underscore"},
		"продакшн":  {"ПРОДАКШН"},
		"İSTANBUL":  {"İstanbul"},
		"PLAIN":     {"plain"},
		"ain' OR 1": nil,
		"zzz":       nil,
	}
	return names, table
}

// checkSearch runs the table on a list whose items are named by their names.
func checkSearch(t *testing.T, search func(t *testing.T, text string) []string) {
	t.Helper()
	_, table := searches()
	for text, want := range table {
		t.Run("search for "+text, func(t *testing.T) {
			same(t, slices.Sorted(slices.Values(search(t, text))), slices.Sorted(slices.Values(want)))
		})
	}
}
