// Package connections owns the list of clients that follow the changes of an account, on all nodes: event sockets, streams of
// flagd providers, and programs that poll level files. The list has no OFREP event streams, which web pages open.
//
// # How a socket gets into the list
//
// The sockets themselves belong to package stream. Once a second, a node's Recorder compares
// them with the rows that it has written. It writes the difference in slices, at the priority
// of observations. So 10,000 sockets that open at once cost 20 transactions. The position of
// each socket (Seq) is written every tenth time.
//
// A row names the boot of its node: the id of one run of the process. It is listed while that
// boot is among the nodes that send heartbeats (package worker). So when a node dies, its rows
// disappear from the list as soon as the other nodes consider it lost. Later any node removes
// the rows. If the lost node returns, it counts its rows, finds that they are gone, and writes
// them again.
//
// Nothing is buffered. If a difference cannot be written, it is found again later.
package connections
