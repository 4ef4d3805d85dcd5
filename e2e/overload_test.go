package e2e

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/signalbox/signalbox/internal/store/storetest"
	"github.com/signalbox/signalbox/internal/suite"
)

// TestOverload_OthersGoOn floods a node with lists, reports and writes of one account over 300 connections. Evaluations of another
// account, cancels and probes go on, and every refusal says that the server is busy. It is not parallel because it measures time.
func TestOverload_OthersGoOn(t *testing.T) {
	for _, kind := range []string{"sqlite", "postgres"} {
		t.Run(kind, func(t *testing.T) {
			database := storetest.New(t, kind)
			n := start(t, database, "SIGNALBOX_ALLOW_NETWORKS=127.0.0.0/8")
			other := otherAccount(t, database, "pro")
			n.makeFlags(t, suite.Scale(200, 1000))
			flag := &exchange{url: n.url, method: http.MethodPost, path: "/api/v1/flags", key: other,
				body: `{"data":{"type":"flag","id":"checkout","attributes":{"type":"BOOLEAN","default":false}}}`}
			if got, err := flag.send(); err != nil || got.status != http.StatusCreated {
				t.Fatalf("got %s %s, %v", got.line, got.body, err)
			}
			calm := n.watch(t, other, suite.Scale(time.Second, 5*time.Second))
			flood := n.flood(t)
			busy := n.watch(t, other, suite.Scale(3*time.Second, 20*time.Second))
			answers := flood()
			t.Logf("evaluations of another account, calm: %s; during the flood: %s; the flood got %v", calm, busy, answers)
			if limit := suite.Scale(5*time.Second, 250*time.Millisecond); busy.p99 > limit {
				t.Errorf("the p99 of an evaluation is above %s", limit)
			}
			for answer := range answers {
				if !strings.HasSuffix(answer, "200") && !strings.HasSuffix(answer, "503") {
					t.Errorf("the flood got %s", answer)
				}
			}
		})
	}
}

// otherAccount makes an account on a plan by the command line and returns its key.
func otherAccount(t *testing.T, database storetest.Database, plan string) string {
	t.Helper()
	command := exec.CommandContext(t.Context(), binary, "admin", "accounts", "create", "other", "--plan", plan, "--json")
	command.Env = serverSettings(database, "HOME="+t.TempDir())
	printed, err := command.Output()
	var made struct{ Key string }
	if err == nil {
		err = json.Unmarshal(printed, &made)
	}
	if err != nil || made.Key == "" {
		t.Fatalf("got %s, %v", printed, err)
	}
	return made.Key
}

// makeFlags creates flags by reporting them.
func (n *node) makeFlags(t *testing.T, count int) {
	t.Helper()
	items := make([]string, count)
	for i := range items {
		items[i] = fmt.Sprintf(`{"id":"flag-%d","type":"BOOLEAN","default":false,"service":"s","environment":"production"}`, i)
	}
	got, err := (&exchange{url: n.url, method: http.MethodPost, path: "/api/v1/flags/bulk", key: ownerKey, body: `{"flags":[` + strings.Join(items, ",") + `]}`}).send()
	if err != nil || got.status != http.StatusOK {
		t.Fatalf("got %s %s, %v", got.line, got.body, err)
	}
}

// delays are how long requests took.
type delays struct {
	count    int
	p50, p99 time.Duration
}

func (d delays) String() string {
	return fmt.Sprintf("%d, p50 %s, p99 %s", d.count, d.p50.Round(time.Millisecond/10), d.p99.Round(time.Millisecond/10))
}

// watch evaluates for an account for some time, one evaluation after the other, and checks that the node is ready and cancels.
func (n *node) watch(t *testing.T, key string, duration time.Duration) delays {
	t.Helper()
	client := &http.Client{Transport: &http.Transport{}, Timeout: patience}
	defer client.CloseIdleConnections()
	var took []time.Duration
	for began := time.Now(); time.Since(began) < duration; {
		at := time.Now()
		if status, body := ask(client, http.MethodPost, n.url+"/ofrep/v1/evaluate/flags/checkout", key, `{}`); status != http.StatusOK {
			t.Errorf("an evaluation got %d %s", status, body)
		}
		took = append(took, time.Since(at))
		if status, body := ask(client, http.MethodGet, n.url+"/api/readiness", "", ""); status != http.StatusOK {
			t.Errorf("the readiness is %d %s", status, body)
		}
		cancel := n.url + "/api/v1/runs/01890000-0000-7000-8000-000000000000/actions/cancel"
		if status, body := ask(client, http.MethodPost, cancel, key, ""); status != http.StatusNotFound {
			t.Errorf("canceling an unknown run got %d %s", status, body)
		}
	}
	slices.Sort(took)
	return delays{len(took), took[len(took)/2], took[len(took)*99/100]}
}

// flood sends requests over 300 connections until the returned function is called, which returns how many answers there were by
// kind and status.
func (n *node) flood(t *testing.T) (stop func() map[string]int) {
	t.Helper()
	ended := make(chan struct{})
	var flooding sync.WaitGroup
	var mu sync.Mutex
	answers := map[string]int{}
	for i := range 300 {
		flooding.Go(func() {
			client := &http.Client{Transport: &http.Transport{}, Timeout: 2 * patience}
			defer client.CloseIdleConnections()
			for {
				select {
				case <-ended:
					return
				default:
				}
				kind, method, path, body := floodRequest(i)
				status, text := ask(client, method, n.url+path, ownerKey, body)
				if status == http.StatusServiceUnavailable && !strings.Contains(text, "is overloaded and refused this request") && !strings.Contains(text, "did not answer in time") {
					t.Errorf("a refusal says %s", text)
				}
				mu.Lock()
				answers[fmt.Sprint(kind, " ", status)]++
				mu.Unlock()
			}
		})
	}
	return func() map[string]int {
		close(ended)
		flooding.Wait()
		return answers
	}
}

func floodRequest(i int) (kind, method, path, body string) {
	switch i % 3 {
	case 0:
		return "list", http.MethodGet, "/api/v1/flags", ""
	case 1:
		return "report", http.MethodPost, "/api/v1/flags/bulk",
			fmt.Sprintf(`{"flags":[{"id":"flag-%d","type":"BOOLEAN","default":false,"service":"s","environment":"production"}]}`, i)
	default:
		return "write", http.MethodPut, "/api/v1/accounts/current/settings", fmt.Sprintf(`{"data":{"type":"account_settings","attributes":{"note":%d}}}`, i)
	}
}

// ask sends a request and reads the answer; the status is 0 if there was none.
func ask(client *http.Client, method, url, key, body string) (status int, answer string) {
	request, err := http.NewRequest(method, url, strings.NewReader(body)) //nolint:noctx // the client has a timeout
	if err != nil {
		return 0, err.Error()
	}
	if key != "" {
		request.Header.Set("Authorization", "Bearer "+key)
	}
	request.Header.Set("X-Signalbox-Environment", "production")
	response, err := client.Do(request)
	if err != nil {
		return 0, err.Error()
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return 0, err.Error()
	}
	return response.StatusCode, string(text[:min(len(text), 500)])
}
