// Command cmd prints the rule engine's benchmark.
package main

import (
	"fmt"
	"os"

	"github.com/signalbox/signalbox/bench/rules"
)

func main() {
	if err := rules.Run(os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
