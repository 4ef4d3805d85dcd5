// Package terminal has what all commands share: their input and output, the formats that results are printed in, tables,
// colours, questions, and the exit codes. It knows no command and no resource.
package terminal
