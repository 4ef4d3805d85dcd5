// Command bench compares Signalbox with its peers. Every comparison is made in one
// run, on one machine, and prints the ratio. The results are also written to a file
// with their date, commit and machine. It needs bin/signalbox, which make bench
// builds first.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"time"

	"github.com/signalbox/signalbox/bench/bulk"
	"github.com/signalbox/signalbox/bench/configs"
	"github.com/signalbox/signalbox/bench/growth"
	"github.com/signalbox/signalbox/bench/jobs"
	"github.com/signalbox/signalbox/bench/live"
	"github.com/signalbox/signalbox/bench/logging"
	"github.com/signalbox/signalbox/bench/ofrep"
	"github.com/signalbox/signalbox/bench/reads"
	"github.com/signalbox/signalbox/bench/rules"
	"github.com/signalbox/signalbox/bench/servers"
	"github.com/signalbox/signalbox/bench/snapshots"
	"github.com/signalbox/signalbox/bench/stream"
	"github.com/signalbox/signalbox/bench/webhooks"
)

// benchmark is one comparison.
type benchmark struct {
	name string
	run  func(ctx context.Context, out io.Writer) error
}

func benchmarks() []benchmark {
	return []benchmark{
		{"reads", reads.Run},
		{"ofrep", ofrep.Run},
		{"snapshots", snapshots.Run},
		{"bulk", bulk.Run},
		{"growth", growth.Run},
		{"growth-rows", growth.Rows},
		{"growth-accounts", growth.Accounts},
		{"stream", stream.Run},
		{"logging-ingest", logging.Ingest},
		{"logging-lists", logging.Lists},
		{"logging-resolve", func(_ context.Context, out io.Writer) error { logging.Resolve(out); return nil }},
		{"configs", configs.Run},
		{"jobs-backlog", jobs.Backlog},
		{"jobs-latency", jobs.Latency},
		{"jobs-storm", jobs.Storm},
		{"jobs-scan", jobs.Scan},
		{"jobs-failures", jobs.Failures},
		{"jobs-cost", jobs.Cost},
		{"webhooks", webhooks.Run},
		{"live-flags", live.Flags},
		{"live-logs", live.Logs},
		{"live-replaced", live.Replaced},
		{"rules", func(_ context.Context, out io.Writer) error { return rules.Run(out) }},
	}
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:], os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, out io.Writer) error {
	if len(args) > 0 && args[0] == servers.BareCommand {
		return servers.ServeBare(ctx, args[1:], out)
	}
	if len(args) > 0 && args[0] == stream.PlainCommand {
		return stream.ServePlain(ctx, out)
	}
	if len(args) > 0 && args[0] == servers.SinkCommand {
		return servers.ServeSink(ctx, out)
	}
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	only := flags.String("only", "", "run these benchmarks only, separated by commas; jobs means all that begin with jobs-")
	results := flags.String("results", "results", "the folder for the file with the results")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("unexpected argument %q; -only names the benchmarks to run", flags.Arg(0))
	}
	return runAll(ctx, *only, *results, out)
}

// runAll runs the selected benchmarks and ends with the first that fails.
func runAll(ctx context.Context, only, results string, out io.Writer) (err error) {
	report, err := newReport(ctx, out, results, time.Now())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, report.close()) }()
	for _, each := range benchmarks() {
		if !selected(each.name, only) {
			continue
		}
		if err := report.run(ctx, each); err != nil {
			return err
		}
	}
	return nil
}

func selected(name, only string) bool {
	return only == "" || slices.ContainsFunc(strings.Split(only, ","), func(wanted string) bool {
		return name == wanted || strings.HasPrefix(name, wanted+"-")
	})
}
