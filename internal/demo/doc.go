// Package demo runs a Signalbox that is full of data, with programs connected to it. A visitor sees the effect of a
// change at once: a new level in the console changes the output of the programs.
//
// Only the history is invented. The demo first starts a server with a clock that it moves from ninety days ago until now. Four
// people and their services make the requests that the files in data describe. The API cannot create runs in the past. So the
// demo writes runs to the store, in the steps of the scheduler and the worker, with invented results. Then the demo starts the
// server again with the real clock, and starts the programs as processes.
package demo
