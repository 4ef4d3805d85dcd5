package growth

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/signalbox/signalbox/bench/servers"
)

const (
	turns    = 5
	inATurn  = 20  // operations
	fired    = 500 // jobs that fire together
	fireSoon = 2500 * time.Millisecond
)

// operation is what a caller does. measure does it some times and returns how long each took.
type operation struct {
	name    string
	turns   int
	measure func(ctx context.Context, t *target) ([]time.Duration, error)
}

func operations() []operation {
	get := func(path string) func(*target) (string, string, string) {
		return func(*target) (string, string, string) { return http.MethodGet, path, "" }
	}
	return []operation{
		{"create a flag", turns, requests(func(t *target) (string, string, string) {
			return http.MethodPost, "/api/v1/flags", flagBody(fmt.Sprint("new-", t.next()))
		})},
		{"write a flag", turns, requests(func(t *target) (string, string, string) {
			key := fmt.Sprint("flag-", t.next()%(own-1)+1)
			return http.MethodPut, "/api/v1/flags/" + key, flagBody(key)
		})},
		{"read a flag", turns, requests(func(t *target) (string, string, string) {
			return http.MethodGet, fmt.Sprint("/api/v1/flags/flag-", t.next()%(own-1)+1), ""
		})},
		{"list 50 flags", turns, requests(get("/api/v1/flags?page[size]=50"))},
		{"evaluate a flag", turns, requests(func(t *target) (string, string, string) {
			return http.MethodPost, fmt.Sprint("/ofrep/v1/evaluate/flags/flag-", t.next()%(own-1)+1), `{"context":{"targetingKey":"alice","plan":"pro"}}`
		})},
		{"evaluate after a write", turns, afterWrites("/ofrep/v1/evaluate/flags/template")},
		{"snapshot after a write", turns, afterWrites("/api/v1/snapshots/production")},
		{"create a job", turns, requests(func(t *target) (string, string, string) {
			return http.MethodPost, "/api/v1/jobs", t.jobBody(fmt.Sprint("new-", t.next()))
		})},
		{"list 50 jobs", turns, requests(get("/api/v1/jobs?page[size]=50"))},
		{"list 50 runs", turns, requests(get("/api/v1/runs?page[size]=50"))},
		{"list 50 runs of a job", turns, requests(get("/api/v1/runs?filter[job]=job-1&page[size]=50"))},
		{"statistics of a job", turns, requests(get("/api/v1/jobs/job-1/stats"))},
		{"request of a run to its call", turns, runs},
		{fmt.Sprintf("%d jobs due to the last call", fired), 3, fire},
	}
}

// next returns a number that no operation on this target had yet.
func (t *target) next() int {
	t.made++
	return t.made
}

// requests measures requests that come one after the other.
func requests(make func(t *target) (method, path, body string)) func(context.Context, *target) ([]time.Duration, error) {
	return func(ctx context.Context, t *target) (taken []time.Duration, err error) {
		for range inATurn {
			method, path, body := make(t)
			began := time.Now()
			if _, err := t.send(ctx, method, path, body); err != nil {
				return nil, err
			}
			taken = append(taken, time.Since(began))
		}
		return taken, nil
	}
}

// afterWrites measures requests that find a new version of the account. Evaluations are the requests with a body.
func afterWrites(path string) func(context.Context, *target) ([]time.Duration, error) {
	method, body := http.MethodGet, ""
	if strings.HasPrefix(path, "/ofrep/") {
		method, body = http.MethodPost, `{"context":{"targetingKey":"alice"}}`
	}
	return func(ctx context.Context, t *target) (taken []time.Duration, err error) {
		for range inATurn {
			key := fmt.Sprint("flag-", t.next()%(own-1)+1)
			changed := strings.Replace(flagBody(key), "Pro users", fmt.Sprint("Pro users ", t.made), 1)
			if _, err := t.send(ctx, http.MethodPut, "/api/v1/flags/"+key, changed); err != nil {
				return nil, err
			}
			began := time.Now()
			if _, err := t.send(ctx, method, path, body); err != nil {
				return nil, err
			}
			taken = append(taken, time.Since(began))
		}
		return taken, nil
	}
}

// runs measures the time from asking for a run to its call at the sink.
func runs(ctx context.Context, t *target) (taken []time.Duration, err error) {
	if err := t.sink.Reset(ctx); err != nil {
		return nil, err
	}
	asked := map[string]int64{}
	for range inATurn {
		at := time.Now().UnixNano()
		run, err := t.runNow(ctx)
		if err != nil {
			return nil, err
		}
		asked[run] = at
		if err := t.sink.WaitFor(ctx, len(asked)); err != nil {
			return nil, err
		}
	}
	got, err := t.sink.Times(ctx)
	for run, at := range asked {
		taken = append(taken, time.Duration(got.Times[run]-at))
	}
	return taken, err
}

// fire measures the time from the instant at which jobs are due to the last of their calls.
func fire(ctx context.Context, t *target) ([]time.Duration, error) {
	if err := t.sink.Reset(ctx); err != nil {
		return nil, err
	}
	due := time.Now().Add(fireSoon)
	if _, err := t.db.ExecContext(ctx, fmt.Sprintf(`UPDATE jobs SET next_run_at = %d WHERE uid IN (SELECT uid FROM jobs WHERE %s AND key LIKE 'job-%%' ORDER BY key LIMIT %d)`,
		due.UnixMicro(), t.ofTemplate("jobs"), fired)); err != nil {
		return nil, err
	}
	if err := t.sink.WaitFor(ctx, fired); err != nil {
		return nil, err
	}
	got, err := t.sink.Times(ctx)
	last := due.UnixNano()
	for _, at := range got.Times {
		last = max(last, at)
	}
	return []time.Duration{time.Duration(last - due.UnixNano())}, err
}

// send sends a request over the kept-alive connection of the target.
func (t *target) send(ctx context.Context, method, path, body string) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, method, "http://"+t.server.Address+path, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Authorization", "Bearer "+servers.Key)
	request.Header.Set("X-Signalbox-Environment", "production")
	answer, err := t.client.Do(request)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err == nil && answer.StatusCode >= http.StatusBadRequest {
		err = fmt.Errorf("%s %s: %s: %s", method, path, answer.Status, text)
	}
	return text, err
}
