package store

import (
	"iter"
	"slices"
	"strconv"
	"strings"
)

// dialect names what differs between the two databases. Everything else is
// one SQL text.
type dialect struct {
	name string // also the folder of the migrations
	// lockSchema makes migrations and the first start wait for those of other nodes.
	lockSchema string
	// among is a condition on a list of texts, which texts makes one argument
	// of: any number of them is one statement.
	among string
	texts func([]string) (any, error)
	// forUpdate and forKeyShare end a SELECT whose row must not be changed, or
	// not be deleted, by others until the transaction ends. Deleting and
	// forUpdate wait for forKeyShare; plain updates and skipChanging do not.
	forUpdate, forKeyShare string
	// skipLocked ends a SELECT that takes rows which no other transaction has
	// taken; skipChanging takes those that others merely keep from deletion.
	skipLocked, skipChanging string
	// firstOf gives a query: of every text of a list, which is $2, the first rows
	// of a table that another query gives the ids of. That one has the text as
	// listed.value.
	firstOf func(columns, table, ids string) string
	// oneOf is a condition: to be one of the texts that a query gives. The query
	// runs once, and what it gives is looked up by index.
	oneOf func(query string) string
	// place stands for one of many values that follow each other. SQLite looks
	// for a name of each among all of them, so there they have none.
	place func(number int) string
	// rowsOf names many rows of values v (column1, column2 …) and gives their
	// arguments; types are PostgreSQL's. pieces cuts rows for it.
	rowsOf func(types []string, rows [][]any) (string, []any)
	pieces func(rows [][]any) iter.Seq[[][]any]
	// notifyRun tells other nodes that a run was cancelled.
	notifyRun string
}

func sqliteDialect() dialect {
	return dialect{
		name:  "sqlite",
		among: `IN (SELECT value FROM json_each($2))`,
		texts: func(list []string) (any, error) { return encode(list) },
		oneOf: func(query string) string { return `IN (` + query + `)` },
		place: noName,
		rowsOf: func(types []string, rows [][]any) (string, []any) {
			return `(VALUES ` + placeholders(len(rows), len(types), noName) + `) AS v`, slices.Concat(rows...)
		},
		pieces: chunks,
		firstOf: func(columns, table, ids string) string {
			return `SELECT ` + columns + ` FROM (SELECT value FROM json_each($2)) AS listed CROSS JOIN ` + table + ` WHERE id IN (` + ids + `)`
		},
	}
}

func postgresDialect() dialect {
	return dialect{
		name:         "postgres",
		lockSchema:   `SELECT 1 FROM schema_lock WHERE id = 1 FOR UPDATE`,
		among:        `= ANY(CAST($2 AS text[]))`,
		texts:        func(list []string) (any, error) { return list, nil },
		oneOf:        func(query string) string { return `= ANY(ARRAY(` + query + `))` },
		place:        func(number int) string { return "$" + strconv.Itoa(number) },
		rowsOf:       arraysOf,
		pieces:       func(rows [][]any) iter.Seq[[][]any] { return slices.Chunk(rows, 1000) },
		forUpdate:    ` FOR UPDATE OF jobs`,
		forKeyShare:  ` FOR KEY SHARE`,
		skipLocked:   ` FOR UPDATE SKIP LOCKED`,
		skipChanging: ` FOR NO KEY UPDATE SKIP LOCKED`,
		notifyRun:    `SELECT pg_notify('` + runsChannel + `', $1)`,
		firstOf: func(columns, table, ids string) string {
			return `SELECT ` + columns + ` FROM unnest(CAST($2 AS text[])) AS listed (value)
				CROSS JOIN LATERAL (` + ids + `) AS chosen (chosen_id) JOIN ` + table + ` ON id = chosen_id`
		},
	}
}

func noName(int) string { return "?" }

// arraysOf makes one array of every column: one statement for any number of
// rows, which PostgreSQL plans once and takes for few.
func arraysOf(types []string, rows [][]any) (string, []any) {
	names, arrays, args := make([]string, len(types)), make([]string, len(types)), make([]any, len(types))
	for i, each := range types {
		place := strconv.Itoa(i + 1)
		names[i], arrays[i] = "column"+place, "CAST($"+place+" AS "+each+"[])"
		column := make([]any, len(rows))
		for j, row := range rows {
			column[j] = row[i]
		}
		args[i] = column
	}
	return `unnest(` + strings.Join(arrays, ", ") + `) AS v (` + strings.Join(names, ", ") + `)`, args
}
