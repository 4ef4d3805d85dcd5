// Package configs owns configurations: typed items, a parent to inherit from, and overrides per environment.
//
// The chain of a config is its ancestors, the root first, and itself. Values are resolved along the chain: at every
// level first the items, then the environment's overrides; objects are merged member by member, everything else
// replaces what came before.
//
// A write must keep every chain valid that it touches: parents exist, there are no cycles, a key has one type along a
// chain, an override has an item to override, and what a JSON item resolves to fits the item's schema. The account's
// lock keeps racing writers from breaking that together. A write that would break a config further down is refused,
// naming it and the key.
//
// Checking has a limit that is counted from the sizes of schemas and values before the work is done; see maxSteps.
//
// The config named common is the parent of those that name none. It is created when it is first needed.
package configs
