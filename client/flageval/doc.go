// Package flageval decides which value of a feature flag a context gets, without a network and without a clock.
//
// It owns the six steps of flag evaluation: find the flag, read the context, find the environment's configuration,
// serve the default when the environment is switched off, else the value of the first rule that matches, else the
// default. It does not fetch, cache or store flags, does not validate contexts, and leaves the rules themselves to
// package jsonlogic.
//
// A [Definition] is what both sides have: a server fills it from rows, a client decodes it from a flag document's
// attributes. [Compile] prepares it once. A [Snapshot] holds all flags of an account with all their environments; a
// [View] holds them for one environment; a [Live] publishes a view to readers that never wait. Definitions, compiled
// flags, snapshots and views never change after they are made.
//
// # What was decided
//
//   - An environment that the flag does not configure serves the top-level default: reason STATIC, as for an environment
//     without rules.
//   - A default of null in an environment is none: the top-level default is served. A top-level default may be null for
//     JSON flags only.
//   - The rule `{}` never matches, although JSON Logic calls an empty object true.
//   - A rule that does not compile, whose value does not fit the flag's type, or whose evaluation fails, does not match;
//     the next one is asked. [Flag.Problems] lists what Compile found. The reason is ERROR only when nothing can be
//     served: no such flag, another type than asked for, or no usable default.
//   - SPLIT is the reason when the matching rule computed a `fractional` bucket on the way to its result.
//   - Values keep their text, so that the order of keys and the spelling of numbers reach the reader of a JSON flag.
//
// Reading a flag through a view does not allocate for rules that do not build values.
package flageval
