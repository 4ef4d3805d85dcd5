// Package jobs compares Signalbox running scheduled HTTP calls with River making
// the same calls in its workers, and with a bare loop of the standard HTTP client,
// which is the ceiling. All call a sink in another process.
package jobs

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/signalbox/signalbox/bench/servers"
)

const (
	small = 2        // bytes of a small answer
	large = 64 << 10 // bytes of a large answer
)

// bench is one run of all comparisons.
type bench struct {
	out      io.Writer
	folder   string
	sink     *servers.Sink
	stores   []servers.Store
	programs map[string]string // River's programs, by store
}

// Backlog measures how fast the runs of a backlog are done.
func Backlog(ctx context.Context, out io.Writer) error { return run(ctx, out, (*bench).backlogs) }

// Latency measures how soon a requested run reaches the sink.
func Latency(ctx context.Context, out io.Writer) error { return run(ctx, out, (*bench).latencies) }

// Storm measures how fast many jobs that are due at once are fired.
func Storm(ctx context.Context, out io.Writer) error { return run(ctx, out, (*bench).storms) }

// Scan measures the cost of looking for due jobs.
func Scan(ctx context.Context, out io.Writer) error { return run(ctx, out, (*bench).scans) }

// Failures measures how much webhooks that receive failures slow runs down.
func Failures(ctx context.Context, out io.Writer) error { return run(ctx, out, (*bench).failures) }

// run measures on SQLite and, when a server is named, on PostgreSQL.
func run(ctx context.Context, out io.Writer, measure func(*bench, context.Context) error) error {
	folder, err := os.MkdirTemp("", "signalbox-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	b := &bench{out: out, folder: folder, stores: servers.Stores(), programs: map[string]string{}}
	if b.sink, err = servers.StartSink(ctx); err != nil {
		return err
	}
	defer b.sink.Stop()
	return measure(b, ctx)
}

// fresh creates an empty database, and returns its file or URL and a function that removes it.
func (b *bench) fresh(ctx context.Context, s servers.Store) (string, func(), error) {
	if !s.IsFile() {
		return s.NewDatabase(ctx)
	}
	folder, err := os.MkdirTemp(b.folder, "sqlite-")
	return filepath.Join(folder, "db"), func() { os.RemoveAll(folder) }, err
}

// checked returns an error unless the sink received every job once.
func (b *bench) checked(ctx context.Context, jobs int) error {
	got, err := b.sink.Count(ctx)
	if err == nil && (got.Requests != jobs || got.Distinct != jobs) {
		err = fmt.Errorf("the sink received %d requests with %d ids, for %d jobs", got.Requests, got.Distinct, jobs)
	}
	return err
}
