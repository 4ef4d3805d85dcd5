// Package scheduler fires jobs: it turns jobs that are due into pending runs.
//
// There is no leader. Every node runs one Scheduler, and the database decides:
//
//   - A job that fires has next_run_at, the next instant it fires for. Jobs
//     that are disabled or deleted have none.
//   - A tick takes up to 1000 due jobs in one transaction, oldest first. On
//     PostgreSQL it skips jobs that another transaction has locked: another
//     node is firing them, or somebody is changing them. It inserts one run per
//     job and moves next_run_at on, from the instant it fired for. A one-off
//     disables itself and frees its slot of the plan.
//   - Both happen or neither: a node that dies in between leaves the job due,
//     and the next tick of any node fires it.
//   - The runs table refuses a second run for one (job, scheduled_for). With
//     the row lock that is never needed; it is there because clocks go back,
//     and people set a one-off to an instant it has already had.
//   - Instants that were missed while nothing ran are not made up for one by
//     one: a recurring job fires once, for the latest of them.
//
// A clock that goes far ahead and comes back leaves jobs behind whose
// next_run_at is far ahead as well. When it starts, when it sees its clock go
// back, and once an hour, a Scheduler looks at all jobs that are not due and
// computes those anew that would sleep longer than their schedule says, a batch
// at a time between looks for due ones.
//
// Between ticks a Scheduler sleeps until the next job is due, but never longer
// than a second: another node may have made an earlier one, and clocks may
// jump. A write on this node that makes a job due wakes it at once. When the
// database does not answer, it goes on trying, and what was missed is missed
// as above.
package scheduler
