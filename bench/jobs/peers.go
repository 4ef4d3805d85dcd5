package jobs

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/signalbox/signalbox/bench/caller"
	"github.com/signalbox/signalbox/bench/servers"
)

// speed is how fast runs were done.
type speed struct {
	runs int
	took time.Duration
	used time.Duration // processor time of the contender's own process
}

func (s speed) rate() float64 { return float64(s.runs) / s.took.Seconds() }

// cost is the processor time per run in microseconds. It says more than the
// rate when the machine is busy with something else.
func (s speed) cost() float64 { return float64(s.used.Nanoseconds()) / 1e3 / float64(s.runs) }

// ceiling calls the sink in a bare loop.
func (b *bench) ceiling(ctx context.Context, calls, size int) (speed, error) {
	const workers = 64
	if err := b.sink.Reset(ctx); err != nil {
		return speed{}, err
	}
	call := caller.New(b.sink.URL(size), workers)
	var next atomic.Int64
	failures := make([]error, workers)
	before, started := processorTime(), time.Now()
	var running sync.WaitGroup
	for i := range workers {
		running.Go(func() {
			for id := next.Add(1); id <= int64(calls) && failures[i] == nil; id = next.Add(1) {
				failures[i] = call.Call(ctx, strconv.FormatInt(id, 10))
			}
		})
	}
	running.Wait()
	result := speed{calls, time.Since(started), processorTime() - before}
	return result, errors.Join(append(failures, b.checked(ctx, calls))...)
}

// processorTime returns the processor time that this process has used.
func processorTime() time.Duration {
	var usage syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &usage) // cannot fail with these arguments
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// program returns River's program for a store, which the first call builds. Each
// store has its own module, because River's drivers for both have no version in
// common.
func (b *bench) program(ctx context.Context, s servers.Store) (string, error) {
	if built, ok := b.programs[s.Name]; ok {
		return built, nil
	}
	program := filepath.Join(b.folder, "river-"+s.Name)
	command := exec.CommandContext(ctx, "go", "build", "-o", program, ".")
	command.Dir = filepath.Join("river", s.Name)
	command.Stderr = os.Stderr
	if err := command.Run(); err != nil {
		return "", fmt.Errorf("building River for %s: %w", s.Name, err)
	}
	b.programs[s.Name] = program
	return program, nil
}

// riverOutput runs River's program on an empty database. It returns the program's
// output and processor time.
func (b *bench) riverOutput(ctx context.Context, s servers.Store, args ...string) (string, time.Duration, error) {
	program, err := b.program(ctx, s)
	if err != nil {
		return "", 0, err
	}
	database, drop, err := b.fresh(ctx, s)
	if err != nil {
		return "", 0, err
	}
	defer drop()
	var output bytes.Buffer
	command := exec.CommandContext(ctx, program, append([]string{"-database", database}, args...)...)
	command.Stdout, command.Stderr = &output, os.Stderr
	if err := command.Run(); err != nil {
		return "", 0, fmt.Errorf("running River on %s: %w", s.Name, err)
	}
	return output.String(), servers.Used(command), nil
}

// river measures how fast River does a backlog in another process.
func (b *bench) river(ctx context.Context, s servers.Store, jobs int, tuned bool, size int) (speed, error) {
	if err := b.sink.Reset(ctx); err != nil {
		return speed{}, err
	}
	output, used, err := b.riverOutput(ctx, s, "-url", b.sink.URL(size), "-jobs", strconv.Itoa(jobs), "-tuned="+strconv.FormatBool(tuned))
	if err != nil {
		return speed{}, err
	}
	seconds, err := strconv.ParseFloat(strings.TrimSpace(output), 64)
	if err != nil {
		return speed{}, err
	}
	return speed{jobs, time.Duration(seconds * float64(time.Second)), used}, b.checked(ctx, jobs)
}
