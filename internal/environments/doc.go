// Package environments owns the deployment targets of an account.
//
// An environment has two independent axes. Managed decides whether values may
// be written for it and takes a slot of the plan; classification decides
// whether everybody sees it in the order of environments. What a running service
// reports is discovered: AD_HOC and unmanaged. What a person creates is STANDARD
// and managed.
//
// The products (flags, logging, configs) hold values per environment. They ask
// Writable before they write one; CountValues and StripValues of a transaction
// reach what they hold, without this package knowing them.
package environments
