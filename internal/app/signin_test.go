package app_test

import (
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/signalbox/signalbox/internal/accounts"
	"github.com/signalbox/signalbox/internal/app"
	"github.com/signalbox/signalbox/internal/app/apptest"
	"github.com/signalbox/signalbox/internal/store/storetest"
)

// TestSignIn_ThousandAtOnce: hashing a password takes much memory on purpose, but must not bring the node down. No
// sign-in waits long, and other requests are hardly slower.
func TestSignIn_ThousandAtOnce(t *testing.T) {
	t.Parallel()
	instance, err := app.New(t.Context(), apptest.Settings(storetest.New(t, "sqlite")), slog.New(slog.DiscardHandler), io.Discard, apptest.Quick,
		func(o *app.Options) { o.PasswordCost = accounts.DefaultPasswordCost() })
	if err != nil {
		t.Fatal(err)
	}
	if err := instance.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	defer stop(t, instance)
	transport := &http.Transport{MaxIdleConnsPerHost: 1}
	defer transport.CloseIdleConnections()
	client := &http.Client{Transport: transport, Timeout: time.Minute}
	send := func(method, path, body string) int {
		request, err := http.NewRequestWithContext(t.Context(), method, "http://"+instance.Address()+path, strings.NewReader(body))
		if err != nil {
			t.Error(err)
			return 0
		}
		response, err := client.Do(request)
		if err != nil {
			t.Error(err)
			return 0
		}
		_ = response.Body.Close()
		return response.StatusCode
	}
	var decided, refused atomic.Int32
	var people sync.WaitGroup
	before, peak := heap(), uint64(0)
	for i := range 1000 {
		people.Go(func() {
			switch status := send(http.MethodPost, "/api/v1/sessions", fmt.Sprintf(`{"email":"nobody-%d@example.com","password":"guess"}`, i)); status {
			case http.StatusUnauthorized:
				decided.Add(1)
			case http.StatusTooManyRequests:
				refused.Add(1)
			default:
				t.Errorf("got %d", status)
			}
		})
	}
	ended := make(chan struct{})
	go func() {
		people.Wait()
		close(ended)
	}()
	ready := time.Now()
	for busy := true; busy; {
		if status := send(http.MethodGet, "/api/readiness", ""); status == http.StatusOK {
			ready = time.Now()
		} else if away := time.Since(ready); away > tolerable {
			t.Errorf("readiness got %d for %s", status, away)
		}
		peak = max(peak, heap())
		select {
		case <-ended:
			busy = false
		default:
		}
	}
	if status := send(http.MethodGet, "/api/readiness", ""); status != http.StatusOK {
		t.Errorf("afterward readiness got %d", status)
	}
	t.Logf("%d were decided and %d refused; the heap grew by %d MiB", decided.Load(), refused.Load(), (peak-min(peak, before))>>20)
	if decided.Load() == 0 || peak > before+512<<20 { // 64 MiB of hashing, garbage not yet collected, and a thousand connections
		t.Errorf("%d were decided, and the heap grew from %d to %d", decided.Load(), before, peak)
	}
}

// tolerable is how long a node may be not ready. A thousand callers, the node and other tests share the processors and
// use the race detector. Hashing a thousand passwords at once would take longer even on a quiet machine.
const tolerable = 30 * time.Second

func heap() uint64 {
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.HeapAlloc
}
