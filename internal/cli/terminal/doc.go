// Package terminal has the common parts of all commands: input and output, the formats of results, tables, colors, questions,
// and the exit codes. It knows no command and no resource.
package terminal
