package logging

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/signalbox/signalbox/bench/servers"
)

const (
	longList    = 10_000
	shortList   = 500
	sourcesEach = 10
	pageSize    = 50
	repetitions = 31
)

// queries returns the compared lists. Each page is full on both servers.
func queries() []string {
	from := url.QueryEscape("[2020-01-01T00:00:00Z,*)")
	return []string{"", "filter[managed]=false", "filter[managed]=true", "filter[group]=sql", "filter[service]=service-3",
		"filter[last_seen]=" + from, "filter[service]=service-3&filter[managed]=false&filter[last_seen]=" + from, "filter[search]=class1"}
}

func lists(ctx context.Context, out io.Writer, folder string, store servers.Store) error {
	long, err := startWithLoggers(ctx, filepath.Join(folder, "long"), store, longList)
	if err != nil {
		return err
	}
	defer long.Stop()
	short, err := startWithLoggers(ctx, filepath.Join(folder, "short"), store, shortList)
	if err != nil {
		return err
	}
	defer short.Stop()
	for _, query := range queries() {
		times, err := compare(ctx, []string{short.Address, long.Address}, query)
		if err != nil {
			return err
		}
		label, _, _ := strings.Cut(strings.ReplaceAll(strings.ReplaceAll(query, "filter", ""), "service-", "s"), "%5B")
		fmt.Fprintf(out, "%-9s %-38s %8.2f %8.2f %6.1fx\n", store.Name, label, milliseconds(times[0]), milliseconds(times[1]), times[1].Seconds()/times[0].Seconds())
	}
	return nil
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// startWithLoggers starts a server with count loggers: 60 are managed, 60 are in a group.
func startWithLoggers(ctx context.Context, folder string, store servers.Store, count int) (*servers.Server, error) {
	node, err := store.Start(ctx, folder)
	if err != nil {
		return nil, err
	}
	if err := furnish(ctx, node.Address, count); err != nil {
		node.Stop()
		return nil, err
	}
	return node, nil
}

func furnish(ctx context.Context, address string, count int) error {
	for service := range sourcesEach {
		items := make([]string, count)
		for i := range items {
			items[i] = fmt.Sprintf(`{"id":%q,"level":"INFO","service":"service-%d","environment":"production"}`, loggerName(i), service)
		}
		for batch := range slices.Chunk(items, 5_000) {
			if _, err := servers.Fetch(ctx, http.MethodPost, address, "/api/v1/loggers/bulk", []byte(`{"loggers":[`+strings.Join(batch, ",")+`]}`)); err != nil {
				return err
			}
		}
	}
	if _, err := servers.Fetch(ctx, http.MethodPost, address, "/api/v1/log_groups", []byte(`{"data":{"id":"sql","attributes":{"level":"WARN"}}}`)); err != nil {
		return err
	}
	for i := range 60 {
		place := loggerName(i * (count / 60))
		if _, err := servers.Fetch(ctx, http.MethodPut, address, "/api/v1/loggers/"+place, []byte(`{"data":{"attributes":{"group":"sql","level":"INFO"}}}`)); err != nil {
			return err
		}
	}
	return nil
}

// compare asks several servers for the same page in turns.
func compare(ctx context.Context, addresses []string, query string) ([]time.Duration, error) {
	took := make([][]time.Duration, len(addresses))
	for range repetitions {
		for i, address := range addresses {
			started := time.Now()
			if _, err := servers.Fetch(ctx, http.MethodGet, address, fmt.Sprintf("/api/v1/loggers?page[size]=%d&%s", pageSize, query), nil); err != nil {
				return nil, err
			}
			took[i] = append(took[i], time.Since(started))
		}
	}
	medians := make([]time.Duration, len(addresses))
	for i := range took {
		slices.Sort(took[i])
		medians[i] = took[i][repetitions/2]
	}
	return medians, nil
}
