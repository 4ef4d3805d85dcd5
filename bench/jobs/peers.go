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
	"time"

	"github.com/signalbox/signalbox/bench/caller"
)

// ceiling calls the sink in a bare loop and gives the calls per second.
func (b *bench) ceiling(ctx context.Context, calls, size int) (float64, error) {
	const workers = 64
	if err := b.sink.Reset(ctx); err != nil {
		return 0, err
	}
	call := caller.New(b.sink.URL(size), workers)
	var next atomic.Int64
	failures := make([]error, workers)
	started := time.Now()
	var running sync.WaitGroup
	for i := range workers {
		running.Go(func() {
			for id := next.Add(1); id <= int64(calls) && failures[i] == nil; id = next.Add(1) {
				failures[i] = call.Call(ctx, strconv.FormatInt(id, 10))
			}
		})
	}
	running.Wait()
	rate := float64(calls) / time.Since(started).Seconds()
	return rate, errors.Join(append(failures, b.checked(ctx, calls))...)
}

// buildRiver builds the program that lets River work. It is a module of its
// own for each store, because River's drivers for both have no version in
// common.
func buildRiver(ctx context.Context, folder, store string) (string, error) {
	program := filepath.Join(folder, "river-"+store)
	command := exec.CommandContext(ctx, "go", "build", "-o", program, ".")
	command.Dir = filepath.Join("river", store)
	command.Stderr = os.Stderr
	if err := command.Run(); err != nil {
		return "", fmt.Errorf("building River for %s: %w", store, err)
	}
	return program, nil
}

// riverRate lets River work off a backlog in a process of its own and gives
// the jobs per second.
func (b *bench) riverRate(ctx context.Context, s store, jobs int, tuned bool, size int) (float64, error) {
	if err := b.sink.Reset(ctx); err != nil {
		return 0, err
	}
	database, drop, err := b.fresh(ctx, s)
	if err != nil {
		return 0, err
	}
	defer drop()
	var output bytes.Buffer
	command := exec.CommandContext(ctx, b.river[s.name], "-database", database, "-url", b.sink.URL(size),
		"-jobs", strconv.Itoa(jobs), "-tuned="+strconv.FormatBool(tuned))
	command.Stdout, command.Stderr = &output, os.Stderr
	if err := command.Run(); err != nil {
		return 0, fmt.Errorf("River on %s: %w", s.name, err)
	}
	seconds, err := strconv.ParseFloat(strings.TrimSpace(output.String()), 64)
	if err != nil {
		return 0, err
	}
	return float64(jobs) / seconds, b.checked(ctx, jobs)
}
