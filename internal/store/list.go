package store

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/signalbox/signalbox/internal/fault"
	"github.com/signalbox/signalbox/internal/optional"
	"github.com/signalbox/signalbox/internal/page"
)

// list builds the query of one page. Conditions and sort fields are texts of
// this package; values from callers are always arguments.
type list struct {
	columns string
	table   string
	// sorts maps the fields a caller may sort by to columns.
	sorts map[string]string
	// byDefault is the order when none is asked for; tie makes every order total.
	byDefault, tie string

	conditions []string
	args       []any
}

// of limits the list to the rows of an account.
func (l list) of(account string) *list {
	l.where("account_id = ?", account)
	return &l
}

// where adds a condition; each ? in it stands for one of the values.
func (l *list) where(condition string, values ...any) {
	for _, value := range values {
		l.args = append(l.args, value)
		condition = strings.Replace(condition, "?", "$"+strconv.Itoa(len(l.args)), 1)
	}
	l.conditions = append(l.conditions, condition)
}

// equals adds a condition on a column, unless the value is empty.
func (l *list) equals(column, value string) {
	if value != "" {
		l.where(column+" = ?", value)
	}
}

// is adds a condition on a column of booleans, if there is a value.
func (l *list) is(column string, value optional.Value[bool]) {
	if wanted, sent := value.Get(); sent {
		l.where(column+" = ?", wanted)
	}
}

// between adds the condition from <= column < to on a column of instants. A zero instant is no bound.
func (l *list) between(column string, from, to time.Time) {
	if !from.IsZero() {
		l.where(column+" >= ?", micros(from))
	}
	if !to.IsZero() {
		l.where(column+" < ?", micros(to))
	}
}

// search adds a condition on the lower-case search column.
func (l *list) search(text string) {
	switch {
	case text == "":
	case len(text) > maxSearch || strings.Contains(text, searchGap):
		l.conditions = append(l.conditions, "1 = 0")
	default:
		l.where(`search LIKE ? ESCAPE '\'`, "%"+escapeLike(strings.ToLower(text))+"%")
	}
}

// searchGap separates a key from a name, so that no match begins in the key and ends in the name.
const searchGap = "\uffff"

// maxSearch is more than the length of any key or name.
const maxSearch = 4 << 10

func escapeLike(text string) string {
	return strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`).Replace(text)
}

// mentions returns a LIKE pattern that finds every object with a member, and a few objects without it.
func mentions(name string) string { return `%"` + escapeLike(name) + `"%` }

// searchable returns the text of the search column.
func searchable(key, name string) string { return strings.ToLower(key + searchGap + name) }

func (l *list) from() string {
	return " FROM " + l.table + " WHERE " + strings.Join(l.conditions, " AND ")
}

func (l *list) orderBy(orders []page.Order) (string, error) {
	if len(orders) == 0 && l.byDefault == l.tie {
		return l.tie, nil // named twice, SQLite would not use the index
	}
	if len(orders) == 0 {
		return l.byDefault + ", " + l.tie, nil
	}
	terms := make([]string, 0, len(orders)+1)
	for _, order := range orders {
		column, ok := l.sorts[order.Field]
		if !ok {
			return "", fault.New(fault.InvalidParameter, "sort must name fields of this list, which are %s; %q is none of them.",
				strings.Join(slices.Sorted(maps.Keys(l.sorts)), ", "), order.Field).At(fault.Parameter("sort"))
		}
		if order.Descending {
			column += " DESC"
		}
		terms = append(terms, column+" NULLS LAST")
	}
	return strings.Join(append(terms, l.tie), ", "), nil
}

// pageOf runs a list for one page, and counts all matches when asked to.
func pageOf[T any](ctx context.Context, tx *ReadTx, l *list, request page.Request, scan func(row) (T, error)) (page.List[T], error) {
	order, err := l.orderBy(request.Sort)
	if err != nil {
		return page.List[T]{}, err
	}
	var found page.List[T]
	if request.Total {
		if found.Total, err = scalar(ctx, tx.conn, scanInt, "SELECT count(*)"+l.from(), l.args...); err != nil {
			return page.List[T]{}, err
		}
	}
	query := fmt.Sprintf("SELECT %s%s ORDER BY %s LIMIT $%d OFFSET $%d", l.columns, l.from(), order, len(l.args)+1, len(l.args)+2)
	found.Items, err = all(ctx, tx.conn, scan, query, append(l.args, request.Size, request.Offset())...)
	return found, err
}

// maxTailBytes bounds the size of one page of a history.
const maxTailBytes = 8 << 20

// tailOf runs a list in its default order for one page: as many items as asked for, or fewer when they are large.
func tailOf[T any](ctx context.Context, tx *ReadTx, l *list, size int, scan func(row) (T, error), bytes func(T) int) (page.Tail[T], error) {
	query := fmt.Sprintf("SELECT %s%s ORDER BY %s LIMIT $%d", l.columns, l.from(), l.byDefault, len(l.args)+1)
	found, cut, err := upTo(ctx, tx.conn, scan, maxTailBytes, bytes, query, append(l.args, size+1)...)
	tail := page.Cut(found, size)
	tail.More = tail.More || cut
	return tail, err
}

// among reads the rows of an account whose column is one of many texts.
func among[T any](ctx context.Context, tx *ReadTx, scan func(row) (T, error), query, account string, texts []string, suffix ...string) ([]T, error) {
	if len(texts) == 0 {
		return nil, nil
	}
	return all(ctx, tx.conn, scan, query+tx.dialect.among+strings.Join(suffix, ""), account, tx.dialect.texts(texts))
}

// byKeys reads the rows of an account that meet a condition and have one of the keys.
func byKeys[T any](ctx context.Context, tx *ReadTx, scan func(row) (T, error), columns, table, condition, account string, keys []string) ([]T, error) {
	if len(keys) == 0 {
		return nil, nil
	}
	return all(ctx, tx.conn, scan, tx.dialect.byKeys(columns, table, condition), account, tx.dialect.texts(keys))
}

// withEnvironment reads the rows of an account that have anything for an
// environment. The pattern also finds a few other rows, which are dropped.
func withEnvironment[T, V any](ctx context.Context, tx *ReadTx, scan func(row) (T, error), query, account, environment string,
	environments func(T) map[string]V) ([]T, error) {
	found, err := all(ctx, tx.conn, scan, query+` AND environments LIKE $2 ESCAPE '\' ORDER BY key`, account, mentions(environment))
	return slices.DeleteFunc(found, func(item T) bool {
		_, has := environments(item)[environment]
		return !has
	}), err
}

