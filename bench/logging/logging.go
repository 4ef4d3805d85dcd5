// Package logging measures log levels: a fleet that reports 100,000 sources
// against the bare insertion of the same rows, pages of a long list against the
// same pages of a short one, and the resolution of 10,000 loggers.
package logging

import (
	"context"
	"fmt"
	"io"

	"github.com/signalbox/signalbox/bench/servers"
)

// Ingest measures on SQLite and, when a server is named, on PostgreSQL.
func Ingest(ctx context.Context, out io.Writer) error {
	fmt.Fprintf(out, "%d services report %d loggers each over %d connections, against a loop that inserts: source rows a second, median of %d\n%-9s %9s %10s %7s %6s %12s\n",
		services, loggersEach, connections, rounds, "store", "bare", "signalbox", "ratio", "goal", "repeated")
	return servers.Each(func(folder string, store servers.Store) error { return ingest(ctx, out, folder, store) })
}

// Lists measures on SQLite and, when a server is named, on PostgreSQL.
func Lists(ctx context.Context, out io.Writer) error {
	fmt.Fprintf(out, "the first page of %d of %d loggers (%d sources) against the same of %d (%d): median of %d, in milliseconds\n%-9s %-38s %8s %8s %7s\n",
		pageSize, longList, longList*sourcesEach, shortList, shortList*sourcesEach, repetitions, "store", "list", "short", "long", "ratio")
	return servers.Each(func(folder string, store servers.Store) error { return lists(ctx, out, folder, store) })
}
