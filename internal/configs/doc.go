// Package configs owns configurations: typed items, a parent to inherit from,
// and overrides per environment.
//
// A config's chain leads from its root, by way of its ancestors, to itself. Its
// values are resolved along the chain: at every level first the items, then
// the environment's overrides; objects are merged member by member, everything
// else replaces what came before.
//
// A write keeps every chain whole that it touches: parents exist, chains end,
// a key has one type along a chain, an override has an item to override, and
// what a JSON item resolves to fits the item's schema. The account's lock makes
// that hold for writers that race. What a write would break further down is
// refused, naming the descendant and the key.
//
// The config named common is the parent of those that name none. It is made
// when somebody first asks for it.
package configs
