// Package observations owns what running services report: services, contexts,
// context types and metrics as resources of its own, and for flags and loggers
// the way from a report to the database.
//
// # From a report to the database
//
//   - A report is read item by item. Bad items are rejected with their index; the
//     rest is merged, so that every item that is left is distinct.
//   - It is compared with what is stored in a read that locks nothing. Nearly all
//     reports say what is known already. Only a few large reports are read and
//     compared at once, so that a fleet that starts leaves processors to other requests.
//   - What is new or different is written before the answer, at the lowest
//     priority, in slices of 256 items, or of 1,536 while no other report is under
//     way. One report of an account writes at a time; small ones that arrive
//     meanwhile are written together in the next transaction. When too many wait,
//     more are refused. A caller that leaves takes its report along, unless that is
//     being written. A report may be refused inside the transaction, before anything
//     of it is written, without failing the others that share it.
//   - A slice creates the flags or loggers that its items need, as one change and
//     one event. So a large report has several changes: one for all would mean one
//     transaction, or rows that no change makes known.
//   - What was answered is durable. A report that fails later is repeated, and
//     finds what is left to do.
//   - What is known and says the same is only a refresh of an instant, such as
//     last_seen. Refreshes are buffered, see below.
//   - New rows past a hard cap are dropped, known ones are refreshed all the same.
//     An account that was full is taken for full for ten seconds, so that a fleet
//     past the cap does not take the account's lock with every report.
//
// What a source says, and what it means that one is new, is the product's to
// decide: flags and logging implement Product.
//
// # Metrics
//
// Every measurement is added to the sums of its minute and of its hour, in one
// transaction, so that both say the same. Sums by the minute are kept for a week
// and those by the hour for 90 days. How many sums an account may have for one
// minute or hour is bounded; new ones past that are dropped and counted.
//
// What the server evaluates itself is counted in memory by Evaluations, for each
// account, environment, flag and value, and written every five seconds as a client
// would report it. What cannot be written is kept; only a process that is killed
// loses counts.
//
// # Refreshes
//
// Refreshes keeps, for each account, the newest instant of each key: sources
// that were seen, flags that were evaluated, API keys that were used. Every five
// seconds it writes them in small transactions under the account's lock, at the
// lowest priority, a few accounts at a time; and once more when it stops. So a
// refreshed instant is visible within ten seconds. What cannot be written is
// kept and tried again, which is logged once per outage. The buffer is bounded
// for each account and in total; past that new keys are dropped, because the
// next report repeats them. Only a process that is killed loses refreshes.
package observations
