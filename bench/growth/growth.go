// Package growth compares the cost of creating a resource in an account with a hundred resources and in an account with
// nine thousand. Each account has its own server; they take turns, so that other load on the machine slows both equally.
package growth

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/signalbox/signalbox/bench/servers"
)

const (
	connections = 8
	few, many   = 100, 9_000
	rounds      = 9
	turn        = 48 // creations; two resources are flags, of which an account may have 10,000
	goal        = 1.5
)

// request is one request of a creation; %s stands for the name.
type request struct{ method, path, body string }

// resource is a kind of resource to create, with one request or several.
type resource struct {
	name     string
	requests []request
	filled   bool // an earlier measurement has already filled the accounts
}

func resources() []resource {
	flag := post("/api/v1/flags", `{"data":{"id":"flag-%s","type":"flag","attributes":{"type":"BOOLEAN","default":false}}}`)
	evaluation := post("/ofrep/v1/evaluate/flags/flag-e%s", `{"context":{"targetingKey":"alice"}}`)
	seen := flag
	seen.body = strings.Replace(flag.body, "flag-%s", "flag-e%s", 1)
	return []resource{
		{name: "flag", requests: []request{flag}},
		{name: "flag, then evaluated", requests: []request{seen, evaluation}, filled: true},
		{name: "flag source", requests: []request{post("/api/v1/flags/bulk", `{"flags":[{"id":"shared","type":"BOOLEAN","default":false,"service":"service-%s","environment":"production"}]}`)}},
		{name: "logger", requests: []request{{http.MethodPut, "/api/v1/loggers/logger.%s", `{"data":{"type":"logger","attributes":{"level":"WARN"}}}`}}},
		{name: "log group", requests: []request{post("/api/v1/log_groups", `{"data":{"id":"group-%s","type":"log_group","attributes":{"name":"Group","level":"WARN"}}}`)}},
		{name: "config", requests: []request{post("/api/v1/configs", `{"data":{"id":"config-%s","type":"config","attributes":{"name":"Config","items":{"a":{"value":1,"type":"NUMBER"}}}}}`)}},
		{name: "key", requests: []request{post("/api/v1/api_keys", `{"data":{"type":"api_key","attributes":{"name":"key-%s"}}}`)}},
		{name: "context", requests: []request{post("/api/v1/contexts/bulk", `{"contexts":[{"type":"user","key":"user-%s","attributes":{"plan":"pro"}}]}`)}},
		{name: "service", requests: []request{post("/api/v1/services", `{"data":{"id":"service-%s","type":"service","attributes":{}}}`)}},
	}
}

func post(path, body string) request { return request{http.MethodPost, path, body} }

// Run measures on SQLite and, when a server is named, on PostgreSQL.
func Run(ctx context.Context, out io.Writer) error {
	fmt.Fprintf(out, "creations over %d connections, in turns of %d; median of %d turns; goal: a ratio of at most %.1f\n", connections, turn, rounds, goal)
	fmt.Fprintf(out, "%-9s %-22s %14s %14s %7s\n", "store", "what", fmt.Sprintf("after %d /s", few), fmt.Sprintf("after %d /s", many), "ratio")
	return servers.Each(func(folder string, store servers.Store) error { return measure(ctx, out, folder, store) })
}

func measure(ctx context.Context, out io.Writer, folder string, store servers.Store) error {
	small, err := store.Start(ctx, filepath.Join(folder, "small"))
	if err != nil {
		return err
	}
	defer small.Stop()
	large, err := store.Start(ctx, filepath.Join(folder, "large"))
	if err != nil {
		return err
	}
	defer large.Stop()
	for _, each := range resources() {
		rates, ratio, err := compare(ctx, each, small.Address, large.Address)
		if err != nil {
			return fmt.Errorf("%s: %w", each.name, err)
		}
		fmt.Fprintf(out, "%-9s %-22s %14.0f %14.0f %7.2f\n", store.Name, each.name, rates[0], rates[1], ratio)
	}
	return nil
}

// compare fills both accounts, lets them take turns, and returns the median rates and the median of the turns' ratios.
func compare(ctx context.Context, what resource, small, large string) (rates [2]float64, ratio float64, err error) {
	accounts := []*account{newAccount(small), newAccount(large)}
	for i, size := range []int{few, many} {
		if what.filled {
			break
		}
		if _, err := accounts[i].create(ctx, what, size); err != nil {
			return rates, 0, err
		}
	}
	var ratios []float64
	var taken [2][]float64
	for range rounds {
		var took [2]time.Duration
		for i, each := range accounts {
			if took[i], err = each.create(ctx, what, turn); err != nil {
				return rates, 0, err
			}
			taken[i] = append(taken[i], turn/took[i].Seconds())
		}
		ratios = append(ratios, took[1].Seconds()/took[0].Seconds())
	}
	return [2]float64{median(taken[0]), median(taken[1])}, median(ratios), nil
}

func median(values []float64) float64 {
	slices.Sort(values)
	return values[len(values)/2]
}

// account is the account of a server, in which resources are numbered.
type account struct {
	address string
	client  *http.Client
	created atomic.Int64
}

func newAccount(address string) *account {
	return &account{address: address, client: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: connections}}}
}

// create creates count more resources and returns how long it took.
func (a *account) create(ctx context.Context, what resource, count int) (time.Duration, error) {
	until, failures := a.created.Load()+int64(count), make([]error, connections)
	started := time.Now()
	var workers sync.WaitGroup
	for i := range connections {
		workers.Go(func() {
			for next := a.created.Add(1); next <= until && failures[i] == nil; next = a.created.Add(1) {
				failures[i] = a.send(ctx, what, strconv.FormatInt(next, 10))
			}
		})
	}
	workers.Wait()
	a.created.Store(until)
	return time.Since(started), errors.Join(failures...)
}

func (a *account) send(ctx context.Context, what resource, name string) error {
	for _, each := range what.requests {
		path, body := strings.ReplaceAll(each.path, "%s", name), strings.ReplaceAll(each.body, "%s", name)
		sent, err := http.NewRequestWithContext(ctx, each.method, "http://"+a.address+path, strings.NewReader(body))
		if err != nil {
			return err
		}
		sent.Header.Set("Authorization", "Bearer "+servers.Key)
		sent.Header.Set("X-Signalbox-Environment", "production")
		answer, err := a.client.Do(sent)
		if err != nil {
			return err
		}
		text, err := io.ReadAll(answer.Body)
		if err := errors.Join(err, answer.Body.Close()); err != nil {
			return err
		}
		if answer.StatusCode >= http.StatusBadRequest {
			return fmt.Errorf("%s %s: %s: %s", each.method, path, answer.Status, text)
		}
	}
	return nil
}
