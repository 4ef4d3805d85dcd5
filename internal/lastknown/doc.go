// Package lastknown keeps the last known state on disk, from which a node answers
// evaluation when it is started while its database is down.
//
// It owns the file and decides when it is written; internal/app collects the content from
// other packages. The file is compressed JSON, sealed with the key ring and bound to its
// database: with another ring, or for another database, it does not open. Only its owner
// may read it.
//
// # When it is written
//
// Every few seconds a Keeper checks whether the state has changed, by a number that is
// cheap to compute. If so, everything is collected and the file is replaced as a whole: the
// new one is written beside it, synced and renamed. A long save is followed by a pause many
// times as long, so that a busy node spends a small share of its time on it. If the state
// cannot be collected, because the database is down, the file stays as it is.
package lastknown
