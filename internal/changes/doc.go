// Package changes is the record of what happened: one Change for every write.
//
// History and events are one thing. A domain service records a Change inside
// the transaction that makes it; the row is what GET /api/v1/changes shows and
// what running services are told about. An account's changes are numbered 1,
// 2, 3 … in the order of their commits: the number is taken under the
// account's lock, so a reader that has seen number n will never meet a smaller
// one later.
//
// # The feed
//
// A Feed follows the changes of all accounts on one node and hands each to
// its subscribers once, in order per account. Its protocol:
//
//   - At the start it reads the last number of every account and begins there:
//     what was before is history, not news.
//   - It looks for news when it is woken, and every interval in any case.
//     Wake is called after each commit on this node and, on PostgreSQL, when
//     another node's commit is notified. The interval is the safety net for a
//     lost notification and, on SQLite, for another process such as the
//     command line writing to the same file.
//   - To look is to read every account's last number and, where it grew, the
//     rows after the last one seen. A failed look is logged once per outage
//     and tried again at the next tick: nothing is skipped, only later.
//   - What cannot be handed out is told: changes that retention removed before
//     this node read them, and a history that was rewound.
//
// Live tells whether the feed is current; caches that the feed invalidates
// must not be trusted while it is not.
package changes
