// Package snapshots measures the snapshot of an environment with 10,000 flags and
// 10,000 loggers, which a fleet loads. A 304 is compared with a bare net/http handler
// that answers nothing; a full snapshot is measured in bytes per second.
package snapshots

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/signalbox/signalbox/bench/load"
	"github.com/signalbox/signalbox/bench/servers"
)

const (
	resources   = 10_000
	batch       = 2_500 // items in one report
	connections = 64
	full        = 8 // connections that load everything
	rounds      = 7
	turn        = 1500 * time.Millisecond
	path        = "/api/v1/snapshots/production"
)

// Run measures on SQLite and, when a server is named, on PostgreSQL.
func Run(ctx context.Context, out io.Writer) error {
	fmt.Fprintf(out, "a snapshot of %d flags and %d loggers; 304s over %d kept-alive connections beside a bare handler, full ones over %d; median of %d turns of %s\n",
		resources, resources, connections, full, rounds, turn)
	fmt.Fprintf(out, "%-9s %8s %12s %12s %12s %7s %12s\n", "store", "MB", "first", "bare /s", "304 /s", "ratio", "full MB/s")
	return servers.Each(func(folder string, store servers.Store) error { return measure(ctx, out, folder, store) })
}

func measure(ctx context.Context, out io.Writer, folder string, store servers.Store) error {
	server, err := store.Start(ctx, folder)
	if err != nil {
		return err
	}
	defer server.Stop()
	if err := fill(ctx, server.Address); err != nil {
		return err
	}
	began := time.Now()
	tag, size, err := fetch(ctx, server.Address)
	if err != nil {
		return err
	}
	first := time.Since(began)
	bare, err := servers.StartBare(ctx, folder, nil)
	if err != nil {
		return err
	}
	defer bare.Stop()
	header := http.Header{"Authorization": {"Bearer " + servers.Key}}
	conditional := header.Clone()
	conditional.Set("If-None-Match", tag)
	rates, err := load.Turns(ctx, []load.Target{
		{Address: bare.Address, Path: "/", Header: conditional}, {Address: server.Address, Path: path, Header: conditional},
	}, connections, rounds, turn)
	if err != nil {
		return err
	}
	whole, err := load.Turns(ctx, []load.Target{{Address: server.Address, Path: path, Header: header}}, full, rounds, turn)
	if err != nil {
		return err
	}
	megabytes := float64(size) / 1e6
	fmt.Fprintf(out, "%-9s %8.1f %12s %12.0f %12.0f %6.0f%% %12.0f\n", store.Name, megabytes, first.Round(time.Millisecond),
		rates[0], rates[1], 100*rates[1]/rates[0], whole[0]*megabytes)
	return nil
}

// fetch loads the snapshot once and returns its ETag and size.
func fetch(ctx context.Context, address string) (tag string, size int64, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+path, nil)
	if err != nil {
		return "", 0, err
	}
	request.Header.Set("Authorization", "Bearer "+servers.Key)
	request.Header.Set("Accept-Encoding", "identity")
	response, err := new(http.Client).Do(request)
	if err != nil {
		return "", 0, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return "", 0, fmt.Errorf("%s: %s", path, response.Status)
	}
	size, err = io.Copy(io.Discard, response.Body)
	return response.Header.Get("Etag"), size, err
}

// fill reports flags, and loggers below a managed logger, so that all are in the
// snapshot.
func fill(ctx context.Context, address string) error {
	managed := []byte(`{"data":{"type":"logger","attributes":{"level":"WARN"}}}`)
	if _, err := servers.Fetch(ctx, http.MethodPut, address, "/api/v1/loggers/shop", managed); err != nil {
		return err
	}
	for from := 0; from < resources; from += batch {
		flags, loggers := make([]map[string]any, batch), make([]map[string]any, batch)
		for i := range batch {
			flags[i] = map[string]any{"id": fmt.Sprintf("feature-%05d", from+i), "type": "BOOLEAN", "default": false, "service": "shop", "environment": "production"}
			loggers[i] = map[string]any{"id": fmt.Sprintf("shop.part.%05d", from+i), "level": "INFO", "service": "shop", "environment": "production"}
		}
		for name, items := range map[string][]map[string]any{"flags": flags, "loggers": loggers} {
			body, err := json.Marshal(map[string]any{name: items})
			if err != nil {
				return err
			}
			if _, err := servers.Fetch(ctx, http.MethodPost, address, "/api/v1/"+name+"/bulk", body); err != nil {
				return err
			}
		}
	}
	return nil
}
