// Package app puts Signalbox together. It is the only package that knows all
// others: New builds everything from the settings, Start begins to serve, Stop
// ends in the opposite order.
//
// The commands that work on the store without a server are here as well, because
// they need the same parts: see Operator.
//
// # Starting without the database
//
// A node keeps the data for evaluation on disk (lastknown.go). If PostgreSQL is down when
// New builds the node, a stand-in takes its place (standin.go): a node wired like any
// other, with a database that refuses everything and caches filled from the file. Start
// serves the stand-in, and tries to build the node every second until the database is up;
// then requests go to the node.
//
// # Its own loops
//
// The resealer reads the key ring again every ten seconds. When the ring has a
// new last key, everything encrypted with an older key is re-encrypted, a batch
// at a time. The retention removes old rows when the node starts and every five
// minutes, in small transactions. Both run on every node, may be interrupted
// anywhere, and continue the next time. The clock is compared with the
// database's every five seconds; while it is wrong, nothing is fired, claimed,
// expired or removed.
package app
