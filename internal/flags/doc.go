// Package flags owns feature flags: typed values, the configuration per environment with its
// targeting rules, and the services that declare them.
//
// A flag is discovered when a running service declares it, and managed when a
// person configures it. A discovered flag has no configuration and serves its
// declared default; the first write that says managed: true promotes it, and a
// managed flag stays managed until it is deleted.
//
// Rules are compiled by client/jsonlogic before they are stored, so a stored rule always evaluates.
// Package client/flageval evaluates flags, in the server and in clients alike. Snapshots keeps the
// compiled flags of each account, current to the last acknowledged write, for evaluation on the
// server. It drops the flags of accounts that have not evaluated for an hour, and the least
// recently used ones when all snapshots together are too large.
//
// Package observations delivers the declarations of services and the times of
// evaluations; see report.go.
package flags
