// Package app puts Signalbox together. It is the only package that knows all
// others: New builds everything from the settings, Start begins to serve, Stop
// ends in the opposite order.
//
// The commands that work on the store without a server are here as well, because
// they need the same parts: see Operator.
//
// # Starting without the database
//
// A node saves the data for evaluation on disk (lastknown.go). If PostgreSQL is down when
// New builds the node, a stand-in takes its place (standin.go). A stand-in is wired like
// any other node, but its database refuses every call and its caches are filled from the
// file. Start serves the stand-in and tries every second to build the real node. When the
// database is up, requests go to the real node.
//
// # The loops of this package
//
// The resealer reads the key ring again every ten seconds. When the ring has a new
// primary key, it re-encrypts all values that were sealed with an older key, in batches.
// The retention removes old rows when the node starts and every five minutes, in small
// transactions. Both run on every node. If they are interrupted, they continue the next
// time. The node's clock is compared with the database's every five seconds. While it is
// wrong, the node fires and claims no runs, expires nothing and removes nothing.
package app
