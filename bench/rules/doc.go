// Package rules measures the rule engine beside its peers: the same three rules over the same data, in one run.
//
// Every contender gets its rule and its data in the form that it likes best, prepared before the clock starts, and is
// checked to decide as the rule says. Package compare measures them. Run prints the tables and does not judge them.
package rules
