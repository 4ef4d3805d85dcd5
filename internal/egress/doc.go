// Package egress is the only HTTP client that sends requests outside. It decides where a request may go, sends it, and
// keeps the useful part of the answer. It does not know jobs or runs: the caller decides what a status means.
//
// # Where a request may go
//
// The dialed address is checked, after the name was resolved. A name is looked up once per connection, and only the
// addresses of that answer are tried. So a name that resolves differently a moment later gains nothing. Public addresses are
// allowed. Everything else fails with [SSRFBlocked] before a connection is opened: private, shared, loopback, link-local,
// multicast, documentation, benchmarking and reserved networks, networks with IPv4 inside IPv6 (NAT64, 6to4, Teredo,
// IPv4-compatible; an IPv4-mapped address counts as its IPv4 address), and cloud services with public addresses. The
// operator's networks ([Options.Allow]) are allowed too, but never the addresses that this server listens on. Hosts such as
// 2130706433, 0x7f.1 or 0177.0.0.1 are read as IPv4 addresses, as C libraries read them. If a name has several addresses,
// only the allowed ones are tried, and the request is refused if none of them answers.
//
// Proxy settings of the environment are ignored, and redirects are not followed.
//
// # At most once
//
// A request is written once, to one connection, and never repeated. Only HTTP/1.1 is used, because HTTP/2 servers may drop
// requests and expect the client to repeat them. Idle connections are kept for a second, which is shorter than servers keep
// theirs. If the peer has closed an idle connection or written to it, the connection is closed before a request uses it.
//
// # Whose answer it is
//
// If a server and this client disagree about where a request ends, the next answer goes to the wrong request. So
// connections and TLS sessions are never shared between accounts. A connection is kept only if the request had no body
// that servers may leave unread, and if no bytes came after the answer.
//
// # Limits
//
// One deadline covers everything from the lookup to the last byte of the body. Ending the context closes the connection at
// once. Headers are limited to 64 KiB. The first 64 KiB of the body are kept as received, without decompression. The rest is
// read and counted up to 64 MiB, or as far as the request asks for. Reading ends earlier if the server sends it in very small
// packets or chunks: the limits of incoming bound the processor time of an answer.
package egress
