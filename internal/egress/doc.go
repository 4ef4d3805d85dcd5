// Package egress is the only HTTP client that leaves the box.
//
// It owns where a request may go, how it travels and what is kept of the answer. It knows no job and no run: the caller
// brings the request, in plain text, and decides what a status means.
//
// # Where a request may go
//
// The address that is dialled is checked, in the dialer, after the name was resolved: a name is looked up once per
// connection and exactly the addresses of that answer are tried, so a name that answers differently a moment later has
// nothing to win. Public addresses go out. Everything else is refused with [SSRFBlocked] before a connection is opened:
// private, shared, loopback, link-local, multicast, documentation, benchmarking and reserved networks, the networks that
// carry IPv4 inside IPv6 (NAT64, 6to4, Teredo, IPv4-compatible; an IPv4-mapped address counts as the IPv4 address it
// is), and services of clouds that have public addresses. The operator's networks ([Options.Allow]) go out as well.
// Addresses that this server listens on are refused always: the operator allows networks, and a network that holds other
// services should not open this one's unauthenticated endpoints to every account. Hosts such as 2130706433, 0x7f.1 or
// 0177.0.0.1 are the IPv4 addresses that C libraries take them for. A name with several addresses goes to those that may
// be dialled; it is refused when that leaves none that answers.
//
// No proxy of the environment is used and no redirect is followed.
//
// # At most once
//
// A request is written to one connection, once. The package speaks HTTP/1.1 itself, with net/http's reader for answers,
// because http.Transport sends a GET, and any request that has an Idempotency-Key, again when a kept connection dies
// before the answer; a request that was received may then run twice. HTTP/2 is not offered: its peers may drop streams
// for the client to repeat, and one connection would carry the requests of many accounts.
//
// Connections are kept for reuse, but only for a second, which is shorter than servers keep theirs (the shortest usual
// default is two). A kept connection that the peer has closed or written to is thrown away before anything is written.
//
// # Whose answer it is
//
// A server, or a proxy before it, that finds the end of a request or an answer elsewhere than this client gives its next
// answer to the wrong request. So nothing that one account can cause is read by another: connections and TLS sessions
// belong to an account. And within one, a connection is kept only when there was one way to read what was said on it: the
// request had no body that servers may leave unread, the answer's headers say plainly and once where it ends, and nothing
// came behind it, neither in this client's buffers nor in those of TLS.
//
// # Time
//
// One deadline covers everything from the lookup to the last byte of the body. Ending the context closes the connection
// at once.
//
// # What is kept
//
// Headers up to 64 KiB, and the first 64 KiB of the body as it came, compressed or not. The rest of the body is read and
// counted up to 64 MiB; the answer ends there as it is.
package egress
