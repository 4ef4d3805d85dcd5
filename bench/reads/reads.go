// Package reads compares reads through all of Signalbox (routing, authentication,
// store, encoding, logging, metrics) with a bare net/http handler that writes the
// same bytes. Each server is its own process; they take turns, so that other load on the machine slows both equally.
package reads

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/signalbox/signalbox/bench/load"
	"github.com/signalbox/signalbox/bench/servers"
)

const (
	connections = 64
	rounds      = 7
	turn        = 1500 * time.Millisecond
	resources   = 100
)

// Run measures on SQLite and, when a server is named, on PostgreSQL.
func Run(ctx context.Context, out io.Writer) error {
	fmt.Fprintf(out, "GET over %d kept-alive connections; median of %d turns of %s each, taken in turns\n", connections, rounds, turn)
	fmt.Fprintf(out, "%-9s %-26s %8s %12s %12s %7s\n", "store", "request", "bytes", "bare /s", "signalbox /s", "ratio")
	return servers.Each(func(folder string, store servers.Store) error { return measure(ctx, out, folder, store) })
}

func measure(ctx context.Context, out io.Writer, folder string, store servers.Store) error {
	server, err := store.Start(ctx, folder)
	if err != nil {
		return err
	}
	defer server.Stop()
	if err := makeEnvironments(ctx, server.Address); err != nil {
		return err
	}
	for _, request := range []struct{ what, path string }{
		{"one environment", "/api/v1/environments/production"},
		{"a list of 100", fmt.Sprintf("/api/v1/environments?page[size]=%d", resources)},
	} {
		if err := compare(ctx, out, server.Address, folder, store.Name, request.what, request.path); err != nil {
			return err
		}
	}
	return nil
}

// compare measures one request against a bare handler that writes the same answer.
func compare(ctx context.Context, out io.Writer, address, folder, store, what, path string) error {
	body, err := servers.Fetch(ctx, http.MethodGet, address, path, nil)
	if err != nil {
		return err
	}
	bare, err := servers.StartBare(ctx, folder, body)
	if err != nil {
		return err
	}
	defer bare.Stop()
	header := http.Header{"Authorization": {"Bearer " + servers.Key}}
	ours := load.Target{Address: address, Path: strings.NewReplacer("[", "%5B", "]", "%5D").Replace(path), Header: header}
	theirs := load.Target{Address: bare.Address, Path: "/", Header: header}
	rates, err := load.Turns(ctx, []load.Target{theirs, ours}, connections, rounds, turn)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%-9s %-26s %8d %12.0f %12.0f %6.0f%%\n", store, what, len(body), rates[0], rates[1], 100*rates[1]/rates[0])
	return nil
}

// makeEnvironments creates as many environments as fit on a page.
func makeEnvironments(ctx context.Context, address string) error {
	for i := range resources {
		document, err := json.Marshal(map[string]any{"data": map[string]any{
			"id": fmt.Sprintf("environment-%03d", i), "type": "environment",
			"attributes": map[string]any{"name": fmt.Sprintf("Environment %03d", i), "color": "#336699"},
		}})
		if err != nil {
			return err
		}
		if _, err := servers.Fetch(ctx, http.MethodPost, address, "/api/v1/environments", document); err != nil {
			return err
		}
	}
	return nil
}
