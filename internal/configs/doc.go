// Package configs owns configurations: typed items, a parent to inherit from, and overrides per environment. It owns
// their rules and their resolution. It does not know which services read them: package api sends them the resolved
// values.
//
// The chain of a config is the config with its ancestors, the root first. Values are resolved along the chain: at every
// level first the items, then the environment's overrides. Objects are merged member by member. Any other value replaces
// the value before it.
//
// A write must keep every chain valid that it touches: parents exist, there are no cycles, a key has one type along a
// chain, an override has an item to override, and the resolved value of a JSON item fits the item's schema. The
// account's lock prevents concurrent writers from breaking these rules together. A write that would break a descendant
// is refused with an error that names the descendant and the key.
//
// The work of a check is limited. It is estimated from the sizes of schemas and values before the check; see maxSteps.
//
// The config common is the default parent. It is created when it is first needed.
package configs
