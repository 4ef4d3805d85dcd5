// Package scheduler fires jobs: it turns due jobs into pending runs. It owns the time at which runs are queued. The
// rules of jobs are in package jobs, and package worker executes the runs.
//
// There is no leader. Every node runs one Scheduler, and the database decides:
//
//   - An enabled job has next_run_at, the next instant it fires for. Disabled
//     and deleted jobs have none.
//   - One transaction takes up to 1000 due jobs, oldest first. PostgreSQL skips
//     jobs that another transaction has locked, because another node is firing
//     them or a request is changing them. The transaction inserts one run per
//     job and advances next_run_at. A one-off disables itself and frees its slot.
//   - Both happen or neither: after a crash in between, the job is still due.
//   - The store refuses a second run for one (job, scheduled_for). Only a
//     clock that goes back, or a one-off set to an old instant, would make one.
//   - If a recurring job missed several instants while no node ran, it fires
//     only for the latest.
//
// An account with 100,000 pending runs, the most it may have, fires no more: its jobs
// skip their instants, which is counted, logged and shown by the job. A skipped
// one-off disables itself as if it had fired. No transaction is open while pending
// runs are counted.
//
// A clock that goes far ahead and comes back leaves jobs whose next_run_at is
// too far ahead. So a Scheduler reviews all jobs that are not due: at the start,
// when its clock goes back, and once an hour. It corrects next_run_at where the
// schedule has an earlier instant, in batches between checks for due jobs.
//
// A Scheduler also releases runs that have waited: further attempts whose time has come, and held runs when the earlier
// runs of their jobs have ended. And it marks jobs late, before it fires them: afterward nothing would tell that a job
// should have fired while no node ran. Nodes do not wait for each other: they skip locked rows. One query returns the
// time of the next task.
//
// No account waits for another one: while a transaction holds the lock of an account, its late jobs are neither marked nor
// fired, and its other jobs fire.
//
// A node whose clock is wrong fires and reviews nothing.
//
// A Scheduler sleeps until the next job is due, but at most a second: another
// node may have made a job due earlier, and clocks may jump. A write on this
// node that makes a job due wakes the Scheduler.
package scheduler
