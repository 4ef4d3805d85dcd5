// Package logging measures log levels: a fleet that reports 100,000 sources
// against the bare insertion of the same rows, pages of a long list against the
// same pages of a short one, and the resolution of 10,000 loggers.
package logging

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/signalbox/signalbox/bench/servers"
)

// Run measures on SQLite and, when a server is named, on PostgreSQL.
func Run(ctx context.Context, out io.Writer) error {
	folder, err := os.MkdirTemp("", "signalbox-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	stores := servers.Stores()
	resolve(out)
	fmt.Fprintf(out, "\n%d services report %d loggers each over %d connections, against a loop that inserts: source rows a second, median of %d\n%-9s %9s %10s %7s %6s %12s\n",
		services, loggersEach, connections, rounds, "store", "bare", "signalbox", "ratio", "goal", "repeated")
	for _, store := range stores {
		if err := ingest(ctx, out, filepath.Join(folder, store.Name), store); err != nil {
			return err
		}
	}
	fmt.Fprintf(out, "\nthe first page of %d of %d loggers (%d sources) against the same of %d (%d): median of %d, in milliseconds\n%-9s %-38s %8s %8s %7s\n",
		pageSize, longList, longList*sourcesEach, shortList, shortList*sourcesEach, repetitions, "store", "list", "short", "long", "ratio")
	for _, store := range stores {
		if err := lists(ctx, out, filepath.Join(folder, store.Name+"-lists"), store); err != nil {
			return err
		}
	}
	return nil
}
