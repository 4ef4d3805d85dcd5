// Package demo runs a Signalbox that is full of data, with three programs connected to it, so that a visitor sees at once
// what it does: pressing a level in the console changes what the programs print.
//
// Everything is real but the past. The demo starts a server on a clock that it moves itself, from ninety days ago until now,
// and lets four people and their services do what the files in data describe, through the API. Runs of jobs cannot be made
// there for the past: the store writes them, in the steps of the scheduler and the worker, with results that are made up.
// Then the demo starts the server anew on the real clock, and the programs as processes of their own.
package demo
