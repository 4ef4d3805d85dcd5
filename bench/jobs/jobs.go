// Package jobs compares running scheduled HTTP calls with River doing the same
// calls in its workers, and with a bare loop of the standard HTTP client,
// which is the ceiling. All call a sink that is a process of its own.
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
	out    io.Writer
	folder string
	sink   *servers.Sink
	stores []store
	river  map[string]string // programs, by store
}

// store is a database to measure on.
type store struct {
	name   string
	server string // URL of the PostgreSQL server; "" is SQLite
}

// Run measures on SQLite and, when a server is named, on PostgreSQL.
func Run(ctx context.Context, out io.Writer) error {
	folder, err := os.MkdirTemp("", "signalbox-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	b := &bench{out: out, folder: folder, stores: []store{{name: "sqlite"}}, river: map[string]string{}}
	if url := os.Getenv("SIGNALBOX_TEST_POSTGRES"); url != "" {
		b.stores = append(b.stores, store{"postgres", url})
	}
	if b.sink, err = servers.StartSink(ctx); err != nil {
		return err
	}
	defer b.sink.Stop()
	for _, s := range b.stores {
		if b.river[s.name], err = buildRiver(ctx, folder, s.name); err != nil {
			return err
		}
	}
	return b.all(ctx)
}

// all makes the comparisons one after the other.
func (b *bench) all(ctx context.Context) error {
	for _, compare := range []func(context.Context) error{b.backlog} {
		if err := compare(ctx); err != nil {
			return err
		}
	}
	return nil
}

// backlog measures how fast a backlog is worked off.
func (b *bench) backlog(ctx context.Context) error {
	ceiling, err := b.ceiling(ctx, 50_000, small)
	if err != nil {
		return err
	}
	fmt.Fprintf(b.out, "%-9s %-22s %9s %9s %8s\n", "store", "who", "backlog", "runs /s", "ceiling")
	b.row("", "bare HTTP client loop", 50_000, ceiling, ceiling)
	for _, s := range b.stores {
		for _, c := range []struct {
			who   string
			jobs  int
			tuned bool
		}{{"River, stock", 10_000, false}, {"River, tuned", 50_000, true}} {
			rate, err := b.riverRate(ctx, s, c.jobs, c.tuned, small)
			if err != nil {
				return err
			}
			b.row(s.name, c.who, c.jobs, rate, ceiling)
		}
	}
	return nil
}

func (b *bench) row(store, who string, jobs int, rate, ceiling float64) {
	fmt.Fprintf(b.out, "%-9s %-22s %9d %9.0f %7.0f%%\n", store, who, jobs, rate, 100*rate/ceiling)
}

// fresh gives an empty database of a store: a file or a URL.
func (b *bench) fresh(ctx context.Context, s store) (string, func(), error) {
	if s.server != "" {
		return servers.NewDatabase(ctx, s.server)
	}
	folder, err := os.MkdirTemp(b.folder, "sqlite-")
	return filepath.Join(folder, "db"), func() { os.RemoveAll(folder) }, err
}

// checked compares what the sink received with what was to be sent.
func (b *bench) checked(ctx context.Context, jobs int) error {
	got, err := b.sink.Count(ctx)
	if err == nil && (got.Requests != jobs || got.Distinct != jobs) {
		err = fmt.Errorf("the sink received %d requests with %d ids, for %d jobs", got.Requests, got.Distinct, jobs)
	}
	return err
}
