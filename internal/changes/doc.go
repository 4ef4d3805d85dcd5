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
//   - It polls when it is woken, after each commit on this node and when
//     PostgreSQL notifies of another node's, and at least once per interval:
//     notifications get lost, and other processes write to a SQLite file.
//   - A poll reads every account's last number and, where it grew, the rows
//     after the last one seen. A failed poll is logged once per outage and
//     repeated; nothing is skipped.
//   - Subscribers are told about changes that retention removed before this
//     node read them, and about a history that was rewound.
//
// Caches that the feed invalidates must not be trusted while Live is false.
package changes
