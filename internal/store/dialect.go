package store

import (
	"iter"
	"slices"
	"strconv"
	"strings"
)

// dialect holds the differences between the two databases.
type dialect struct {
	name string // also the folder of the migrations
	// lockSchema makes migrations and first starts of several nodes wait for each other.
	lockSchema string
	// among is the condition that a column is in the list $2. texts makes that argument.
	among string
	texts func([]string) any
	// byKeys returns a query for the rows of account $1 that meet a condition and
	// whose key is in the list $2.
	byKeys func(columns, table, condition string) string
	// forUpdate ends a SELECT and locks its row against changes until the transaction
	// ends; forKeyShare locks it against deletion only. Deletes and forUpdate wait
	// for forKeyShare; plain updates and skipChanging do not.
	// forNoKeyUpdate locks it against plain updates as well, but not against forKeyShare.
	forUpdate, forKeyShare, forNoKeyUpdate string
	// forUpdateOfNode is forUpdate for a row of worker_nodes.
	forUpdateOfNode string
	// skipLocked skips every row that others have locked; skipChanging still takes jobs under forKeyShare, and skipBusy
	// rows of any table.
	skipLocked, skipChanging, skipBusy string
	// firstOf returns a query for rows of a table. The query ids selects their ids: it runs for
	// each text of the list $2, which it calls listed.value.
	firstOf func(columns, table, ids string) string
	// oneOf is a condition that a column is in the result of a query, which runs once.
	oneOf func(query string) string
	// place returns a placeholder. On SQLite it has no number, because looking up many numbers is slow.
	place func(number int) string
	// rowsOf returns SQL for a table v (column1, column2 …) of the rows, and its
	// arguments; types are PostgreSQL's. pieces cuts rows into chunks for one call.
	rowsOf func(types []string, rows [][]any) (string, []any)
	pieces func(rows [][]any) iter.Seq[[][]any]
	// hasID is the condition that a row of run_queue has the id in the first column of rowsOf. On PostgreSQL it works in
	// transactions with writeOptions.matches: the rows are found by their ids, and then matched by hashing. Its second
	// comparison has an expression, because with a plain id PostgreSQL would read the whole index in its order. The statement
	// matched ends the effect of writeOptions.matches.
	hasID, matched string
	// move returns a statement that moves runs from run_queue to run_history. On SQLite it only copies them, because a
	// statement cannot contain a DELETE. forgetMoved, followed by a list of runs, then removes them from run_queue.
	move        func(e ending) string
	forgetMoved string
	// deliveries is the priority of the worker that sends deliveries of webhooks. Thousands of them a second would make the
	// writes of callers wait for SQLite's only writer. The worker of runs sends the heartbeats, so they are not delayed.
	deliveries priority
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
		hasID:  `run_queue.id = v.column1`,
		move:   copyRuns, forgetMoved: `DELETE FROM run_queue WHERE $1 = '' AND id `,
		deliveries: forObservations,
		firstOf: func(columns, table, ids string) string {
			return `SELECT ` + columns + ` FROM (SELECT value FROM json_each($2)) AS listed CROSS JOIN ` + table + ` WHERE id IN (` + ids + `)`
		},
	}
}

func postgresDialect() dialect {
	return dialect{
		name:           "postgres",
		lockSchema:     `SELECT 1 FROM schema_lock WHERE id = 1 FOR UPDATE`,
		among:          `= ANY(CAST($2 AS text[]))`,
		texts:          func(list []string) any { return list },
		oneOf:          func(query string) string { return `= ANY(ARRAY(` + query + `))` },
		place:          func(number int) string { return "$" + strconv.Itoa(number) },
		byKeys:         oneByOne,
		rowsOf:         arraysOf,
		pieces:         func(rows [][]any) iter.Seq[[][]any] { return slices.Chunk(rows, 1000) },
		hasID:          `run_queue.id = ANY(CAST($1 AS text[])) AND run_queue.id || '' = v.column1`,
		matched:        matched,
		move:           moveRuns,
		forUpdate:      ` FOR UPDATE OF jobs`,
		forKeyShare:    ` FOR KEY SHARE`,
		forNoKeyUpdate: ` FOR NO KEY UPDATE`,
		skipLocked:     ` FOR UPDATE SKIP LOCKED`,
		skipChanging:   ` FOR NO KEY UPDATE OF jobs SKIP LOCKED`,
		skipBusy:       ` FOR NO KEY UPDATE SKIP LOCKED`,

		forUpdateOfNode: ` FOR UPDATE`,
		deliveries:      forLoops,
		firstOf: func(columns, table, ids string) string {
			return `SELECT ` + columns + ` FROM unnest(CAST($2 AS text[])) AS listed (value)
				CROSS JOIN LATERAL (` + ids + `) AS chosen (chosen_id) JOIN ` + table + ` ON id = chosen_id`
		},
	}
}

// oneByOne looks up one key after the other in the index of keys. Without statistics, as in the first minute of a
// database, PostgreSQL would compare every key of the account with every key of the list, or use an index of the
// condition and read all rows of the account. So the condition is applied last.
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
