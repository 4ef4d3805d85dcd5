// Package stream compares the event sockets and the OFREP event streams of Signalbox with the two obvious
// ways to push events from Go: a plain server-sent events handler on net/http,
// and a handler on coder/websocket. Each server is its own process. The same client
// opens the same number of connections to each, in turn. It measures the cost of
// idle connections, and how long one change takes to reach the last of them.
package stream

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/signalbox/signalbox/bench/servers"
)

const (
	changes = 60
	warmUp  = 5
	pause   = 50 * time.Millisecond
	// streamPause is the pause between two changes for event streams, which send the changes of 250 ms together.
	streamPause = 300 * time.Millisecond
)

// The start of the first message of each connection, and the text that identifies each event.
const (
	connected  = `"connected"`
	flagEvent  = `"flag_changed"`
	evaluation = `"refetchEvaluation"`
)

// contender is a server that pushes.
type contender struct {
	name         string
	path         func(ctx context.Context, address string) (string, error)
	hello, event string
	pause        time.Duration
	start        func(ctx context.Context, folder string) (*servers.Server, error)
	// change makes the server push one event to everybody.
	change func(ctx context.Context, address string) error
}

func contenders() []contender {
	return []contender{
		{"signalbox", fixed("/api/ws/v1/events?api_key=" + servers.Key), connected, flagEvent, pause, startSignalbox, changeFlag},
		{"signalbox streams", eventStream, evaluation, evaluation, streamPause, startSignalbox, changeFlag},
		{"plain SSE", fixed("/sse"), connected, flagEvent, pause, startPlain, push},
		{"coder/websocket", fixed("/ws"), connected, flagEvent, pause, startPlain, push},
	}
}

func fixed(path string) func(context.Context, string) (string, error) {
	return func(context.Context, string) (string, error) { return path, nil }
}

// figures are the results of one contender.
type figures struct {
	idle         float64 // KiB of resident memory for each idle connection
	p50, p99     time.Duration
	longest      time.Duration
	cpu          time.Duration // the server's processor time for sending one change to all connections
	reachedFirst time.Duration // median time to the first connection
}

// Run measures all contenders with the number of sockets in BENCH_SOCKETS,
// 10,000 unless it is set.
func Run(ctx context.Context, out io.Writer) error {
	sockets := 10_000
	if text := os.Getenv("BENCH_SOCKETS"); text != "" {
		var err error
		if sockets, err = strconv.Atoi(text); err != nil {
			return err
		}
	}
	folder, err := os.MkdirTemp("", "signalbox-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	fmt.Fprintf(out, "%d connections to one node; %d changes, one after the other, each to all of them\n", sockets, changes)
	fmt.Fprintf(out, "%-18s %12s %9s %9s %9s %9s %11s\n", "server", "KiB/socket", "first", "p50", "p99", "max", "CPU/change")
	var all []figures
	for i, each := range contenders() {
		measured, err := measure(ctx, each, filepath.Join(folder, strconv.Itoa(i)), sockets)
		if err != nil {
			return fmt.Errorf("%s: %w", each.name, err)
		}
		all = append(all, measured)
		fmt.Fprintf(out, "%-18s %12.1f %9s %9s %9s %9s %11s\n", each.name, measured.idle, short(measured.reachedFirst),
			short(measured.p50), short(measured.p99), short(measured.longest), short(measured.cpu))
	}
	fmt.Fprintf(out, "event streams : event sockets: memory %.2f (at most 1.3), p50 of the last %.2f, max %.2f (below 2)\n",
		all[1].idle/all[0].idle, float64(all[1].p50)/float64(all[0].p50), float64(all[1].longest)/float64(all[0].longest))
	for i, each := range contenders()[1:] {
		fmt.Fprintf(out, "signalbox : %s: memory %.0f%%, p50 %.0f%%, max %.0f%%, CPU %.0f%%\n", each.name,
			percent(all[0].idle, all[i+1].idle), percent(all[0].p50, all[i+1].p50),
			percent(all[0].longest, all[i+1].longest), percent(all[0].cpu, all[i+1].cpu))
	}
	return nil
}

func percent[T float64 | time.Duration](ours, theirs T) float64 {
	return 100 * float64(ours) / float64(theirs)
}

func short(d time.Duration) string { return d.Round(100 * time.Microsecond).String() }

func measure(ctx context.Context, each contender, folder string, sockets int) (figures, error) {
	server, err := each.start(ctx, folder)
	if err != nil {
		return figures{}, err
	}
	defer server.Stop()
	before, err := server.Resident()
	if err != nil {
		return figures{}, err
	}
	crowd, err := connect(ctx, server.Address, each, sockets)
	if err != nil {
		return figures{}, err
	}
	defer crowd.leave()
	after, err := settled(ctx, server)
	if err != nil {
		return figures{}, err
	}
	measured, err := pushAll(ctx, each, server, crowd)
	measured.idle = float64(after-before) / 1024 / float64(sockets)
	return measured, err
}

// settled waits a few seconds until the server is idle, and returns its resident
// memory.
func settled(ctx context.Context, server *servers.Server) (int64, error) {
	select {
	case <-ctx.Done():
		return 0, ctx.Err()
	case <-time.After(5 * time.Second):
	}
	return server.Resident()
}

// pushAll makes changes and measures for each how long the last connection waits for it.
func pushAll(ctx context.Context, each contender, server *servers.Server, crowd *crowd) (figures, error) {
	var spent time.Duration
	var first, last []time.Duration
	for i := range warmUp + changes {
		busy, err := server.CPU()
		if err != nil {
			return figures{}, err
		}
		crowd.expect()
		started := time.Now()
		if err := each.change(ctx, server.Address); err != nil {
			return figures{}, err
		}
		reached, err := crowd.wait(ctx)
		if err != nil {
			return figures{}, err
		}
		now, err := server.CPU()
		if err != nil {
			return figures{}, err
		}
		if i >= warmUp {
			first, last = append(first, reached.first.Sub(started)), append(last, reached.last.Sub(started))
			spent += now - busy
		}
		<-time.After(each.pause)
	}
	slices.Sort(first)
	slices.Sort(last)
	return figures{p50: last[changes/2], p99: last[changes*99/100], longest: last[changes-1], cpu: spent / changes, reachedFirst: first[changes/2]}, nil
}
