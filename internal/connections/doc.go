// Package connections owns the list of clients on the event streams of all nodes.
//
// # How a socket gets into the list
//
// The sockets themselves belong to package stream. Once a second the Recorder of a
// node compares them with the rows it has written, and writes the difference in
// slices, at the priority of observations: 10,000 sockets that open at once cost 20
// transactions. The position of each socket (Seq) is written every tenth time.
//
// A row names the boot of its node, and is listed while that boot is among the nodes
// that send heartbeats (package worker). So when a node dies, its rows vanish from
// the list as soon as other nodes give it up, and any node removes the rows later. A
// node that was given up and returns counts its rows, finds that they are gone, and
// writes them again.
//
// Nothing is buffered: a difference that cannot be written now is found again later.
package connections
