// Package jobs owns scheduled HTTP requests: jobs, their runs, and what an
// account has used. Package scheduler fires jobs and package worker executes
// runs; both, and the API, go by the rules in this package.
//
// A job is one outbound request and a schedule. When it fires, a run is recorded
// as PENDING; a worker claims it, makes the request and records the outcome.
//
// How many runs of an account may be pending is bounded (Backlog), and so is how
// long: an Expirer cancels those that nobody got to.
//
// The configurations of a job are stored apart from it and encrypted as a whole,
// because they carry credentials. A run refers to the one it used, so its request
// can be shown however often the job was changed since.
//
// Runs are their own history. The record of changes has what people did to
// jobs, without header values, user information of URLs, and bodies.
package jobs
