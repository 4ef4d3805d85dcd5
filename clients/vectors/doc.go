// Package vectors has no code: its test writes the files beside it from the Go packages, and fails when they are stale.
// The clients in other languages run them; see README.md.
//
//go:generate go test . -run TestVectors -update
package vectors
