package store

import (
	"context"
	"strings"

	"github.com/signalbox/signalbox/internal/jobs"
)

// This file exports internals for tests of this package.

// Classify exports classify, which every database error passes.
func Classify(ctx context.Context, err error) error { return classify(ctx, err) }

// Exec runs any statement in a transaction.
func (tx *Tx) Exec(ctx context.Context, query string, args ...any) error {
	return tx.run(ctx, query, args...)
}

// Ask runs any query whose answer is one number.
func (tx *ReadTx) Ask(ctx context.Context, query string) (int, error) {
	return scalar(ctx, tx.conn, scanInt, query)
}

// AskAnyway is Ask on SQLite, even after the context of the read has ended.
func (tx *ReadTx) AskAnyway(query string) (int, error) {
	return scalar(context.Background(), tx.conn.(*readConn).prepared, scanInt, query)
}

// Compact compresses a body, and Expand reverses it.
func Compact(body string) (encoding string, stored []byte)           { return compact(body) }
func Expand(encoding string, stored []byte) (body string, err error) { return expand(encoding, stored) }

// The queries that read what a job shows of its runs.
const (
	FinishedRunsQuery = finishedRunsQuery
	RunHoursQuery     = runHoursQuery
)

// LastRunsQuery returns the query of the newest run of one job.
func LastRunsQuery() string { return lastRuns(`= $2`) }

// SimilarKeyQuery returns the query of SimilarKey.
func SimilarKeyQuery(kind string) (string, error) { return similarKeyQuery(kind) }

// ByKeysQuery returns the query of rows by their keys on PostgreSQL.
func ByKeysQuery(columns, table, condition string) string { return oneByOne(columns, table, condition) }

// RunsQuery returns the query of an account's newest runs.
func RunsQuery(account string, filter jobs.RunFilter) (string, []any) {
	found := filterRuns(account, filter)
	return "SELECT " + found.columns + found.from() + " ORDER BY runs.id DESC LIMIT 20", found.args
}

// OutcomesQuery is the statement on PostgreSQL that stores outcomes, and the statement that comes before it.
func OutcomesQuery() (query, before string) {
	db := postgresDialect()
	outcomes, _ := db.outcomes([][]any{make([]any, 7)})
	return db.move(outcomes), `SELECT ` + strings.TrimPrefix(indexesOnly+matching, ", ")
}

// Waiting counts the transactions that wait inside this node.
func (db *DB) Waiting() int {
	if engine, ok := db.engine.(*postgres); ok {
		return Gate{&engine.gate}.Waiting()
	}
	queue := db.engine.(*sqliteEngine).queue
	queue.mu.Lock()
	defer queue.mu.Unlock()
	return queue.len()
}

// Gate queues transactions on PostgreSQL.
type Gate struct{ gate *accountGate }

// NewGate makes a gate.
func NewGate() Gate { return Gate{&accountGate{lines: map[string]*accountLine{}}} }

// Enter waits with the priority of a loop, a decision or an observation.
func (g Gate) Enter(ctx context.Context, account string, kind rune) error {
	return g.gate.enter(ctx, account, map[rune]priority{'l': forLoops, 'd': forDecisions, 'o': forObservations}[kind])
}

// Leave lets the next transaction pass.
func (g Gate) Leave(account string) { g.gate.leave(account) }

// Waiting counts the waiting transactions.
func (g Gate) Waiting() (count int) {
	g.gate.mu.Lock()
	defer g.gate.mu.Unlock()
	for _, line := range g.gate.lines {
		for _, waiting := range line.waiting {
			count += len(waiting)
		}
	}
	return count
}

// Accounts counts the accounts with transactions.
func (g Gate) Accounts() int { return len(g.gate.lines) }

// Priorities returns transactions with each priority.
func (db *DB) Priorities() (loops, decisions, observations Transactions[*ReadTx, *Tx]) {
	decisions = NewTransactions(db, func(tx *ReadTx) *ReadTx { return tx }, func(tx *Tx) *Tx { return tx })
	return decisions.ForLoops(), decisions, decisions.ForObservations()
}

// WriteUnlimited writes without time limits, as a migration does.
func (db *DB) WriteUnlimited(ctx context.Context, fn func(context.Context, *Tx) error) error {
	return db.write(ctx, writeOptions{unlimited: true}, fn)
}

// ForgetIdle closes the idle connections, as after a broken connection.
func (db *DB) ForgetIdle() { db.engine.(*postgres).forgetIdle() }

// Prepared counts the statements that SQLite's writer has prepared. It must be
// called by the writer, in a transaction.
func (db *DB) Prepared() int { return len(db.engine.(*sqliteEngine).writer.statements) }

// The limits that tests exceed.
const (
	MaxGroup      = maxGroup
	MaxStatements = maxStatements
	WriteAttempts = writeAttempts
	GateWidth     = gateWidth
)

// Step is one step of the schema.
type Step struct {
	Version int
	Name    string
}

// Steps lists the embedded steps of a dialect.
func Steps(dialect string) ([]Step, error) {
	found, err := migrations(dialect)
	steps := make([]Step, len(found))
	for i, each := range found {
		steps[i] = Step{each.version, each.name}
	}
	return steps, err
}

// PendingRunsQuery returns the query of PendingRuns on PostgreSQL.
func PendingRunsQuery() string { return pendingRunsQuery + postgresDialect().among }

// RestoreWith is Restore with a function that is called after each step.
func RestoreWith(ctx context.Context, file, from, kept string, after func(step string)) error {
	return restore(ctx, file, from, kept, after)
}

// FinishRestoreWith is FinishRestore with a function that is called after each step.
func FinishRestoreWith(file string, after func(step string)) error { return finishRestore(file, after) }

// NewAnnouncer returns an announcer that gives the payloads of its notices to send.
func NewAnnouncer(send func(payloads []string) error) (tell func(payloads ...string), stop func()) {
	a := &announcer{send: func(_ context.Context, notices []notice) error {
		var payloads []string
		for _, each := range notices {
			payloads = append(payloads, each.payload)
		}
		return send(payloads)
	}}
	return func(payloads ...string) {
		for _, each := range payloads {
			a.tell(notice{changesChannel, each})
		}
	}, a.stop
}
