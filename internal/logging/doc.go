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
//
//   - Every node has an Expirer, and none leads. The instant is stored with the
//     level, so a restart forgets nothing.
//   - It reads the levels that expire next, through an index, and removes those
//     that are due in a transaction under the account's lock, which reads the
//     logger again: a second node finds nothing to do. So an expiry leaves one
//     change, however many nodes run.
//   - Accounts do not wait for each other. One whose lock is not free within three
//     seconds, or which fails, is tried again the next time.
//   - While the node's clock is wrong it removes nothing.
//   - It sleeps until the next expiry, at most a second. The feed of changes wakes
//     it when a logger or a group was written on any node.
//   - A failure is logged once per outage and tried again after a second.
//
// What services report comes through package observations; see report.go.
package logging
