package logging

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
	"time"

	"github.com/signalbox/signalbox/bench/servers"
)

const (
	services    = 200
	loggersEach = 500
	rows        = services * loggersEach
	connections = 8
	rounds      = 3
	goal        = 40
)

// ingest compares reports with bare inserts, each round on empty databases, and prints the medians.
func ingest(ctx context.Context, out io.Writer, folder string, store servers.Store) error {
	var bare, ours, again []float64
	for round := range rounds {
		place := filepath.Join(folder, strconv.Itoa(round))
		rate, err := insertBare(ctx, filepath.Join(place, "bare"), store)
		if err != nil {
			return err
		}
		first, second, err := report(ctx, filepath.Join(place, "ours"), store)
		if err != nil {
			return err
		}
		bare, ours, again = append(bare, rate), append(ours, first), append(again, second)
	}
	for _, rates := range [][]float64{bare, ours, again} {
		slices.Sort(rates)
	}
	middle := rounds / 2
	fmt.Fprintf(out, "%-9s %9.0f %10.0f %6.0f%% %5d%% %12.0f\n", store.Name, bare[middle], ours[middle], 100*ours[middle]/bare[middle], goal, again[middle])
	return nil
}

// report measures the start of a fleet: every service reports twice. The second
// report has nothing new.
func report(ctx context.Context, folder string, store servers.Store) (first, second float64, err error) {
	node, err := store.Start(ctx, folder)
	if err != nil {
		return 0, 0, err
	}
	defer node.Stop()
	bodies := make([][]byte, services)
	for service := range bodies {
		bodies[service] = body(service)
	}
	send := func(service int) error {
		_, err := servers.Fetch(ctx, http.MethodPost, node.Address, "/api/v1/loggers/bulk", bodies[service])
		return err
	}
	if first, err = perSecond(connections, send); err != nil {
		return 0, 0, err
	}
	second, err = perSecond(connections, send)
	return first, second, err
}

func body(service int) []byte {
	items := make([]string, loggersEach)
	for i := range items {
		items[i] = fmt.Sprintf(`{"id":%q,"level":"INFO","resolved_level":"INFO","service":"service-%d","environment":"production"}`, loggerName(i), service)
	}
	return []byte(`{"loggers":[` + strings.Join(items, ",") + `]}`)
}

func loggerName(i int) string { return fmt.Sprintf("com.example.package%d.class%d", i%20, i) }

// perSecond calls send for all services over some connections and returns the rows
// per second.
func perSecond(connections int, send func(service int) error) (float64, error) {
	work := make(chan int, services)
	for service := range services {
		work <- service
	}
	close(work)
	errs := make([]error, connections)
	var running sync.WaitGroup
	started := time.Now()
	for worker := range connections {
		running.Go(func() {
			for service := range work {
				errs[worker] = errors.Join(errs[worker], send(service))
			}
		})
	}
	running.Wait()
	return rows / time.Since(started).Seconds(), errors.Join(errs...)
}
