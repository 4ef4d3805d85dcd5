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
//     slices of 256 items, or of 1,536 while no other report is under way. One report
//     of an account writes at a time; small reports that arrive meanwhile are written
//     together in the next transaction. If too many reports wait, further ones are
//     refused. If a caller disconnects, its report is dropped unless it is being
//     written. A transaction may refuse one report, before it writes any of it, and
//     still write the others.
//   - A slice creates the flags or loggers that its items need, as one change and
//     one event. So a large report has several changes: a single one would need a
//     single transaction, or leave rows without a change for a while.
//   - An answered report is durable. A client repeats a report that failed, and the
//     repetition writes the rest.
//   - An item that is stored already only refreshes an instant, such as last_seen.
//     Refreshes are buffered, see below.
//   - New rows past a hard cap are dropped; known rows are still refreshed. An account
//     that was full counts as full for ten seconds, so that a fleet past the cap does
//     not take the account's lock with every report.
//
// Flags and logging implement Product, which decides what a source contains and what
// happens when it is new.
//
// # Metrics
//
// Every measurement is added to the sums of its minute and of its hour, in one
// transaction, so that both agree. Sums by the minute are kept for a week, sums by the
// hour for 90 days. The number of sums of an account for one minute or hour is
// bounded; new sums past the bound are dropped and counted.
//
// Evaluations counts the server's own evaluations in memory, for each account,
// environment, flag and value. It writes the counts every five seconds like a report
// of a client. Counts that cannot be written are kept; only a process that is killed
// loses them.
//
// # Refreshes
//
// Refreshes keeps, for each account, the newest instant of each key: sources
// that were seen, flags that were evaluated, API keys that were used. Every five
// seconds, and once more when it stops, it writes them in small transactions under the
// account's lock, at the lowest priority, a few accounts at a time. So a refreshed
// instant is visible within ten seconds. Instants that cannot be written are kept and
// tried again, and logged once per outage. The buffer is bounded for each account and
// in total. New keys past a bound are dropped, because the next report repeats them.
// Only a process that is killed loses refreshes.
package observations
