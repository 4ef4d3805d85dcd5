// Package rules measures the rule engine beside its peers: the same three rules over the same data, in one run.
//
// Every contender gets its rule and its data in the form that it likes best, prepared before the clock starts, and is
// checked to decide as the rule says. The contenders take turns in short rounds, so that a busy machine slows all of
// them alike; the figure of each is its median round. Run prints the table and does not judge it.
package rules
