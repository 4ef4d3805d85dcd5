// Package app puts Signalbox together. It is the only package that knows all
// others: New builds everything from the settings, Start begins to serve, Stop
// ends in the opposite order.
//
// What the command line does to the store without a server is here as well,
// because it needs the same parts: see Operator.
package app
