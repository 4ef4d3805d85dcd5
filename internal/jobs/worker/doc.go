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
// requests are in flight is bounded for the node, for each account and for each
// host. Accounts that wait for the same host share its bound, one that is alone
// there leaves an eighth of it for others, and which account of a round is
// served first is left to chance: whoever always came first would get all the
// room that becomes free. A claim takes as many runs as there is room for in
// one transaction, meters them, and fails those that the account's plan does
// not include. Idle, a worker claims the moment a run is queued on its node and
// looks once a second for runs that others queued; with a backlog it claims
// every few milliseconds, so that a claim is worth its transaction; without
// room it claims when a request ends. When more accounts or hosts wait than one
// claim looks at and nothing can be claimed, it goes round once and then waits.
//
// A claim asks, in its transaction, whether the worker's row is still there,
// and keeps it from being removed until it has ended: whoever gives the worker
// up finds every run it has claimed, and one that was given up claims nothing.
// When the connection breaks while a claim is committed, the worker cannot know
// whether runs are its own. Once the database has decided, it fails those that
// it owns without knowing them as WORKER_LOST.
//
// What the claimed runs send is read after the claim, unless it is in memory,
// by one reader at a time. While the database does not answer, the runs wait
// for it like any that are in flight: they can be aborted, and if the worker
// ends before, they are WORKER_LOST. A configuration that cannot be read or
// unsealed fails its runs with nothing sent.
//
// # Outcomes
//
// Outcomes are written in batches: whatever has come while the last batch was
// written is the next one. When the database does not answer they are kept and
// tried again. One that the database refuses does not keep the others.
//
// # Liveness
//
// A worker beats every two seconds: it raises a number in its row. Workers
// watch each other's numbers on their own clocks, so clocks need not agree: one
// that has not moved for fourteen seconds belongs to a worker that is gone, and
// whoever notices removes the row, unless it has moved after all, and fails the
// worker's runs as WORKER_LOST: at most eighteen seconds after the last beat. A
// worker that cannot beat for ten seconds knows what the others are about to
// conclude: a fuse burns down, it aborts its requests, those of a claim under
// way too, and claims nothing until it beats again. Nothing but the beat itself
// can delay it: others are looked after by a loop of its own. A node that
// starts again, known by its name and address, gives up its previous boot at
// once.
//
// # Cancelling
//
// A cancellation is written to the run first. The worker that makes the
// request hears of it directly when it is on the same node, by notification
// from another, and at the latest by looking once a second at the runs it has
// in flight. A cancellation that comes between a claim and its requests is
// remembered for them. The worker aborts the connection; whatever it reports
// later is refused by the lease rule above.
//
// # Stopping
//
// Stop claims nothing more, lets requests finish while its context lasts,
// aborts the rest as WORKER_LOST, writes all outcomes and removes the row.
package worker
