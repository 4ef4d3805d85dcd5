// Package admin has the commands that work on the store: serve, and everything below signalbox admin. They go through
// package app, beside a running server or without one. Commands that speak to a server are in package cli.
package admin
