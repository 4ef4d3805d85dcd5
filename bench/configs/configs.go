// Package configs measures how long resolving a chain of ten configs takes: the
// computation alone, over HTTP with reads from the database, and over HTTP from
// the cache. The goal is 5 ms for 1,000 items.
package configs

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"time"

	"github.com/signalbox/signalbox/bench/servers"
	"github.com/signalbox/signalbox/internal/configs"
)

const (
	depth       = 10
	repetitions = 101
)

// shape is a chain to resolve.
type shape struct {
	what     string
	perLevel int
	// repeated gives every level the same keys; else each has its own.
	repeated bool
}

func shapes() []shape {
	return []shape{{"1,000 items in the chain", 1000 / depth, false}, {"1,000 items on every level", 1000, true}}
}

// Run measures on SQLite and, when a server is named, on PostgreSQL.
func Run(ctx context.Context, out io.Writer) error {
	fmt.Fprintf(out, "a chain of %d; a quarter of the items are objects, which merge; median and best of %d each\n", depth, repetitions)
	fmt.Fprintf(out, "%-27s %-9s %17s %17s %17s\n", "shape", "store", "computed", "over HTTP", "kept")
	return servers.Each(func(folder string, store servers.Store) error { return measure(ctx, out, folder, store) })
}

func measure(ctx context.Context, out io.Writer, folder string, store servers.Store) error {
	server, err := store.Start(ctx, folder)
	if err != nil {
		return err
	}
	defer server.Stop()
	for i, shape := range shapes() {
		chain := shape.chain(fmt.Sprint("shape-", i))
		if err := upload(ctx, server.Address, chain); err != nil {
			return err
		}
		if err := report(ctx, out, shape.what, store.Name, server.Address, chain); err != nil {
			return err
		}
	}
	return nil
}

func report(ctx context.Context, out io.Writer, what, store, address string, chain []configs.Config) error {
	environment := "production"
	path := "/api/v1/configs/" + chain[depth-1].Key + "/resolved?environment=" + environment
	computed, err := timed(func(int) error { configs.Resolve(chain, &environment); return nil })
	if err != nil {
		return err
	}
	fetch := func(path string) error {
		_, err := servers.Fetch(ctx, http.MethodGet, address, path, nil)
		return err
	}
	read, err := timed(func(i int) error { return fetch(fmt.Sprintf("%s&n=%d", path, i)) }) // a query that was not sent before is not in the cache
	if err != nil {
		return err
	}
	kept, err := timed(func(int) error { return fetch(path) })
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%-27s %-9s %17s %17s %17s\n", what, store, computed, read, kept)
	return nil
}

// timed returns the median and the best time of many runs.
func timed(run func(i int) error) (string, error) {
	var times []time.Duration
	for i := range repetitions {
		started := time.Now()
		if err := run(i); err != nil {
			return "", err
		}
		times = append(times, time.Since(started))
	}
	slices.Sort(times)
	const finest = 10 * time.Microsecond
	return fmt.Sprint(times[repetitions/2].Round(finest), " ", times[0].Round(finest)), nil
}

// chain returns the configs, the root first.
func (s shape) chain(prefix string) []configs.Config {
	var chain []configs.Config
	for level := range depth {
		config := configs.Config{Key: fmt.Sprintf("%s-level-%d", prefix, level), Items: map[string]configs.Item{},
			Environments: map[string]configs.Overrides{"production": {}}}
		if level > 0 {
			config.Parent = &chain[level-1].Key
		}
		for i := range s.perLevel {
			key := fmt.Sprintf("service.setting-%04d", i)
			if !s.repeated {
				key = fmt.Sprintf("service-%d.setting-%04d", level, i)
			}
			config.Items[key] = item(level, i)
			if i%10 == 3 {
				config.Environments["production"][key] = override(i)
			}
		}
		chain = append(chain, config)
	}
	return chain
}

func item(level, i int) configs.Item {
	switch i % 4 {
	case 0:
		return configs.Item{Type: configs.String, Value: json.RawMessage(fmt.Sprintf(`"a text of some length, number %d"`, i))}
	case 1:
		return configs.Item{Type: configs.Number, Value: json.RawMessage(fmt.Sprint(1000*level + i))}
	case 2:
		return configs.Item{Type: configs.Boolean, Value: json.RawMessage("true")}
	}
	return configs.Item{Type: configs.JSON, Value: json.RawMessage(fmt.Sprintf(`{"host":"db-%d","port":5432,"pool":{"size":%d}}`, level, i))}
}

// override returns the value of item i.
func override(i int) json.RawMessage {
	switch i % 4 {
	case 1:
		return json.RawMessage("17")
	case 3:
		return json.RawMessage(`{"pool":{"idle":2}}`)
	}
	return item(0, i).Value
}

func upload(ctx context.Context, address string, chain []configs.Config) error {
	for _, config := range chain {
		document, err := json.Marshal(map[string]any{"data": map[string]any{"id": config.Key, "attributes": map[string]any{
			"parent": config.Parent, "items": config.Items, "environments": config.Environments,
		}}})
		if err != nil {
			return err
		}
		if _, err := servers.Fetch(ctx, http.MethodPost, address, "/api/v1/configs", document); err != nil {
			return err
		}
	}
	return nil
}
