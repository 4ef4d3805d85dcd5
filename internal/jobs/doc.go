// Package jobs owns scheduled HTTP requests: jobs, their runs, and the usage of
// accounts. Package scheduler fires jobs and package worker executes runs. The
// rules for both and for the API are in this package.
//
// A job is one outbound request and a schedule. When it fires, a run is recorded
// as PENDING; a worker claims it, makes the request and records the outcome.
//
// Backlog bounds the number of pending runs of an account. An Expirer cancels runs
// that were pending for too long.
//
// The configurations of a job are stored apart from it and encrypted as a whole,
// because they carry credentials. A run refers to the configuration it used, so its
// request can be shown even if the job was changed since.
//
// # Overlapping runs
//
// A job's overlap says what an instant does while a run of the job is PENDING or RUNNING: allow makes another run, skip
// makes none, and wait makes one that is held: it is PENDING in a lane that no worker claims, until the others have
// ended. There is at most one held run; a newer instant replaces it. Every transaction that queues, replaces or releases
// runs of such a job locks the job's row.
//
// # Attempts
//
// Without a retry, a run is attempted at most once. With one, Judge.End decides in the transaction that records a
// failure whether another attempt follows. It is a new run, RERUN of the one before, and waits in a lane that no worker
// claims until its not_before; then a scheduler releases it. So an attempt is neither lost nor doubled, whichever node
// dies. A chain ends with a success, with a failure that the retry does not cover, with the last attempt, when it is
// canceled, and when the job is written or deleted: attempts that wait are canceled, and a run that started with another
// version of the job is not followed. A chain is one outcome: its last run is final, the others are not counted.
//
// # Health
//
// Outcomes are the final runs that SUCCEEDED or FAILED. A canceled run is not an outcome. A write that disables a job
// pauses its health, and one that enables it makes it new; a one-off that has fired keeps its state.
//
//	state    success                         failure                    limit passed  disabled  enabled
//	new      ok                              failing after n in a row   late          paused    –
//	ok       ok                              failing after n in a row   late          paused    –
//	failing  ok after m in a row: recovered  failing                    failing       paused    new
//	late     ok if of the late instant or a  late                       late          paused    new
//	         later one: recovered
//	paused   paused                          paused                     paused        paused    new
//
// n is after_failures, m is recover_after. The limits are late_after_seconds from an instant to the start of its run,
// and no_success_for_seconds. Entering failing and late, and recovering, are events: changes of the kind job_health in
// the history, recorded in the transaction that changes the state. A healthy job's success is not stored in the job,
// except once an hour; its last_success_at is read from its runs.
//
// While a job is failing or late, a reminder is sent every remind_every_seconds from the start of that state. It is no
// change of the health, and goes to webhooks only.
//
// Runs are their own history. The record of changes has the changes of jobs, without
// header values, user information of URLs, and bodies.
package jobs
