// Package stream serves the event sockets of running services.
//
// # What a socket receives
//
// The first frame is `connected`. If the client named a `since` that is still
// known, the events after it follow; otherwise bulk events make the client load
// everything again. From then on every event of the account follows as it is
// committed, in order and without gaps or duplicates.
//
// The `seq` of `connected` is where the stream begins: it equals `since` when
// the stream continues there, and is the account's last number when the client
// must reload.
//
// # How nothing is lost
//
// The hub keeps one log of events for each account with open sockets. The
// change feed appends every event once, already encoded as a frame. Opening a
// socket means to
//
//  1. reserve a position in the log: later events are kept for the socket,
//  2. check the key again: the hub did not see revocations before step 1,
//  3. read the account's last number and the changes between `since` and it,
//  4. follow the log from step 1, leaving out numbers that step 3 covered.
//
// A change that step 3 did not see was committed after step 1 and is in the
// log. A socket without `since` is told which products changed in the last hour.
// All of this happens before the upgrade, so that failures are HTTP errors.
//
// # How no socket waits for another
//
// A socket is a position in its account's log and has no queue of its own. The
// log is bounded; a socket that falls out of it is closed with 1013 and resumes
// later. When the node's own workers are that far behind, one frame replaces the
// events and makes every client reload, and no socket is closed.
//
// A few workers share the sockets and never block: they offer frames to the
// kernel, which takes them or says that the socket's buffer is full. TLS cannot
// take half a record, so there the kernel is asked before each small piece. A
// socket whose buffer is full gets a goroutine that writes until the socket has
// caught up. So a socket has one goroutine, which reads, and a slow reader two.
//
// One ticker sends all heartbeats, spread over the interval, and closes sockets
// that are silent, too old, or whose key expired.
package stream
