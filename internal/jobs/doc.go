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
// Runs are their own history. The record of changes has the changes of jobs, without
// header values, user information of URLs, and bodies.
package jobs
