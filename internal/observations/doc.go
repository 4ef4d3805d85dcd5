// Package observations stores the reports of running services. It owns services,
// contexts, context types and metrics, and writes reports of flags and loggers for
// the packages that own these.
//
// # From a report to the database
//
//   - A report is read item by item. Bad items are rejected with their index. Items
//     about the same source are merged.
//   - The report is compared with the stored rows in a read that locks nothing. Nearly
//     all reports contain nothing new. Only a few large reports are read and compared
//     at once, so that a starting fleet leaves processors to other requests.
//   - New and changed items are written before the answer, at the lowest priority, in
//     slices of 256 items, or of 1,536 while no other report is under way. Each account
//     writes one report at a time. Small reports that arrive meanwhile are written
//     together in the next transaction. If too many reports wait, further ones are
//     refused. If a caller disconnects, its report is dropped unless it is already
//     being written. A transaction may refuse one report, before it writes any of it,
//     and still write the others.
//   - A slice creates the flags or loggers that its items need, as one change and
//     one event. So a large report has several changes. A single change would need a
//     single transaction, or leave rows without a change for a while.
//   - An answered report is durable. If a report fails, the client repeats it, and the
//     repetition writes the rest.
//   - If an item is already stored, it only refreshes a time, such as last_seen.
//     Refreshes are buffered; see below.
//   - New rows beyond a hard cap are dropped; known rows are still refreshed. An account
//     at its cap counts as full for ten seconds, so that a fleet with too many sources
//     does not take the account's lock with every report.
//
// Flags and logging implement Product, which decides what a source contains and what
// happens when it is new.
//
// # Metrics
//
// Every measurement is added to the sum of its minute and the sum of its hour, in one
// transaction, so that both agree. Minute sums are kept for a week, hour sums for 90 days. The
// number of sums per account and minute or hour is bounded. New sums beyond the bound are
// dropped and counted.
//
// Evaluations counts the server's own evaluations in memory, per account, environment, flag and
// value. It writes the counts every five seconds, like a report of a client. Counts that cannot
// be written stay in memory; they are lost only if the process is killed.
//
// # Refreshes
//
// Refreshes buffers, for each account, the newest time of each key: sources that were seen,
// flags that were evaluated, API keys that were used. It writes the times every five seconds,
// and once more when it stops. It uses small transactions under the account's lock, at the
// lowest priority, for a few accounts at a time. So a refreshed time is visible within ten
// seconds. Times that cannot be written are kept and tried again; this is logged once per
// outage. The buffer is bounded per account and in total. New keys beyond a bound are dropped,
// because the next report repeats them. Refreshes are lost only if the process is killed.
package observations
