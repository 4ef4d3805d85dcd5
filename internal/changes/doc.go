// Package changes records the history of an account: one Change for every write.
//
// A domain service records a Change in the transaction of the write itself.
// GET /api/v1/changes shows it, and running services get an event for it.
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
//   - A commit on this node, or a PostgreSQL notification from another node,
//     wakes it for one account. It then reads only that account's new rows, so
//     the cost does not grow with the number of accounts.
//   - Once per interval, and when an account that woke it has nothing new, it
//     reads the last number of every account and the new rows of the accounts
//     whose number grew. This finds lost notifications, writes of other
//     processes to a SQLite file, and a restored database.
//   - A failed poll is logged once per outage and repeated; nothing is skipped.
//   - Subscribers are told about changes that retention removed before this
//     node read them, and about a history that was rewound.
//
// Caches that the feed invalidates must not be trusted while Live is false.
package changes
