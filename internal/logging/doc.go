// Package logging owns runtime log levels: loggers, log groups, where loggers
// are seen, and levels that expire.
//
// A logger is discovered when a running service reports it, and managed when a
// write sets a level, an override or a group on it. The first promotion of a
// logger clears the reported levels of its unmanaged descendants once, so that
// they follow it. A logger that is left with nothing set is discovered again.
// Which level follows from all of this is decided by client/loglevel.
//
// # Levels that expire
//
// An override, and a base level, may have an instant at which it is removed.
// The Expirer's protocol:
//
//   - Every node has one, and none leads. The instant is stored with the level,
//     so a restart forgets nothing.
//   - To look is to read the levels that expire next, through an index. What is
//     due is removed in a transaction under the account's lock, which reads the
//     logger again: the node that comes second finds nothing to do. So an expiry
//     fires once and leaves one change, however many nodes run.
//   - Accounts do not wait for each other. One whose lock is not free within three
//     seconds, or which fails, is left for the next look.
//   - Between looks it sleeps until the next expiry, at most a second. The feed
//     of changes wakes it when a logger or a group was written on any node, so
//     that a short expiry is not missed. The second is the bound when no
//     notification arrives.
//   - A look that fails is logged once per outage and repeated after a second.
//
// # Discovery by fleets
//
// A source is one of a logger, a service and an environment, and its id is
// derived from them: a report finds its sources by their ids, whatever else the
// account has. A report that makes or changes a source writes it at once; those
// that wait for the account's lock meanwhile are written together, in the next
// transaction; when too many wait, more are refused. What an account has no room
// for is dropped without a transaction while it is known to be full. A report that
// would only move last_seen writes nothing: Sightings remembers it and writes at
// most every ten seconds, and when the process stops.
package logging
