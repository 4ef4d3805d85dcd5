// Package jsonlogic compiles JSON Logic rules and evaluates them without allocating.
//
// It owns the rule language: reading a rule, refusing a bad one with a pointer to the place, deciding, explaining, and
// telling which variables a rule reads. It does not know what a flag or an environment is (see package flageval), does
// not fetch or store anything, does no I/O and reads no clock.
//
//	rule, err := jsonlogic.Compile([]byte(`{"==": [{"var": "user.plan"}, "pro"]}`))
//	data, err := jsonlogic.Parse([]byte(`{"user": {"plan": "pro"}}`))
//	matched := rule.Decide(data).Matched
//
// # How it works
//
// [Compile] parses the rule into a tree, checks it against the limits, and turns every node into a function over the
// node's data. Paths are split, lists of scalars are prepared for `in`, and operators that compare a variable with a
// literal read both directly. Data is prepared once too, as a [Value]: parsed from JSON, converted from Go values, or
// put together with [Object] and [Array]. Evaluating then only follows pointers; what allocates are operators that make
// something new: `map`, `filter`, `reduce`, `merge`, `missing`, `cat`, array literals that are passed on, and
// conversions of arrays to text. [Rule.Explain] compiles the same tree once more with every node reporting what it did.
//
// # Semantics
//
// They are those of the reference implementation, json-logic-js 2, including its corners: an object with one key is an
// operation and every other object is data, returned as it stands; a lone argument needs no list; short argument lists
// leave arguments undefined; empty arrays are falsy. Coercion is JavaScript's: == and < convert, numbers are float64
// and are written as JavaScript writes them, `+` and `*` read text with parseFloat while `-`, `/`, `%`, `max` and `min`
// use Number, strings have a length and compare by UTF-16 code units. `log` returns its argument and prints nothing.
//
// Arrays and objects are equal by == and === only to themselves. Itself is the same place of the data, however it was
// reached; an object literal of the rule; or one evaluation of one array literal or operator. Two lists that stand in a
// rule are never equal, nor is a list of the rule equal to one of the data.
//
// Beside the reference's operators there are those of flagd, with the results of its current Go library: `fractional`
// (murmur3 of the flag's key and the targeting key, or of the string that its first argument gives), `starts_with`,
// `ends_with`, `sem_ver`. Their arguments are not coerced: what does not fit gives null. The flag's key is given with
// [FlagKey] when the rule is compiled, and `{"var": "$flagd.flagKey"}` reads it outside of loops. The targeting key is
// `targetingKey` of the data, else `user.key`; a number counts by its text. There is no `$flagd.timestamp`: a rule's
// result depends on its data alone.
//
// # Differences from the reference
//
// The tests run tens of thousands of generated rules through both and allow only these:
//
//   - Unknown operators are refused by Compile, wherever they stand; the reference fails only when it reaches one.
//   - Members that JavaScript objects inherit (constructor, toString, map, …) do not exist for `var`; the reference
//     returns functions of its own runtime. A string's and an array's length, and their elements, do exist.
//   - An object of the data that has a member named toString, valueOf or indexOf is an object like any other; the
//     reference fails when it converts or searches it.
//   - Data is never run. The reference's `missing` and `missing_some` evaluate a key that is an object with one key,
//     which lets whoever supplies the data supply rules.
//   - Half a surrogate pair, written as an escape or left by a cut through a pair, is U+FFFD: UTF-8 cannot hold it.
//   - Limits. A rule has at most [MaxSource] bytes, [MaxNodes] nodes and [MaxDepth] levels. An evaluation that loops over
//     more than about a million nodes, or builds more text or deeper values than anyone needs, fails with [ErrLimit]
//     where the reference would run on until its memory is used up.
//
// Where the reference throws a TypeError (a product of no factors, `missing_some` of nothing) an evaluation fails with
// [ErrType].
package jsonlogic
