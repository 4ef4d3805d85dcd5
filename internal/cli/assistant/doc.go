// Package assistant is the server of the Model Context Protocol that signalbox mcp runs: the tools with which an assistant
// looks at an account and, if whoever started it allows that, changes a few things.
//
// Everything goes through the public client with one API key, so an assistant can never do more than the key. What it may
// change is less than that: levels for a limited time, runs of jobs, and reverts. Each is shown first and done only when
// the same call is repeated with the confirmation that the first answer had (see confirmations).
package assistant
