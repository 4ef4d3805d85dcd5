package storetest

import (
	"cmp"
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/signalbox/signalbox/internal/fault"
	"github.com/signalbox/signalbox/internal/page"
	"github.com/signalbox/signalbox/internal/store"
)

// oddNames sort differently by their bytes than in any language.
func oddNames() []string {
	return []string{"b", "B", "a", "Z", "_", "~", "a-b", "ab", "a b", "ä", "a\u0308", "é", "z", "Ω", "日本", "\U0001F6A6", "10", "9", " "}
}

// listing is one of the store's lists with its promised orders.
type listing[T, F any] struct {
	read func(tx *store.ReadTx, ctx context.Context, account string, filter F, request page.Request) (page.List[T], error)
	// id breaks ties.
	id func(T) string
	// fields are the sort fields. T has fields with these names.
	fields    []string
	byDefault string
	// newestFirst makes the default order descending.
	newestFirst bool
}

// unasked returns the default order.
func (l listing[T, F]) unasked() page.Order {
	return page.Order{Field: l.byDefault, Descending: l.newestFirst}
}

// check compares the list of an account with everything that was written.
func (l listing[T, F]) check(t *testing.T, db *store.DB, account string, written []T) {
	t.Helper()
	read := func(request page.Request) (page.List[T], error) {
		return tryGet(t, db, func(ctx context.Context, tx *store.ReadTx) (page.List[T], error) {
			return l.read(tx, ctx, account, *new(F), request)
		})
	}
	t.Run("sorted by default by "+l.byDefault, func(t *testing.T) {
		l.checkOrder(t, read, nil, l.sorted(written, l.unasked()))
	})
	for _, first := range l.fields {
		for _, descending := range []bool{false, true} {
			order := page.Order{Field: first, Descending: descending}
			t.Run(fmt.Sprintf("sort by %s, descending %v", first, descending), func(t *testing.T) {
				l.checkOrder(t, read, []page.Order{order}, l.sorted(written, order))
			})
		}
		t.Run("sort by "+first+" and another field", func(t *testing.T) {
			for _, second := range l.fields {
				orders := []page.Order{{Field: first, Descending: true}, {Field: second}}
				l.checkOrder(t, read, orders, l.sorted(written, orders...))
			}
		})
	}
	t.Run("pages without gaps", func(t *testing.T) { l.checkPages(t, read, written) })
	t.Run("unknown sort field", func(t *testing.T) {
		for _, field := range []string{"nothing", "id; --", "account_id", ""} {
			t.Run(fmt.Sprintf("%q", field), func(t *testing.T) {
				_, err := read(page.Request{Number: 1, Size: 10, Sort: []page.Order{{Field: field}}})
				refused(t, err, fault.InvalidParameter)
				if all := fault.All(err); len(all) != 1 || all[0].Source != fault.Parameter("sort") {
					t.Errorf("the refusal of %q does not point at sort: %v", field, err)
				}
			})
		}
	})
}

func (l listing[T, F]) checkPages(t *testing.T, read func(page.Request) (page.List[T], error), written []T) {
	t.Helper()
	for _, size := range []int{1, 3, len(written), len(written) + 1} {
		t.Run(fmt.Sprint("pages of ", size), func(t *testing.T) {
			var found []T
			for number := 1; ; number++ {
				list, err := read(page.Request{Number: number, Size: size, Total: true})
				must(t, err)
				if list.Total != len(written) {
					t.Errorf("page %d counts %d in all, want %d", number, list.Total, len(written))
				}
				if len(list.Items) == 0 {
					break
				}
				found = append(found, list.Items...)
			}
			same(t, found, l.sorted(written, l.unasked()))
		})
	}
}

func (l listing[T, F]) checkOrder(t *testing.T, read func(page.Request) (page.List[T], error), orders []page.Order, want []T) {
	t.Helper()
	list, err := read(page.Request{Number: 1, Size: page.MaxSize, Sort: orders})
	must(t, err)
	if same(t, nameOf(list.Items, l.id), nameOf(want, l.id)) {
		same(t, list.Items, want)
	}
}

func (l listing[T, F]) sorted(items []T, orders ...page.Order) []T {
	return slices.SortedFunc(slices.Values(items), func(a, b T) int {
		for _, order := range orders {
			if decided := compare(field(a, order.Field), field(b, order.Field), order.Descending); decided != 0 {
				return decided
			}
		}
		return cmp.Compare(l.id(a), l.id(b))
	})
}

// field returns the field of an item for a sort field, such as CreatedAt for created_at.
func field(item any, name string) reflect.Value {
	name = strings.ReplaceAll(name, "_", "")
	found, _ := reflect.TypeOf(item).FieldByNameFunc(func(field string) bool { return strings.EqualFold(field, name) })
	return reflect.ValueOf(item).FieldByIndex(found.Index)
}

// compare compares texts or instants. A missing value is last, in both directions.
func compare(a, b reflect.Value, descending bool) (decided int) {
	a, b = reflect.Indirect(a), reflect.Indirect(b)
	switch {
	case !a.IsValid() && !b.IsValid():
		return 0
	case !a.IsValid():
		return 1
	case !b.IsValid():
		return -1
	case a.Kind() == reflect.String:
		decided = cmp.Compare(a.String(), b.String())
	default:
		decided = a.Interface().(time.Time).Compare(b.Interface().(time.Time))
	}
	if descending {
		return -decided
	}
	return decided
}

// matches returns all items that a filter selects, and checks their count.
func matches[T, F any](t *testing.T, db *store.DB, read func(*store.ReadTx, context.Context, string, F, page.Request) (page.List[T], error),
	account string, filter F) []T {
	t.Helper()
	found := list(t, db, read, account, filter, page.Request{Number: 1, Size: page.MaxSize, Total: true})
	same(t, found.Total, len(found.Items))
	return found.Items
}

// searches returns a table of searches in names, and of the names that each finds.
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

// checkSearch runs the table on a list. search returns the names that it finds.
func checkSearch(t *testing.T, search func(t *testing.T, text string) []string) {
	t.Helper()
	_, table := searches()
	for text, want := range table {
		t.Run("search for "+text, func(t *testing.T) {
			same(t, slices.Sorted(slices.Values(search(t, text))), slices.Sorted(slices.Values(want)))
		})
	}
}
