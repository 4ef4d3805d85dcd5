// Package jsonlogic compiles JSON Logic rules and evaluates them without allocating.
//
// It owns the rule language: it compiles, evaluates and explains rules and lists the variables they read. It does no I/O,
// reads no clock, and does not know flags or environments (see package flageval).
//
//	rule, err := jsonlogic.Compile([]byte(`{"==": [{"var": "user.plan"}, "pro"]}`))
//	data, err := jsonlogic.Parse([]byte(`{"user": {"plan": "pro"}}`))
//	matched := rule.Decide(data).Matched
//
// # How it works
//
// [Compile] parses the rule into a tree, checks the limits, and compiles every node to a function. Paths are split, lists
// of scalars are prepared for `in`, and operators read plain variables without another function call. Data is
// prepared once too, as a [Value]: parsed from JSON, converted from Go values, or built with [Object] and [Array].
// Evaluating allocates only in operators that make something new: `map`, `filter`, `reduce`, `merge`, `missing`, `cat`,
// array literals that an operator returns, and conversions of arrays to text.
//
// # Semantics
//
// A rule means the same as in the reference implementation, json-logic-js 2, corner cases included: an object with one key is
// an operation and every other object is data; a single argument needs no list; missing arguments are undefined; empty
// arrays are falsy. Coercion is JavaScript's: == and < convert, numbers are float64 and are written as JavaScript writes
// them, `+` and `*` parse text with parseFloat while `-`, `/`, `%`, `max` and `min` use Number, and strings are measured
// and compared in UTF-16 code units. `log` returns its argument and prints nothing.
//
// == and === compare arrays and objects by identity. Values of the data and object literals of the rule keep their
// identity. An array literal, or an operator such as `map`, makes a new array at each evaluation.
//
// flagd's operators are supported too, with the results of flagd's Go library: `fractional` (hashes the flag's key and
// the targeting key, or its first argument if that is a string, with murmur3), `starts_with`, `ends_with` and
// `sem_ver`. Arguments of these operators are not coerced: a wrong type results in null. [FlagKey] sets the flag's key,
// which `{"var": "$flagd.flagKey"}` reads outside of loops. The targeting key is `targetingKey` of the data, else
// `user.key`; a number is used as text. There is no `$flagd.timestamp`: a rule's result depends on its data alone.
//
// # Differences from the reference
//
// The tests evaluate tens of thousands of generated rules with both implementations and allow only these differences:
//
//   - Compile rejects unknown operators anywhere; the reference fails only when it reaches one.
//   - `var` does not find members that JavaScript objects inherit (constructor, toString, map, …), except for the length
//     and the elements of strings and arrays.
//   - An object of the data with a member named toString, valueOf or indexOf is like any other; the reference fails when
//     it converts or searches such an object.
//   - Data is never evaluated as a rule. The reference does so in `missing` and `missing_some` if a key is an object
//     with one key.
//   - Half of a surrogate pair is U+FFFD: UTF-8 cannot represent it.
//   - A rule has at most [MaxSource] bytes, [MaxNodes] nodes and [MaxDepth] levels. An evaluation that loops over more than
//     about a million nodes, or builds very large or deep values, fails with [ErrLimit].
//
// Where the reference throws a TypeError (a product of no factors, `missing_some` of nothing) an evaluation fails with
// [ErrType].
package jsonlogic
