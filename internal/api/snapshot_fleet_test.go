package api_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/signalbox/signalbox/internal/accounts"
	"github.com/signalbox/signalbox/internal/api"
	"github.com/signalbox/signalbox/internal/configs"
	"github.com/signalbox/signalbox/internal/flags"
	"github.com/signalbox/signalbox/internal/store/storetest"
	"github.com/signalbox/signalbox/internal/telemetry"
)

// slowSource is a source of snapshots that a test holds up and counts.
type slowSource struct {
	hold  chan struct{}
	reads atomic.Int64
	fail  error
}

func (s *slowSource) Snapshot(context.Context, string, string, api.SnapshotParts, func(configs.Resolved) error) (api.Snapshot, error) {
	s.reads.Add(1)
	<-s.hold
	found := api.Snapshot{Seq: 1, Flags: make([]flags.Flag, 5000)}
	for i := range found.Flags {
		found.Flags[i] = flags.Flag{Key: fmt.Sprint("flag-", i), Name: "A flag", Type: "BOOLEAN", Default: []byte("false")}
	}
	return found, s.fail
}

// viewer lets every key read.
type viewer struct{ anybody }

func (viewer) Authenticate(context.Context, string, string) (accounts.Caller, error) {
	return accounts.Caller{Account: "a", KeyID: "k", Role: accounts.Viewer, Version: 1}, nil
}

// discarded counts a response and forgets it.
type discarded struct {
	header http.Header
	status int
	bytes  *atomic.Int64
}

func (d *discarded) Header() http.Header    { return d.header }
func (d *discarded) WriteHeader(status int) { d.status = status }
func (d *discarded) Write(text []byte) (int, error) {
	d.bytes.Add(int64(len(text)))
	return len(text), nil
}

// TestSnapshot_FleetSharesOneEncoding: 1,000 clients that ask at once after a restart
// cost one read, one encoding and one compression.
func TestSnapshot_FleetSharesOneEncoding(t *testing.T) { // not parallel: it measures memory
	const clients = 1000
	source := &slowSource{hold: make(chan struct{})}
	handler := snapshotAPI(source)
	var waiting atomic.Int64
	var sent atomic.Int64
	var fleet sync.WaitGroup
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for i := range clients {
		fleet.Go(func() {
			request := httptest.NewRequest(http.MethodGet, snapshotsPath+"/production", nil)
			request.Header.Set("Authorization", "Bearer x")
			if i%2 == 0 {
				request.Header.Set("Accept-Encoding", "gzip")
			}
			waiting.Add(1)
			w := &discarded{header: http.Header{}, bytes: &sent}
			if handler.ServeHTTP(w, request); w.status != 200 {
				t.Errorf("got %d", w.status)
			}
		})
	}
	storetest.Wait(t, patience, "all have asked", func() bool { return waiting.Load() == clients && source.reads.Load() > 0 })
	close(source.hold)
	fleet.Wait()
	runtime.ReadMemStats(&after)
	allocated := int64(after.TotalAlloc - before.TotalAlloc) //nolint:gosec // it grows
	if source.reads.Load() != 1 || sent.Load() < 200<<20 || allocated > sent.Load()/4 {
		t.Errorf("%d reads; %d bytes were allocated to send %d", source.reads.Load(), allocated, sent.Load())
	}
}

// TestSnapshot_FailureIsNotKept: after a failure the next caller tries again.
func TestSnapshot_FailureIsNotKept(t *testing.T) {
	t.Parallel()
	source := &slowSource{hold: make(chan struct{}), fail: errors.New("broken")}
	close(source.hold)
	handler := snapshotAPI(source)
	for _, want := range []int{500, 500, 200, 200} {
		if want == 200 {
			source.fail = nil
		}
		request := httptest.NewRequest(http.MethodGet, snapshotsPath+"/production", nil)
		request.Header.Set("Authorization", "Bearer x")
		recorder := httptest.NewRecorder()
		if handler.ServeHTTP(recorder, request); recorder.Code != want {
			t.Errorf("got %d, want %d", recorder.Code, want)
		}
	}
	if source.reads.Load() != 3 {
		t.Errorf("%d reads", source.reads.Load())
	}
}

func snapshotAPI(source api.SnapshotSource) http.Handler {
	return api.New(api.Services{Snapshots: source, Auth: viewer{},
		Log: slog.New(slog.DiscardHandler), Metrics: telemetry.NewMetrics("test")}, api.Options{})
}
