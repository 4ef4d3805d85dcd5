// Package store keeps everything in one SQL database: SQLite in a file, or
// PostgreSQL shared by any number of nodes.
//
// It owns the SQL, the schema and its migrations, the transactions, and the
// translation of database errors, but no rule. Every domain package describes the
// transaction it needs as an interface of its own; *ReadTx and *Tx satisfy them
// all, one file per concept, and Transactions hands them out.
//
// Statements are written once for both databases, with $1, ON CONFLICT and
// RETURNING. Times are integer microseconds, JSON is text, ids are UUIDv7 text,
// text is ordered by its bytes. The dialect holds the remaining differences.
//
// # Writing
//
// Write runs a function in a transaction that has one "now". For an account it
// holds the account's lock, so limits are decided by totals that nobody changes
// meanwhile and an account's changes are numbered in the order of their commits.
// The function may run more than once, when PostgreSQL asks for a retry: it must
// not have effects outside the transaction.
//
// A transaction without an account may work for several. It must not wait for the lock of one of them, or for what
// its transactions write: it locks the accounts that are free, and leaves the rest for later (Tx.lockFree).
//
// The function gets the transaction's context, which has its deadline, and gives
// it to every statement. It may derive a shorter context: when that ends, PostgreSQL
// stops a running statement, and SQLite begins no further statement.
//
// Loops go first, then decisions, then observations; see priority. SQLite has one
// writer connection. Writers that wait at the same time share one commit, each in
// a savepoint of its own. On PostgreSQL the server ends the transaction of a node
// that stops. A node that was only slow runs the function again.
//
// # Reading
//
// Read runs outside a transaction: each statement sees what is committed when it
// starts. All statements of a Snapshot see the same state. SQLite's readers never
// wait for the writer.
//
// # Notifications
//
// When a transaction that recorded changes is committed, the other nodes are
// notified. Their Listeners wake the change feed, which reads the new changes from
// the table. A notification may be lost, so the feed also polls, and it is woken
// after every connect. Another channel carries the ids of canceled runs.
// Notifications are not part of the transaction; see announcer.
package store
