// Package imports translates exports of other systems to the resources that signalbox apply reads. It is pure: it takes
// text, and returns resources and a report.
//
// A translation never guesses. If Signalbox cannot express a rule, the rule is omitted, and the report says what that
// means. The report also names everything that decides differently in Signalbox. For example, percentages choose other
// users, because each system has its own hash. A flag that the report does not name decides as before. testdata/parity has
// exports of the other products and their answers, and the tests of internal/cli compare them.
//
// Attributes of a context without a type become attributes of the user.
package imports
