// Package cli is the command line. The commands serve and admin work on the store and are in package admin. All other commands
// speak to a server through the public client and are in this package, in a file for each resource. Package terminal has the
// common parts.
package cli
