// Package jobs owns scheduled HTTP requests: jobs, their runs, and what an
// account has used.
//
// A job is one outbound request and a schedule. When it fires, a run is
// recorded as PENDING; a worker claims it, makes the request and records what
// came of it. Package scheduler fires jobs and package worker executes runs;
// their documentation explains the protocols. This package holds the rules
// that both, and the API, go by.
//
// What a job sends is kept apart from the job, once for every configuration it
// has had: a run refers to the one it used, so its request can be shown
// however often the job was changed since, without a copy per run. The whole
// configuration is sealed at rest, because header values, URLs and bodies
// carry credentials.
//
// Runs are their own history. The record of changes has what people did to
// jobs, with header values, user information of URLs and bodies left out.
package jobs
