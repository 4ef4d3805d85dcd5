// Package scheduler fires jobs: it turns jobs that are due into pending runs.
//
// There is no leader. Every node runs one Scheduler, and the database decides:
//
//   - An enabled job has next_run_at, the next instant it fires for. Disabled
//     and deleted jobs have none.
//   - One transaction takes up to 1000 due jobs, oldest first. PostgreSQL skips
//     jobs that another transaction has locked: another node is firing them, or
//     somebody is changing them. It inserts one run per job and advances
//     next_run_at from there. A one-off disables itself and frees its slot.
//   - Both happen or neither: after a crash in between, the job is still due.
//   - The runs table refuses a second run for one (job, scheduled_for), which
//     only a clock that goes back or a one-off set to an old instant would make.
//   - Of the instants that were missed while nothing ran, a recurring job fires
//     for the latest only.
//
// An account that has as many pending runs as it may have (100,000) fires no more:
// its jobs skip their instants, which is counted, logged and shown by the job. A
// one-off that is skipped disables itself like one that has fired. No transaction is
// open while pending runs are counted.
//
// A clock that goes far ahead and comes back leaves jobs whose next_run_at is
// too far ahead. At the start, when its clock goes back, and once an hour, a
// Scheduler reviews all jobs that are not due and corrects next_run_at where
// the schedule has an earlier instant, in batches between checks for due jobs.
//
// A node whose clock is wrong fires and reviews nothing.
//
// A Scheduler sleeps until the next job is due, but at most a second: another
// node may have made an earlier one, and clocks may jump. A write on this node
// that makes a job due wakes it.
package scheduler
