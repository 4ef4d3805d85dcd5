package jobs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/signalbox/signalbox/bench/servers"
)

// peersVariable leaves River out when it is "no".
const peersVariable = "SIGNALBOX_BENCH_PEERS"

const (
	// asked is the number of requested runs.
	asked = 250
	// rest is the pause between two runs, so that each starts on an idle system.
	rest = 120 * time.Millisecond
)

// latencies measures the time from requesting a run to its call at the sink, on an
// idle system and, for Signalbox, also while services report what they declare.
func (b *bench) latencies(ctx context.Context) error {
	fmt.Fprintf(b.out, "\nfrom asking for a run to the request received, %d times when idle; observing: while %d observations come in a minute\n%-9s %-22s %9s %9s\n", asked, observed, "store", "who", "p50", "p99")
	for _, s := range b.stores {
		for _, c := range []struct {
			who string
			ask func(context.Context, servers.Store) (map[string]int64, error)
		}{
			{"River, stock", func(ctx context.Context, s servers.Store) (map[string]int64, error) { return b.askRiver(ctx, s, false) }},
			{"River, tuned", func(ctx context.Context, s servers.Store) (map[string]int64, error) { return b.askRiver(ctx, s, true) }},
			{"Signalbox", func(ctx context.Context, s servers.Store) (map[string]int64, error) {
				return b.askSignalbox(ctx, s, nil)
			}},
			{"Signalbox, observing", func(ctx context.Context, s servers.Store) (map[string]int64, error) {
				return b.askSignalbox(ctx, s, observe)
			}},
		} {
			if os.Getenv(peersVariable) == "no" && strings.HasPrefix(c.who, "River") {
				continue
			}
			if err := b.sink.Reset(ctx); err != nil {
				return err
			}
			started, err := c.ask(ctx, s)
			if err != nil {
				return err
			}
			waits, err := b.waits(ctx, started)
			if err != nil {
				return err
			}
			fmt.Fprintf(b.out, "%-9s %-22s %9s %9s\n", s.Name, c.who, quantile(waits, 50), quantile(waits, 99))
		}
	}
	return nil
}

// waits returns how long each run took to reach the sink, sorted.
func (b *bench) waits(ctx context.Context, started map[string]int64) ([]time.Duration, error) {
	if err := b.sink.WaitFor(ctx, len(started)); err != nil {
		return nil, err
	}
	got, err := b.sink.Times(ctx)
	if err != nil {
		return nil, err
	}
	waits := make([]time.Duration, 0, len(started))
	for id, at := range started {
		received, ok := got.Times[id]
		if !ok {
			return nil, fmt.Errorf("the sink knows nothing of run %s", id)
		}
		waits = append(waits, time.Duration(received-at))
	}
	slices.Sort(waits)
	return waits, nil
}

func quantile(sorted []time.Duration, percent int) time.Duration {
	return sorted[(len(sorted)-1)*percent/100].Round(10 * time.Microsecond)
}

// askSignalbox requests runs over the API, while beside does something else with the server, unless it is nil.
func (b *bench) askSignalbox(ctx context.Context, s servers.Store, beside func(ctx context.Context, address string) error) (map[string]int64, error) {
	box, err := b.newBox(ctx, s, small)
	if err != nil {
		return nil, err
	}
	defer box.close()
	if err := box.start(ctx); err != nil {
		return nil, err
	}
	besides := make(chan error, 1)
	if beside != nil {
		ends, end := context.WithTimeout(ctx, asked*rest)
		defer end()
		go func() { besides <- beside(ends, box.server.Address) }()
	} else {
		besides <- nil
	}
	started := map[string]int64{}
	tick := time.NewTicker(rest)
	defer tick.Stop()
	for range asked {
		<-tick.C
		at := time.Now().UnixNano()
		id, err := runNow(ctx, box.server.Address)
		if err != nil {
			return nil, err
		}
		started[id] = at
	}
	return started, errors.Join(b.sink.WaitFor(ctx, asked), <-besides)
}

const (
	observed       = 100_000 // observations in a minute
	observedAtOnce = 500     // in a report: the flags of a service
	enough         = 0.9     // of the observations must have been answered
)

// observe reports the flags of one service after the other until ctx ends.
func observe(ctx context.Context, address string) error {
	tick := time.NewTicker(time.Minute * observedAtOnce / observed)
	defer tick.Stop()
	began, reported := time.Now(), 0
	for service := 0; ; service++ {
		select {
		case <-ctx.Done():
			if rate := float64(reported) / time.Since(began).Minutes(); rate < enough*observed {
				return fmt.Errorf("only %.0f observations a minute were answered", rate)
			}
			return nil
		case <-tick.C:
		}
		items := make([]string, observedAtOnce)
		for i := range items {
			items[i] = fmt.Sprintf(`{"id":"flag-%d","type":"BOOLEAN","default":false,"service":"service-%d","environment":"production"}`, i, service)
		}
		_, err := servers.Fetch(ctx, http.MethodPost, address, "/api/v1/flags/bulk", []byte(`{"flags":[`+strings.Join(items, ",")+`]}`))
		if err != nil && ctx.Err() == nil {
			return err
		}
		reported += observedAtOnce
	}
}

func runNow(ctx context.Context, address string) (string, error) {
	text, err := servers.Fetch(ctx, http.MethodPost, address, "/api/v1/jobs/template/actions/run", nil)
	if err != nil {
		return "", err
	}
	var run struct{ Data struct{ ID string } }
	return run.Data.ID, json.Unmarshal(text, &run)
}

// askRiver runs River's program, which inserts jobs one by one. It prints the id
// of each job and when its insertion began.
func (b *bench) askRiver(ctx context.Context, s servers.Store, tuned bool) (map[string]int64, error) {
	output, _, err := b.riverOutput(ctx, s, "-url", b.sink.URL(small), "-jobs", strconv.Itoa(asked), "-rest", rest.String(), "-tuned="+strconv.FormatBool(tuned))
	if err != nil {
		return nil, err
	}
	started := map[string]int64{}
	for line := range strings.Lines(output) {
		if id, at, ok := strings.Cut(strings.TrimSpace(line), " "); ok {
			if started[id], err = strconv.ParseInt(at, 10, 64); err != nil {
				return nil, err
			}
		}
	}
	return started, nil
}
