// Package jobs owns scheduled HTTP requests: jobs, their runs, and what an
// account has used. Package scheduler fires jobs and package worker executes
// runs; both, and the API, go by the rules in this package.
//
// A job is one outbound request and a schedule. When it fires, a run is recorded
// as PENDING; a worker claims it, makes the request and records the outcome.
//
// What a job sends is stored apart from the job, once for every configuration it
// has had, and encrypted as a whole, because header values, URLs and bodies carry
// credentials. A run refers to the configuration it used, so its request can be
// shown however often the job was changed since.
//
// Runs are their own history. The record of changes has what people did to
// jobs, without header values, user information of URLs, and bodies.
package jobs
