// Package lastknown keeps on disk what a node needs to answer evaluation when it is
// started while its database is away.
//
// It owns the file and when that is written; what is in it comes from the packages that
// know it, through internal/app. The file is compressed JSON, sealed with the key ring and
// bound to the database that it is of: with another ring, or for another database, it does
// not open. Only its owner may read it.
//
// # When it is written
//
// A Keeper looks every few seconds whether what would be written has changed, by a number
// that costs nothing to compute. If so, everything is collected and the file is replaced as
// a whole: written beside it, synced and renamed. A save that takes long is followed by a
// pause of many times as long, so that a busy node spends a small share of its time on it.
// What cannot be collected, because the database is away, leaves the file as it is.
package lastknown