// sorts maps sort fields to columns of the same name.
func sorts(fields ...string) map[string]string {
	columns := make(map[string]string, len(fields))
	for _, field := range fields {
		columns[field] = field
	}
	return columns
}

// sortsByName returns the sort fields of lists whose items have a key and a name.
func sortsByName() map[string]string { return sorts("key", "name", "created_at", "updated_at") }

// inserts writes many rows with few statements. prefix ends in VALUES; suffix follows the rows.
func inserts(ctx context.Context, tx *Tx, prefix, suffix string, rows [][]any) error {
	for chunk := range chunks(rows) {
		if _, err := tx.insertChunk(ctx, prefix, suffix, chunk); err != nil {
			return err
		}
	}
	return nil
}

// insertChunk writes rows with one statement, and returns how many it wrote.
func (tx *Tx) insertChunk(ctx context.Context, prefix, suffix string, chunk [][]any) (int, error) {
	query := prefix + " " + placeholders(len(chunk), len(chunk[0]), tx.dialect.place) + " " + suffix
	return tx.affect(ctx, query, slices.Concat(chunk...)...)
}

// updates changes one stored row for each row of values, with few statements. set
// and where name the values v.column1, v.column2 …; types are PostgreSQL's. where
// ends in RETURNING a text, and updates returns these texts.
func updates(ctx context.Context, tx *Tx, set, where string, types []string, rows [][]any) ([]string, error) {
	var changed []string
	for chunk := range tx.dialect.pieces(rows) {
		values, args := tx.dialect.rowsOf(types, chunk)
		some, err := all(ctx, tx.conn, scanString, set+" FROM "+values+" "+where, args...)
		if err != nil {
			return nil, err
		}
		changed = append(changed, some...)
	}
	return changed, nil
}

// chunks cuts rows into pieces of a few sizes, so that few statements are prepared.
func chunks(rows [][]any) iter.Seq[[][]any] {
	return func(yield func([][]any) bool) {
		for size := 256; size > 0; size /= 4 {
			for len(rows) >= size {
				if !yield(rows[:size]) {
					return
				}
				rows = rows[size:]
			}
		}
	}
}

// placeholders returns "($1,$2),($3,$4)" for two rows of two values.
func placeholders(rows, columns int, place func(int) string) string {
	var text strings.Builder
	for i := range rows * columns {
		switch {
		case i == 0:
			text.WriteString("(")
		case i%columns == 0:
			text.WriteString("),(")
		default:
			text.WriteString(",")
		}
		text.WriteString(place(i + 1))
	}
	return text.String() + ")"
}
