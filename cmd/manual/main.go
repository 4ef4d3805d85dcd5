// Command manual writes the manual pages and completions of signalbox to a folder, for packages:
//
//	go run ./cmd/manual bin/manual
package main

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/signalbox/signalbox/internal/cli"
	"github.com/signalbox/signalbox/internal/cli/manual"
	"github.com/signalbox/signalbox/internal/cli/terminal"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: manual FOLDER")
		os.Exit(2)
	}
	root := cli.New(&terminal.Terminal{In: strings.NewReader(""), Out: io.Discard, Err: os.Stderr})
	if err := manual.Write(root, os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "manual:", err)
		os.Exit(1)
	}
}
