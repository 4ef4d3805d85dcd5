// Package app puts Signalbox together. It is the only package that knows all
// others: New builds everything from the settings, Start begins to serve, Stop
// ends in the opposite order.
//
// What the command line does to the store without a server is here as well,
// because it needs the same parts: see Operator.
//
// # Starting without the database
//
// A node keeps on disk what evaluation needs (lastknown.go). If PostgreSQL is away when
// New builds the node, a stand-in takes its place (standin.go): a node wired like any
// other, with a database that refuses everything and caches filled from the file. Start
// serves it, and builds the node again every second until the database is there; requests
// then go to the new one.
//
// # Its own loops
//
// The resealer reads the key ring again every ten seconds. When it has a new
// last key, everything encrypted with an older one is re-encrypted, a batch at
// a time. The retention removes what is too old when the node starts and every
// five minutes, in small transactions. Both run on every node, may be
// interrupted anywhere, and continue the next time. The clock is compared with
// the database's every five seconds; while it is wrong, nothing is fired,
// claimed, expired or removed.
package app
