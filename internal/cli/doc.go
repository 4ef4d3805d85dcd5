// Package cli is the command line. serve, migrate, keys, accounts and keyring
// work on the store through package app; it prints what they return, as text
// for people or as JSON for programs.
package cli
