// Package cli is the command line. serve, migrate, keys, accounts and keyring
// work on the store through package app, events on a server through the public
// client; it prints what they return, as text for people or as JSON for
// programs.
package cli
