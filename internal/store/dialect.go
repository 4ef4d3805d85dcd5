package store

import (
	"iter"
	"slices"
	"strconv"
	"strings"
)

// dialect is what differs between the two databases.
type dialect struct {
	name string // also the folder of the migrations
	// lockSchema makes migrations and first starts of several nodes wait for each other.
	lockSchema string
	// among is a condition that a column is in a list of texts, argument $2, which texts makes.
	among string
	texts func([]string) any
	// byKeys returns a query for the rows of a table that belong to an account,
	// argument $1, meet a condition, and have a key of a list, argument $2.
	byKeys func(columns, table, condition string) string
	// forUpdate and forKeyShare end a SELECT whose row others must not change, or
	// not delete, until the transaction ends. Deleting and forUpdate wait for
	// forKeyShare; plain updates and skipChanging do not.
	forUpdate, forKeyShare string
	// skipLocked skips rows that others have locked; skipChanging not those that others only keep from deletion.
	skipLocked, skipChanging string
	// firstOf returns a query for the rows of a table whose ids another query
	// selects for every text of a list, argument $2. The text is listed.value.
	firstOf func(columns, table, ids string) string
	// oneOf is a condition that a column is in the result of a query, which runs once.
	oneOf func(query string) string
	// place is a placeholder. On SQLite it has no number, because looking many numbers up is slow.
	place func(number int) string
	// rowsOf returns a table v (column1, column2 …) of rows of values, and its
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
		texts: func(list []string) any { return asJSON(list) },
		byKeys: func(columns, table, condition string) string {
			return `SELECT ` + columns + ` FROM ` + table + ` WHERE account_id = $1 AND ` + condition + ` AND key IN (SELECT value FROM json_each($2))`
		},
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
		texts:        func(list []string) any { return list },
		oneOf:        func(query string) string { return `= ANY(ARRAY(` + query + `))` },
		place:        func(number int) string { return "$" + strconv.Itoa(number) },
		byKeys:       oneByOne,
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

// oneByOne finds one key after the other in the index of keys. Left to itself, a PostgreSQL that has not counted its
// tables yet, as in the first minute of a database, compares every key of the account with every key of the list; or
// finds each key in the index of another condition, which reads all of the account's. So the condition comes later.
func oneByOne(columns, table, condition string) string {
	return `SELECT ` + columns + ` FROM (SELECT DISTINCT unnest(CAST($2 AS text[])) AS value) AS listed
		CROSS JOIN LATERAL (SELECT * FROM ` + table + ` WHERE account_id = $1 AND key = listed.value OFFSET 0) AS ` + table + ` WHERE ` + condition
}

func noName(int) string { return "?" }

// arraysOf makes an array of every column, so that PostgreSQL plans one statement for any number of rows.
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
