// Command demo runs a Signalbox that is full of data, with three programs connected to it:
//
//	make demo
package main

import (
	"context"
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
	if len(os.Args) > 1 {
		return demo.RunProgram(ctx, os.Args[1], os.Stdout)
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	return demo.Run(ctx, demo.Options{Out: os.Stdout, Program: self, Listen: os.Getenv("SIGNALBOX_LISTEN")})
}
