package worker_test

import (
	"context"
	"log/slog"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"go.uber.org/goleak"

	"github.com/signalbox/signalbox/internal/jobs"
	"github.com/signalbox/signalbox/internal/jobs/worker"
	"github.com/signalbox/signalbox/internal/plans"
	"github.com/signalbox/signalbox/internal/store"
	"github.com/signalbox/signalbox/internal/store/storetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// soon is more than anything here takes.
const soon = time.Minute

// shortIntervals let tests act at once. No worker is declared lost, because a
// busy machine must not abort requests.
func shortIntervals() worker.Intervals {
	return worker.Intervals{Heartbeat: 200 * time.Millisecond, AbortAfter: 2 * soon, LostAfter: 3 * soon,
		CancelCheck: 100 * time.Millisecond, Poll: 50 * time.Millisecond, Backlog: time.Millisecond}
}

// sender answers requests. A host with a gate answers when the gate is opened or
// the request is aborted.
type sender struct {
	answer func(worker.Order) (jobs.Result, error) // nil: 200

	mu      sync.Mutex
	gates   map[string]chan struct{} // by host
	deaf    map[string]bool          // hosts whose requests cannot be aborted
	sent    []worker.Order
	current map[string]int // requests in flight by host
	most    map[string]int // at once
	aborted map[string]abortion
}

// abortion is why and when a request was aborted.
type abortion struct {
	cause error
	at    time.Time
}

func newSender() *sender {
	return &sender{gates: map[string]chan struct{}{}, deaf: map[string]bool{}, current: map[string]int{}, most: map[string]int{}, aborted: map[string]abortion{}}
}

// hold makes a host answer only when the given function is called.
func (s *sender) hold(host string) (open func()) {
	gate := make(chan struct{})
	s.mu.Lock()
	defer s.mu.Unlock()
	s.gates[host] = gate
	return sync.OnceFunc(func() { close(gate) })
}

// Send is a worker's Sender.
func (s *sender) Send(ctx context.Context, order worker.Order) (jobs.Result, error) {
	gate, deaf := s.begin(order)
	defer s.end(order)
	if gate != nil {
		select {
		case <-gate:
		case <-ctx.Done():
			s.note(order, context.Cause(ctx))
			if !deaf {
				return jobs.Result{}, ctx.Err()
			}
			<-gate
		}
	}
	if s.answer != nil {
		return s.answer(order)
	}
	return jobs.Result{Status: 200, Headers: map[string]string{}, Body: "ok", BodyBytes: 2}, nil
}

func hostOf(order worker.Order) string {
	target, _ := url.Parse(order.Configuration.Plain().URL) // they are written below
	return target.Host
}

func (s *sender) begin(order worker.Order) (gate chan struct{}, deaf bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sent = append(s.sent, order)
	host := hostOf(order)
	for _, name := range []string{host, "all"} {
		s.current[name]++
		s.most[name] = max(s.most[name], s.current[name])
	}
	return s.gates[host], s.deaf[host]
}

func (s *sender) end(order worker.Order) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.current[hostOf(order)]--
	s.current["all"]--
}

func (s *sender) note(order worker.Order, cause error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.aborted[order.Run] = abortion{cause, time.Now()}
}

// count counts the requests to a host, by prefix.
func (s *sender) count(prefix string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(slices.DeleteFunc(slices.Clone(s.sent), func(order worker.Order) bool { return !strings.HasPrefix(hostOf(order), prefix) }))
}

// countJob counts the requests of a job.
func (s *sender) countJob(key string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(slices.DeleteFunc(slices.Clone(s.sent), func(order worker.Order) bool { return order.Job != key }))
}

func (s *sender) order() (runs []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, order := range s.sent {
		runs = append(runs, order.Run)
	}
	return runs
}

func (s *sender) inFlight(host string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.current[host]
}

func (s *sender) peak(host string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.most[host]
}

func (s *sender) cause(run string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.aborted[run].cause
}

func (s *sender) abortedAt(run string) time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.aborted[run].at
}

// observer counts what a worker reports.
type observer struct {
	mu       sync.Mutex
	finished map[string]int
	depth    int
}

func (l *observer) RunFinished(status jobs.Status, reason jobs.Reason) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.finished[strings.TrimSuffix(string(status)+" "+string(reason), " ")]++
}
func (l *observer) InFlight(int)               {}
func (l *observer) Unhealthy([]jobs.Unhealthy) {}

func (l *observer) QueueDepth(runs int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.depth = runs
}

func (l *observer) count(what string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.finished[what]
}

// rig is a worker with its database and the targets of its requests.
type rig struct {
	*worker.Worker
	db       *store.DB
	sender   *sender
	observer *observer
	stop     func(ctx context.Context)
}

// newRig creates a worker that is not started. change may alter it.
func newRig(t *testing.T, db *store.DB, change ...func(*worker.Worker)) *rig {
	t.Helper()
	r := &rig{db: db, sender: newSender(), observer: &observer{finished: map[string]int{}}}
	r.Worker = &worker.Worker{Store: db.Worker(), Sender: r.sender, Plans: plans.BuiltIn(), Limits: worker.Limits{Node: 64, Account: 32, Host: 16},
		Log: slog.New(slog.NewTextHandler(t.Output(), nil)), Observe: r.observer, Now: time.Now, Boot: uuid.NewString(), Node: "node " + uuid.NewString(), Intervals: shortIntervals()}
	for _, each := range change {
		each(r.Worker)
	}
	return r
}

// start runs the worker until the end of the test, or until stop.
func (r *rig) start(t *testing.T) *rig {
	t.Helper()
	r.Start(t.Context())
	var once sync.Once
	r.stop = func(ctx context.Context) { once.Do(func() { r.Stop(ctx) }) }
	t.Cleanup(func() {
		ended, cancel := context.WithCancel(context.Background()) //nolint:usetesting // the test's context has ended
		cancel()
		r.stop(ended)
	})
	return r
}

// newJob creates a job of an account that sends to a host.
func newJob(t *testing.T, db *store.DB, account, host string) jobs.Job {
	t.Helper()
	job := storetest.NewJob(account, "j-"+uuid.NewString(), "http://"+host+"/")
	storetest.AddJobs(t, db, job)
	return job
}

// ended waits until a run has an outcome.
func (r *rig) ended(t *testing.T, account, run, want string) jobs.Run {
	t.Helper()
	var got jobs.Run
	defer func() {
		if t.Failed() {
			t.Logf("the run is %s %v %v", got.Status, got.Reason, got.Error)
		}
	}()
	storetest.Wait(t, soon, "the run is "+want, func() bool {
		got = storetest.ReadRun(t, r.db, account, run)
		return outcome(got) == want
	})
	return got
}

// over waits until a run has any outcome.
func over(t *testing.T, db *store.DB, account, run string) (got jobs.Run) {
	t.Helper()
	storetest.Wait(t, soon, "the run is over", func() bool {
		got = storetest.ReadRun(t, db, account, run)
		return got.FinishedAt != nil
	})
	return got
}

// outcome returns the status of a run and why it failed.
func outcome(run jobs.Run) string {
	if run.Reason != nil {
		return string(run.Status) + " " + string(*run.Reason)
	}
	return string(run.Status)
}

// cancel cancels a run as the API does, without telling any worker.
func cancel(t *testing.T, db *store.DB, account, run string) {
	t.Helper()
	err := db.Write(t.Context(), "", func(ctx context.Context, tx *store.Tx) error {
		_, err := tx.CancelRun(ctx, account, run, "", tx.Now())
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
