package store

import "context"

// What tests of this package reach beyond its interface.

// Classify is what every error of a database goes through.
func Classify(ctx context.Context, err error) error { return classify(ctx, err) }

// Exec runs any statement in a transaction.
func (tx *Tx) Exec(ctx context.Context, query string, args ...any) error {
	return tx.run(ctx, query, args...)
}

// Ask runs any query whose answer is one number.
func (tx *ReadTx) Ask(ctx context.Context, query string) (int, error) {
	return scalar(ctx, tx.conn, scanInt, query)
}

// Waiting counts the writers that wait for SQLite's writer.
func (db *DB) Waiting() int {
	queue := db.engine.(*sqliteEngine).queue
	queue.mu.Lock()
	defer queue.mu.Unlock()
	return queue.len()
}

// Prepared counts the statements that SQLite's writer has prepared. It must be
// called by the writer, in a transaction.
func (db *DB) Prepared() int { return len(db.engine.(*sqliteEngine).writer.statements) }

// The bounds that tests go past.
const (
	MaxGroup      = maxGroup
	MaxStatements = maxStatements
	WriteAttempts = writeAttempts
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
