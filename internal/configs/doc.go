// Package configs owns configurations: typed items, a parent to inherit from, and overrides per environment.
//
// The chain of a config is its ancestors, the root first, and then itself. Values are resolved along the chain: at every
// level first the items, then the environment's overrides. Objects are merged member by member; any other value replaces
// the one before.
//
// A write must keep every chain valid that it touches: parents exist, there are no cycles, a key has one type along a
// chain, an override has an item to override, and the resolved value of a JSON item fits the item's schema. The
// account's lock keeps racing writers from breaking these rules together. A write that would break a config below is
// refused with an error that names the config and the key.
//
// The work of checking is limited. It is computed from the sizes of schemas and values before it is done; see maxSteps.
//
// The config common is the default parent. It is created when it is first needed.
package configs
