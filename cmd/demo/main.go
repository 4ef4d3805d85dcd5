// Command demo runs a Signalbox that is full of data, with programs connected to it:
//
//	make demo
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/signalbox/signalbox/internal/demo"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "demo:", err)
		stop()
		os.Exit(1)
	}
}

// run runs the demo, or only the program that the first argument names.
func run(ctx context.Context) error {
	python := flag.String("python", "", "also run clients/python/demo.py with this `interpreter`")
	node := flag.String("node", "", "also run clients/typescript/demo.mjs with this `interpreter`")
	flag.Parse()
	if flag.NArg() > 0 {
		return demo.RunProgram(ctx, flag.Arg(0), os.Stdout)
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	var others []demo.Other
	if *python != "" {
		others = append(others, demo.Other{Name: "recommendations", Command: []string{*python, "clients/python/demo.py"}})
	}
	if *node != "" {
		others = append(others, demo.Other{Name: "storefront", Command: []string{*node, "clients/typescript/demo.mjs"}})
	}
	return demo.Run(ctx, demo.Options{Out: os.Stdout, Program: self, Others: others, Listen: os.Getenv("SIGNALBOX_LISTEN")})
}
