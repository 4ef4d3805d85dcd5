// Package logging owns runtime log levels: loggers, log groups, the sources that
// report loggers, and temporary levels.
//
// A logger is discovered when a running service reports it, and managed when a write sets a level,
// an override or a group on it. The first promotion of a logger to managed clears the reported
// levels of its unmanaged descendants once, so that they follow it. A managed logger becomes
// discovered again when it no longer has a level, an override or a group. Package client/loglevel
// computes the effective levels.
//
// # Temporary levels
//
// An override or a base level may have an expiry: an instant at which it is removed.
//
//   - Every node has an Expirer, and there is no leader. The expiry is stored with
//     the level, so it survives a restart.
//   - The Expirer reads the levels that expire next through an index. It removes
//     due levels in a transaction under the account's lock, where it reads the
//     logger again. If another node was faster, nothing is left to remove. So an
//     expiry is recorded as one change, even if many nodes run.
//   - Accounts do not wait for each other. An account that fails, or whose lock is
//     not free within three seconds, is tried again the next time.
//   - While the node's clock is wrong, the Expirer removes nothing.
//   - It sleeps until the next expiry, at most a second. The feed of changes wakes
//     it when any node has written a logger or a group.
//   - A failure is logged once per outage and tried again after a second.
//
// Package observations delivers the reports of services; see report.go.
package logging
