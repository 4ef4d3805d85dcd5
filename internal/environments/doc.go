// Package environments owns the deployment targets of an account.
//
// An environment has two independent properties. Managed decides whether values may be written
// for it; a managed environment takes a slot of the plan. Classification decides whether
// everybody sees it in the order of environments. An environment that a running service reports
// is discovered: AD_HOC and unmanaged. An environment that a person creates is STANDARD and
// managed.
//
// The products (flags, logging, configs) store values per environment. They call
// Writable before they write a value. This package does not know the products: it
// reaches their values through CountValues and StripValues of a transaction.
package environments
