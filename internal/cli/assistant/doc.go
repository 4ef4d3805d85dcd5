// Package assistant is the server of the Model Context Protocol that signalbox mcp runs: tools that let an assistant read an
// account and, with --allow-writes, change a few things.
//
// Everything goes through the public client with one API key, so an assistant can never do more than the key. It may only
// set temporary levels, run jobs and revert changes. The first call of such a tool shows what would happen. The write is done
// when the same call is repeated with the confirmation of the first answer (see confirmations).
package assistant
