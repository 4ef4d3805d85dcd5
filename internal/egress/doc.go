// Package egress is the only HTTP client that leaves the box. It decides where a request may go, sends it, and keeps the
// useful part of the answer. It knows no job and no run: the caller decides what a status means.
//
// # Where a request may go
//
// The dialed address is checked, after the name was resolved: a name is looked up once per connection and only the
// addresses of that answer are tried, so a name that resolves differently a moment later gains nothing. Public addresses are
// allowed. Everything else fails with [SSRFBlocked] before a connection is opened: private, shared, loopback, link-local,
// multicast, documentation, benchmarking and reserved networks, networks with IPv4 inside IPv6 (NAT64, 6to4, Teredo,
// IPv4-compatible; an IPv4-mapped address counts as the IPv4 address it is), and cloud services with public addresses. The
// operator's networks ([Options.Allow]) are allowed as well, but never the addresses that this server listens on. Hosts such
// as 2130706433, 0x7f.1 or 0177.0.0.1 are the IPv4 addresses that C libraries take them for. A name with several addresses
// goes to the allowed ones, and is refused if none of these answers.
//
// No proxy of the environment is used and no redirect is followed.
//
// # At most once
//
// A request is written to one connection, once, and never repeated. It is HTTP/1.1 only, because HTTP/2 servers may drop
// requests for the client to repeat. Connections are kept for a second, which is less than servers keep theirs. A connection
// that the peer has closed or written to meanwhile is closed before anything is written to it.
//
// # Whose answer it is
//
// If a server and this client disagree on where a request ends, the next answer goes to the wrong request. So connections
// and TLS sessions belong to one account. A connection is kept only if the request had no body that servers may leave
// unread, and if nothing came behind the answer.
//
// # Limits
//
// One deadline covers everything from the lookup to the last byte of the body; ending the context closes the connection at
// once. Headers may have 64 KiB. The first 64 KiB of the body are kept as they came, compressed or not; the rest is read and
// counted up to 64 MiB.
package egress
