// Package worker executes runs: it claims pending ones, makes their requests
// and records what came of them.
//
// # The states of a run
//
//	            claim                  outcome
//	PENDING ───────────────▶ RUNNING ───────────▶ SUCCEEDED or FAILED
//	   │  ╲                     │ │
//	   │   ╲ over the plan      │ ╰─ worker gone ──▶ FAILED, WORKER_LOST
//	   │    ╰──▶ FAILED,        │
//	   ╰─ cancel  QUOTA_EXCEEDED╰─ cancel
//	         ╰────────▶ CANCELED ◀───╯
//
// A run is claimed at most once and so attempted at most once. Claiming writes
// the lease, the boot of the worker, and every later change of a running run
// asks for RUNNING and, but for a cancellation, for that lease: exactly one
// final transition happens, whoever else tries.
//
// # Claiming
//
// A lane is an account and a host. Accounts with pending runs take turns, and
// so do the hosts of one account, oldest run first within a lane. How many
// requests are in flight is bounded for the node, for each account and for
// each host. A claim takes as many runs as there is room for in one
// transaction, meters them, and fails those that the account's plan does not
// include. Idle, a worker claims the moment a run is queued on its node and
// looks once a second for runs that others queued; with a backlog it claims
// every few milliseconds, so that a claim is worth its transaction.
//
// # Outcomes
//
// Outcomes are written in batches: whatever has come while the last batch was
// written is the next one. When the database does not answer they are kept and
// tried again.
//
// # Liveness
//
// A worker beats every three seconds: it raises a number in its row. Workers
// watch each other's numbers on their own clocks, so clocks need not agree: one
// that has not moved for fifteen seconds belongs to a worker that is gone, and
// whoever notices removes the row, unless it has moved after all, and fails the
// worker's runs as WORKER_LOST. A worker that cannot beat for eleven seconds
// knows what the others are about to conclude: it aborts its requests and
// claims nothing until it beats again. A node that starts again, known by its
// name and address, gives up its previous boot at once.
//
// # Cancelling
//
// A cancellation is written to the run first. The worker that makes the
// request hears of it directly when it is on the same node, by notification
// from another, and at the latest by looking once a second at the runs it has
// in flight. It aborts the connection; whatever it reports later is refused by
// the lease rule above.
//
// # Stopping
//
// Stop claims nothing more, lets requests finish while its context lasts,
// aborts the rest as WORKER_LOST, writes all outcomes and removes the row.
package worker
