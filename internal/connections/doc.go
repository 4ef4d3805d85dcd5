// Package connections owns who is connected to the event stream, on all nodes.
//
// # How a socket gets into the list
//
// The sockets themselves belong to package stream. Once a second the Recorder of a
// node compares them with what it has written, and writes the difference in slices,
// at the priority of observations: 10,000 sockets that open at once cost 20
// transactions. How far each socket is (Seq) is written every tenth time.
//
// A row names the boot of its node, and counts while that boot is among the nodes
// that send heartbeats (package worker). So the rows of a node that dies vanish
// when the others give it up, without a word from it, and any node removes them
// later. A node that was given up and returns finds that its rows are gone, by
// counting them, and writes them again.
//
// Nothing is buffered: what cannot be written now is still different next time.
package connections
