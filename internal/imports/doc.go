// Package imports translates what other systems export to the resources that signalbox apply reads. It is pure: text in,
// resources and a report out.
//
// A translation never guesses. A rule that Signalbox cannot express is left out and reported, with what that means; so is
// what decides otherwise here, such as percentages, which choose other users because each system has its own hash. A flag
// that the report does not name decides as it did: testdata/parity has exports and the answers of the other products for
// them, and the tests of internal/cli compare.
//
// What a rule reads of a context without a type is read from the user.
package imports
