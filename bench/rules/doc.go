// Package rules measures the rule engine beside its peers: the same three rules over the same data, in one run.
//
// Every contender gets its rule and its data in the form that it likes best, prepared before the clock starts, and is
// checked to decide as the rule says. The contenders take turns in short rounds, so that a busy machine slows all of
// them alike. The figure of each is its best round, which is what the code costs when nothing else runs, and the ratio
// compares best rounds; the median shows how busy the machine was. Run prints the tables and does not judge them.
package rules
