// Package store keeps everything in one SQL database: SQLite in a file, or
// PostgreSQL shared by any number of nodes.
//
// It owns the SQL, the schema and its migrations, the transactions, and the
// translation of database errors. It owns no rule: what may be written is the
// domain's business. Every domain package describes the transaction it needs
// as an interface of its own; *ReadTx and *Tx satisfy them all, one file per
// concept, and Transactions hands them out.
//
// # One text for both
//
// The statements are written once, with $1, ON CONFLICT and RETURNING. Times
// are integer microseconds, JSON is text, ids are UUIDv7 text, text is ordered
// by its bytes. What still differs is named in one dialect value.
//
// # Writing
//
// Write runs a function in a transaction that has one "now". For an account it
// holds the account's lock, so limits are decided by counting and an account's
// changes are numbered in the order of their commits. The function may run more
// than once, when PostgreSQL asks for a retry: it must not have effects outside.
//
// SQLite has one writer connection. Writers that wait at the same time share
// one commit, each in a savepoint of its own: a function that fails takes back
// its own work only, and one fsync serves all. A writer hears of success only
// after that commit.
//
// # Reading
//
// Read runs outside a transaction: each statement sees what is committed when
// it starts. Snapshot is for what is put together of several statements: all see
// the same state. SQLite reads on a pool of connections that never wait for the
// writer.
//
// # Hearing of other nodes
//
// A transaction that records a change notifies the channel of changes when it
// commits. The Listener of every node holds a connection of its own that waits
// for notifications and wakes the change feed, which reads what is new from the
// table: a notification carries nothing and may be lost. When the connection is
// lost it is made again, with growing pauses, and the feed is woken once,
// because something may have been missed. Runs that are cancelled are told of
// in the same way, on a channel of their own, with their ids.
package store
