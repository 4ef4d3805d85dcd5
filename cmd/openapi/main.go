// Command openapi prints the description of the HTTP interface as JSON, for programs that generate code from it.
package main

import (
	"fmt"
	"os"

	"github.com/signalbox/signalbox/openapi"
)

func main() {
	document, err := openapi.JSON()
	if err != nil {
		fmt.Fprintln(os.Stderr, "openapi:", err)
		os.Exit(1)
	}
	fmt.Fprintf(os.Stdout, "%s\n", document)
}
