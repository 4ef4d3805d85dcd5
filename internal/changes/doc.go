// Package changes records what happened: one Change for every write.
//
// A domain service records a Change in the transaction that makes it. The row
// is what GET /api/v1/changes shows and what running services are told about.
// An account's changes are numbered 1, 2, 3 … in the order of their commits:
// the number is assigned under the account's lock, so a reader that has seen
// number n never meets a smaller one later.
//
// # The feed
//
// A Feed follows the changes of all accounts on one node and passes each to
// its subscribers once, in order per account:
//
//   - It starts at the last number of every account; older changes are not sent.
//   - It is woken for an account after each commit on this node and when
//     PostgreSQL notifies of another node's, and reads the account's rows after
//     the last one seen. The number of accounts does not matter.
//   - Once per interval, and when an account that woke it has nothing new, it
//     reads every account's last number and, where it grew, the rows after the
//     last one seen: notifications get lost, other processes write to a SQLite
//     file, and a database may be restored.
//   - A failed poll is logged once per outage and repeated; nothing is skipped.
//   - Subscribers are told about changes that retention removed before this
//     node read them, and about a history that was rewound.
//
// Caches that the feed invalidates must not be trusted while Live is false.
package changes
