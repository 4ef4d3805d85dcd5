// Package flagd translates flags into the flag definitions of flagd, so that OpenFeature's in-process providers serve the
// value that this server would serve. It has no HTTP and no SQL.
//
// # Why rules are rewritten
//
// Signalbox's rules and flagd's targeting are both JSON Logic. But the implementations of the providers differ wherever
// JavaScript converts types: whether null equals 0, what null plus 1 is, what == does with two types. So a rule is not copied.
// It is rewritten into a small part of JSON Logic in which all implementations agree, as long as an attribute is absent or has
// the type that the rule compares it with.
//
// # How
//
// A condition is translated from the outside to the inside. Logical operators stay. Any other operation is made unconditional
// first: every part of its arguments that can have more than one shape moves out into an if. An attribute becomes three
// branches: given as user.x, given as x, and absent. In the first two the attribute is known to have a value. In the third, null
// takes the attribute's place, and an operation that then has only known arguments is replaced by the server's result for it.
// The remaining operations compare attributes that have values, and are written in the portable form of their operator.
//
// An operation without a portable form is refused with an [error], and its flag is left out: a provider then serves the default
// of the calling code, and no wrong value.
package flagd
