// Package imports translates what other systems export to the resources that signalbox apply reads. It is pure: text in,
// resources and a report out.
//
// A translation never guesses. A rule that cannot be said here is left out and reported, with what that means; everything
// else decides as it did, with two exceptions that every report names where they apply: percentages choose other users,
// because each system has its own hash, and what a rule reads of a context without a type is read from the user.
package imports
