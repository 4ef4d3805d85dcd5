// Package flags owns feature flags: typed values, the configuration per
// environment with its targeting rules, and where flags are seen.
//
// A flag is discovered when a running service declares it, and managed when a
// person configures it. A discovered flag has no configuration and serves its
// declared default; the first write that says managed: true promotes it, and a
// managed flag stays managed until it is deleted.
//
// Rules are compiled by client/jsonlogic before they are stored, so a stored
// rule always evaluates. Snapshots keeps the compiled flags of each account,
// current to the last acknowledged write, for evaluation on the server; it drops
// those of accounts that have not evaluated for an hour, and when all together
// become too large.
//
// What services declare, and when flags were evaluated, comes through package
// observations; see report.go.
package flags
