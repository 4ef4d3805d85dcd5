// Package environments owns the deployment targets of an account and what
// running services report about themselves: services, contexts, context types
// and metrics.
//
// An environment has two independent axes. Managed decides whether values may
// be written for it and takes a slot of the plan; classification decides
// whether everybody sees it in the order of environments. What a service
// reports is discovered: AD_HOC and unmanaged. What a person makes is STANDARD
// and managed.
//
// The products (flags, logging, configs) hold values per environment. They ask
// Writable before they write one, and each registers a Holder, so that a
// deletion can count and strip what they hold without this package knowing them.
package environments
