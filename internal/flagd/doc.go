// Package flagd translates flags into the flag definitions of flagd, so that OpenFeature's in-process providers serve the
// value that this server would serve. It has no HTTP and no SQL.
//
// # Why rules are rewritten
//
// Rules here and targeting there are both JSON Logic. But every provider uses another implementation of it, and they differ in
// nearly everything that JavaScript's conversions decide: whether null equals 0, what null plus 1 is, what == does with two
// types. So a rule is not copied. It is rewritten into a small part of JSON Logic in which all implementations agree, as long as
// an attribute is absent or has the type that the rule compares it with.
//
// # How
//
// A condition is translated from the outside to the inside. Logical operators stay. Any other operation is made unconditional
// first: every part of its arguments that can have more than one shape moves out into an if. An attribute becomes three
// branches: given as user.x, given as x, and absent. In the first two the attribute is known to have a value. In the third, null
// takes its place, and an operation whose arguments are then all known is replaced by the result that the server computes for
// it. What remains compares attributes that have values, and is written down in the portable form of its operator.
//
// An operation without a portable form is refused with an [error], and its flag is left out: a provider then serves the default
// of the calling code, and no wrong value.
package flagd
