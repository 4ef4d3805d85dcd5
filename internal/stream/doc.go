// Package stream serves the event sockets of running services, and the event streams of web pages. It owns the sockets
// of this node and their log of events. Package changes decides which changes have events, and package connections lists
// the sockets of all nodes.
//
// # What a socket receives
//
// The first frame is `connected`. If the client named a sequence number `since` that is still
// known, the events after it follow. Otherwise bulk events make the client load everything
// again. From then on every event of the account follows when it is committed, in order and
// without gaps or duplicates.
//
// The `seq` of `connected` is where the stream begins. If the stream continues after `since`,
// it equals `since`. If the client must reload, it is the account's last sequence number.
//
// # How nothing is lost
//
// The hub keeps one log of events for each account with open sockets. The change feed appends
// every event once, already encoded as a frame. A socket is opened in four steps:
//
//  1. Reserve a position in the log. Later events are kept for the socket.
//  2. Check the key again, because the hub did not see revocations before step 1.
//  3. Read the account's last sequence number and the changes since `since`.
//  4. Follow the log from the position of step 1, without the changes of step 3.
//
// A change that step 3 did not see was committed after step 1, so it is in the log. A socket
// without `since` is told which products changed in the last hour. All of this happens before
// the upgrade, so that failures are HTTP errors.
//
// # How no socket waits for another
//
// A socket is a position in its account's log and has no queue of its own. The log is bounded.
// A socket that needs a dropped event is closed with 1013 and resumes later. If the node's own
// workers are that far behind, no socket is closed. Instead one frame replaces the events and
// makes every client reload.
//
// A few workers share the sockets and never block: they offer frames to the kernel, which
// accepts them or reports that the socket's buffer is full. TLS cannot write half a record, so
// with TLS the worker asks the kernel before each small piece. If a socket's buffer is full, an
// extra goroutine writes until the socket has caught up. So a socket has one goroutine, which
// reads; a slow reader has two.
//
// A response that is not a WebSocket, such as one of gRPC, is a Watch: it counts as a socket, ends like one, and has the
// goroutine of its request.
//
// # Event streams
//
// An OFREP event stream (Server-Sent Events, for web pages) is a socket without a WebSocket. It
// follows the same log and counts toward the same limits. A frame of the log has a text for
// sockets, one for event streams, or both. The events of streams only say that evaluations may
// have changed, so a stream takes only the newest one. The first change is sent at once, and
// later ones are joined into one event per 250 ms; a loop appends that event to the log.
//
// Over HTTP/1 the hub takes the connection over. Over HTTP/2 the goroutine of the request writes,
// woken by the workers.
//
// # Heartbeats
//
// One ticker sends all heartbeats, spread over the interval. It closes sockets that are silent
// or too old, or whose key has expired.
package stream
