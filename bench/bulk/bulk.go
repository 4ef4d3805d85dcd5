// Package bulk measures a report of 10,000 flag declarations. The first report
// creates 10,000 flags and sources. The second report is identical, so it only updates their last_seen.
package bulk

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/signalbox/signalbox/bench/servers"
)

const (
	declarations = 10_000
	repetitions  = 5
)

// Run measures on SQLite and, when a server is named, on PostgreSQL.
func Run(ctx context.Context, out io.Writer) error {
	fmt.Fprintf(out, "%d declarations in one request; the second is the median of %d identical ones\n%-9s %10s %10s %7s\n",
		declarations, repetitions, "store", "first", "second", "ratio")
	return servers.Each(func(folder string, store servers.Store) error { return measure(ctx, out, folder, store) })
}

func measure(ctx context.Context, out io.Writer, folder string, store servers.Store) error {
	server, err := store.Start(ctx, folder)
	if err != nil {
		return err
	}
	defer server.Stop()
	report := report()
	first, err := post(ctx, server.Address, report)
	if err != nil {
		return err
	}
	var later []time.Duration
	for range repetitions {
		took, err := post(ctx, server.Address, report)
		if err != nil {
			return err
		}
		later = append(later, took)
	}
	slices.Sort(later)
	second := later[repetitions/2]
	fmt.Fprintf(out, "%-9s %10s %10s %6.0f%%\n", store.Name, first.Round(time.Millisecond), second.Round(time.Millisecond),
		100*second.Seconds()/first.Seconds())
	return nil
}

func post(ctx context.Context, address string, report []byte) (time.Duration, error) {
	started := time.Now()
	_, err := servers.Fetch(ctx, http.MethodPost, address, "/api/v1/flags/bulk", report)
	return time.Since(started), err
}

func report() []byte {
	items := make([]string, declarations)
	for i := range items {
		items[i] = fmt.Sprintf(`{"id":"flag-%05d","type":"BOOLEAN","default":false,"service":"checkout","environment":"production"}`, i)
	}
	return []byte(`{"flags":[` + strings.Join(items, ",") + `]}`)
}
