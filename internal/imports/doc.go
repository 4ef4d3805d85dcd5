// Package imports translates exports of other systems to the resources that signalbox apply reads. It is pure: text in,
// resources and a report out.
//
// A translation never guesses. A rule that Signalbox cannot express is left out, and the report says what that means. The
// report also names everything that decides differently in Signalbox, such as percentages, which choose other users because
// each system has its own hash. A flag that the report does not name decides as before: testdata/parity has exports and the
// answers of the other products for them, and the tests of internal/cli compare.
//
// Attributes of contexts without a type become attributes of the user.
package imports
