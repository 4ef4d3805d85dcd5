// Package rules compares the rule engine with its peers: the same three rules over the same data, in one run.
//
// Every contender gets its rule and its data in its fastest form, prepared before the clock starts. Its decisions are checked.
// Package compare measures the contenders. Run prints the tables and does not judge them.
package rules
