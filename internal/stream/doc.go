// Package stream is the event socket that running services live on, and the
// hub behind it.
//
// # What a socket is told
//
// The first frame is `connected`. Then follow, in this order and without gap
// or duplicate, the events that the socket missed (when it named a `since`
// that is still known), or bulk events that make it load everything again,
// and from there on every event of its account as it is committed. A socket
// that is told of number n will never be told of a smaller one, unless the
// database itself went back in time.
//
// The `seq` of `connected` is where the stream begins: it equals `since` when
// the stream continues from there, and is the account's last number when it
// does not. So a client knows from the first frame whether it must reload.
//
// # How nothing is lost
//
// A room is an account with sockets on this node. The change feed appends
// every event to the room's log, once, already encoded as a frame. To open a
// socket is to
//
//  1. take a place in the room: what the feed hands out from now on is in the
//     log,
//  2. check the key again: what the feed handed out before includes every
//     revocation that the room did not see,
//  3. read the account's last number, and the changes between `since` and it,
//  4. follow the log from the place of step 1, leaving out numbers that step 3
//     has covered.
//
// A change that step 3 did not see was committed after step 1 and is in the
// log. A socket without `since` is told what changed lately instead; what the
// room remembers of that is used only if it reaches up to the last number of
// step 3. All of this happens before the upgrade, so that what goes wrong is an
// ordinary HTTP error.
//
// # How nobody waits for another
//
// The log is the queue of all sockets of the room: a socket has a position in
// it and no queue of its own. It holds a bounded number of events; a socket
// whose position has fallen out of it is closed with 1013 and resumes later.
// When it is the workers who have not offered that many, the events become one
// frame that makes every client load everything, and nobody is closed.
//
// A few workers share the sockets. A worker never blocks: it offers the frames
// to the kernel, which takes them or says that the socket's buffer is full.
// TLS cannot be told to take half a record, so there the kernel is asked for
// room before each small piece. A connection is closed without the farewell of
// TLS unless its own goroutine does it, and nothing that may wait happens under
// a lock. A socket with a full buffer gets a goroutine of its own that waits
// until the peer reads again, and gives the socket back when it has caught up.
// So there is one goroutine for each open socket (it reads), one for each slow
// reader, and none for a message.
//
// One ticker for all sends heartbeats, each socket at its own moment, and
// closes what is silent, too old, or has a key that expired.
package stream
