// Package changes records the history of an account: one Change for every write. It owns the history, the
// names of events and the feed. It does not send events to clients: package stream does.
//
// A domain service records a Change in the transaction of the write itself. GET /api/v1/changes
// shows it, and running services get an event for it. An account's changes are numbered 1, 2, 3
// … in the order of their commits. The number is assigned under the account's lock. So a reader
// that has seen number n never sees a smaller new number later.
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
//   - Once per interval it reads the last number of every account, and the new
//     rows of the accounts whose number has grown. It also does so when it was
//     woken for an account that has nothing new. This finds lost notifications,
//     writes of other processes to a SQLite file, and a restored database.
//   - A failed poll is logged once per outage and repeated; nothing is skipped.
//   - Subscribers are told if retention removed changes before this node read
//     them, and if the history was rewound.
//
// Caches that the feed invalidates must not be trusted while Live is false.
package changes
