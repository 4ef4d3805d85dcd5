// Package cli is the command line. serve, migrate, keys, accounts and keyring work on the store through package app,
// events on a server through the public client. It prints results as text or as JSON.
package cli
