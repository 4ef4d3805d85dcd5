// Package cli is the command line. Its commands are of two worlds: serve and admin work on the store, and are in package
// admin; all others speak to a server through the public client, and are here, in a file for each resource. What both share
// is in package terminal.
package cli
