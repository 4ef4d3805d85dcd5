// Package summary says in plain sentences what a change did: "Rule 3 moved to 1", "timeout_ms 1500
// → 4000". The console, the command line and webhooks show the same sentences. They are made from
// the two documents of a recorded change, which have no secrets. The package only compares these
// documents: it knows no database and no caller.
//
// Most members are compared by name (members.go). Rules of flags are matched by their
// content, not by their place (rules.go).
package summary
