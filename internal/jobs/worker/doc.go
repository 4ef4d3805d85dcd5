// Package worker executes runs: it claims pending runs, makes their requests and records the outcomes. It owns claims,
// leases and heartbeats. The rules of jobs and runs are in package jobs, package scheduler queues runs, and a Sender
// sends the requests.
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
//	PENDING ◀── no resources to send ── RUNNING
//
// A run is attempted at most once. It is claimed once, unless the node had no
// file descriptor or memory for the request: then nothing was sent, the claim is
// undone together with its metering, and the node claims nothing for a moment.
// A claim stores the worker's boot id as the lease. Every later change of the run
// requires that the run is RUNNING and, except for a cancellation, that the lease
// matches: so there is exactly one final transition.
//
// # Claiming
//
// A lane is an account and a host. Accounts with pending runs take turns, and
// so do the hosts of one account; within a lane the oldest run is first. The
// requests in flight are limited per node, account and host. Accounts that wait
// for the same host share its limit, and an account that is alone leaves an
// eighth of it for others. The accounts of a round are served in random order.
//
// A claim takes as many runs as the limits allow in one transaction, meters
// them, and fails runs that the account's plan does not include. A worker claims
// when a run is queued on its node, once a second for runs of other nodes, every
// millisecond with a backlog, and when a request ends while it is at its limits.
// If more accounts and lanes wait than one round covers, the worker covers all of
// them once before it waits.
//
// A claim locks the worker's row: a node that declares the worker lost waits for
// the claim and then finds all its runs, and a lost worker claims nothing. If the
// connection breaks during the commit of a claim, the worker waits until the claim
// has ended, and fails runs that it owns without knowing them as WORKER_LOST.
//
// Configurations that are not cached are read after the claim. If a configuration
// cannot be read or decrypted, its runs fail without a request.
//
// Outcomes are written in batches, and retried while the database does not
// answer. An outcome that the database refuses does not delay the others.
//
// A transaction that works for several accounts waits for none of them: a transaction
// of one account may hold its lock, or rows of its jobs, for long. Then the outcomes of
// that account wait apart and in their order, the runs that its plan does not include
// stay pending, and its runs of a lost worker are lost later. Outcomes that wait count
// as requests in flight of the account.
//
// # Liveness
//
// A worker sends a heartbeat every 2 s: it increments a number in its row.
// Workers watch each other's numbers on their own clocks, so clocks need not
// agree. When a number has not moved for 14 s, another worker removes the row, if
// the number is still the same in the database, and fails the silent worker's runs
// as WORKER_LOST: at most 18 s after the last heartbeat. A worker without a
// heartbeat for 10 s aborts its requests and claims nothing until a heartbeat
// succeeds. A node that restarts, known by its name and address, ends its
// previous boot at once.
//
// A worker watches only while it sees its own heartbeats arrive in the database. Of an outage, at most the first 4 s
// count as silence of the others, so that workers do not declare each other lost before their first heartbeats after it.
//
// A worker that is alone on its database, as on SQLite, aborts nothing when its
// heartbeats fail, because no other worker would declare it lost: while the disk
// is full its requests go on, and outcomes are written when there is space again.
//
// A worker whose clock is wrong claims nothing, because the clock stamps and
// meters runs, and declares no worker lost. Its heartbeats and requests go on.
//
// # Followers
//
// A process has one worker that sends heartbeats, and others that follow it: they have its boot and thus its leases, and
// claim only while its heartbeats succeed. The worker that sends the messages of webhooks is a follower. The store of a
// follower presents its queue as runs. Every follower has its own limits, so that one queue cannot use up the places of
// another. The transaction that declares a worker lost also makes the deliveries of its followers pending again.
//
// # Canceling
//
// A cancellation is written to the run first. The worker that makes the request
// is told directly or by notification, or notices within a second that it no
// longer owns the run. Then it aborts the connection.
//
// # Stopping
//
// Stop claims nothing more, lets requests finish until its context ends, aborts
// the rest as WORKER_LOST, writes all outcomes and removes the worker's row.
package worker
