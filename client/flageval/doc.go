// Package flageval decides which value of a feature flag a context gets. It does no I/O and reads no clock.
//
// It owns the six steps of flag evaluation: find the flag, read the context, find the environment's configuration, serve
// the default when the environment is disabled, else the value of the first rule that matches, else the default. It does
// not fetch or store flags or validate contexts, and package jsonlogic evaluates the rules.
//
// The server fills a [Definition] from its database, and the client from a flag document. [Compile] prepares it once for all
// environments, and [Flag.In] returns it in one of them. Definitions and flags are immutable.
//
// # Decisions
//
//   - An environment without a configuration serves the top-level default with reason STATIC, like one without rules.
//   - A null default of an environment means the top-level default. Only a JSON flag's top-level default may be null.
//   - The rule `{}` never matches, although an empty object is true in JSON Logic.
//   - A rule does not match if it does not compile, its value has the wrong type, or its evaluation fails; the next one is
//     evaluated. [Flag.Problems] returns what Compile found. The reason is ERROR only when nothing can be served: no such
//     flag, another type than requested, or no usable default.
//   - The reason is SPLIT when the matching rule evaluated a `fractional` bucket.
//   - Values keep their text, so that a JSON flag's key order and number spelling reach the reader.
//
// Evaluating a flag does not allocate unless a rule builds values.
package flageval
