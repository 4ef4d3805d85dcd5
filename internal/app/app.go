package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/signalbox/signalbox/internal/accounts"
	"github.com/signalbox/signalbox/internal/api"
	"github.com/signalbox/signalbox/internal/changes"
	"github.com/signalbox/signalbox/internal/egress"
	"github.com/signalbox/signalbox/internal/environments"
	"github.com/signalbox/signalbox/internal/flags"
	"github.com/signalbox/signalbox/internal/jobs/scheduler"
	"github.com/signalbox/signalbox/internal/jobs/worker"
	"github.com/signalbox/signalbox/internal/plans"
	"github.com/signalbox/signalbox/internal/sealed"
	"github.com/signalbox/signalbox/internal/settings"
	"github.com/signalbox/signalbox/internal/store"
	"github.com/signalbox/signalbox/internal/telemetry"
	"github.com/signalbox/signalbox/openapi"
)

// endTimeout bounds what is left to do once requests have finished; a database
// that does not answer must not keep the process.
const endTimeout = 3 * time.Second

// feedInterval is how late, at the worst, a node hears of another's change.
const feedInterval = 400 * time.Millisecond

// App is a running Signalbox.
type App struct {
	settings settings.Settings
	log      *slog.Logger
	metrics  *telemetry.Metrics
	tracing  *telemetry.Tracing

	db       *store.DB
	ring     *sealed.Ring
	plans    plans.Table
	feed     *changes.Feed
	listener *store.Listener
	auth     *accounts.Authenticator
	resealer *resealer
	removal  *retention
	notes    *flags.EvaluationNotes

	egress    *egress.Client
	scheduler *scheduler.Scheduler
	worker    *worker.Worker

	api      *api.API
	servers  []*server
	stopping atomic.Bool
}

// New builds everything and prepares the store: after it, the schema is
// current and there is an account. The first start writes its key to stdout.
func New(ctx context.Context, s settings.Settings, log *slog.Logger, stdout io.Writer) (*App, error) {
	a := &App{settings: s, log: log, metrics: telemetry.NewMetrics(version)}
	if err := a.build(ctx, stdout); err != nil {
		return nil, errors.Join(err, a.close(ctx))
	}
	return a, nil
}

func (a *App) build(ctx context.Context, stdout io.Writer) (err error) {
	if a.plans, err = planTable(a.settings); err != nil {
		return err
	}
	if a.tracing, err = telemetry.NewTracing(ctx, telemetry.TracingOptions{
		Enabled: a.settings.TracesEnabled, ServiceName: "signalbox", Version: version, NodeName: a.settings.Name, Logger: a.log,
	}); err != nil {
		return err
	}
	if a.db, err = openStore(ctx, a.settings, a.log, a.metrics, a.tracing); err != nil {
		return err
	}
	if a.ring, err = openRing(ctx, a.settings, a.db); err != nil {
		return err
	}
	if err := bootstrap(ctx, a.db, a.plans, a.settings, stdout); err != nil {
		return err
	}
	a.db.SealWith(a.ring)
	a.wire()
	return a.listen(ctx)
}

// wire connects the parts: commits wake the feed, the feed informs the
// authenticator, and the API calls the domain.
func (a *App) wire() {
	for name, stats := range a.db.Pools() {
		a.metrics.WatchPool(name, stats)
	}
	a.feed = changes.NewFeed(a.db, a.log, feedInterval)
	a.db.OnChange(a.feed.Wake)
	a.listener = a.db.NewListener(a.feed.Wake)
	a.auth = &accounts.Authenticator{Directory: a.db, Live: a.feed.Live, Now: time.Now, Log: a.log, Count: a.metrics.CountAuthentication}
	a.feed.Subscribe(a.auth.Hear)
	a.notes = &flags.EvaluationNotes{Write: a.db.NoteEvaluations, Log: a.log}
	a.feed.OnRewind(a.auth.ForgetAll)
	a.feed.OnRewind(func() { a.api.Forget() })
	a.removal = &retention{db: a.db, log: a.log, runs: a.settings.Retention, changes: a.settings.ChangesRetention, now: time.Now}
	a.resealer = &resealer{db: a.db, ring: a.ring, log: a.log}
	a.api = api.New(api.Services{
		Accounts: &accounts.Service{Store: a.db.Accounts()},
		Environments: &environments.Service{Store: a.db.Environments(), Plans: a.plans,
			Holders: []environments.Holder{flagValues{}}, Reported: a.reported},
		Flags:         &flags.Service{Store: a.db.Flags(), Plans: a.plans, Writable: environments.Writable},
		FlagSnapshots: &flags.Snapshots{Store: a.db.Flags(), Version: a.db.Version, History: a.db.After},
		Jobs:          a.wireJobs(),
		History:       a.db.History(), Auth: a.auth, Version: a.db.Version, Ready: a.ready,
		OpenAPI: sync.OnceValues(func() (json.RawMessage, error) { return openapi.JSON() }),
		Log:     a.log, Metrics: a.metrics, Tracing: a.tracing,
	}, api.Options{
		PublicURL: a.settings.PublicURL, RateLimit: a.settings.RateLimit, ServeMetrics: a.settings.MetricsListen == "",
	})
}

// reported takes the metrics that clients send: Prometheus shows them, and
// those that name a flag tell that it is in use.
func (a *App) reported(account string, metric environments.Metric) {
	a.metrics.ReportClientMetric(account, metric.Name, metric.Unit, metric.Value)
	var dimensions struct {
		Flag string `json:"flag"`
	}
	if json.Unmarshal(metric.Dimensions, &dimensions) == nil && dimensions.Flag != "" {
		a.notes.Note(account, dimensions.Flag, metric.RecordedAt)
	}
}

// ready tells why this node should get no requests, or nil.
func (a *App) ready(ctx context.Context) error {
	if a.stopping.Load() {
		return errors.New("it is shutting down")
	}
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	if err := a.db.Ping(ctx); err != nil {
		return err
	}
	return a.db.Migrated(ctx)
}

// Start begins to serve and returns.
func (a *App) Start(ctx context.Context) error {
	if err := a.feed.Start(ctx); err != nil {
		return fmt.Errorf("starting the change feed: %w", err)
	}
	a.listener.Start(ctx)
	a.auth.Start(ctx)
	a.notes.Start(ctx)
	a.resealer.start(ctx)
	a.removal.start(ctx)
	a.worker.Node = a.settings.Name + "@" + a.Address()
	a.worker.Start(ctx)
	a.scheduler.Start(ctx)
	for _, server := range a.servers {
		server.start()
	}
	facts := []any{"version", version, "address", a.Address(), "store", a.db.Name(), "node", a.settings.Name}
	if len(a.servers) > 1 {
		facts = append(facts, "metrics", a.servers[1].listener.Addr().String())
	}
	a.log.Info("Signalbox is ready.", facts...)
	return nil
}

// Run serves until ctx ends or a listener fails, then stops.
func (a *App) Run(ctx context.Context) error {
	if err := a.Start(ctx); err != nil {
		return errors.Join(err, a.Stop(ctx))
	}
	var failure error
	select {
	case <-ctx.Done():
		a.log.Info("Signalbox is shutting down.", "timeout", a.settings.ShutdownTimeout.String())
	case failure = <-a.failed():
	}
	return errors.Join(failure, a.Stop(context.WithoutCancel(ctx)))
}

// Stop lets requests finish, up to the timeout of the settings, and ends
// everything.
func (a *App) Stop(ctx context.Context) error {
	a.stopping.Store(true)
	draining, cancel := context.WithTimeout(ctx, a.settings.ShutdownTimeout)
	defer cancel()
	a.scheduler.Stop()
	var runs sync.WaitGroup
	runs.Go(func() { a.worker.Stop(draining) })
	var err error
	for _, server := range a.servers {
		err = errors.Join(err, server.stop(draining))
	}
	runs.Wait()
	a.egress.Close()
	a.servers = nil
	a.resealer.stop()
	a.removal.stop()
	a.listener.Stop()
	a.feed.Stop()
	ending, cancel := context.WithTimeout(ctx, endTimeout)
	defer cancel()
	a.auth.Stop(ending)
	a.notes.Stop(ending)
	return errors.Join(err, a.close(ending))
}

// close releases what New opened.
func (a *App) close(ctx context.Context) error {
	var err error
	for _, server := range a.servers {
		err = errors.Join(err, server.listener.Close())
	}
	if a.db != nil {
		err = errors.Join(err, a.db.Close())
	}
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	return errors.Join(err, a.tracing.Shutdown(ctx))
}

// Address is where the API listens.
func (a *App) Address() string { return a.servers[0].listener.Addr().String() }

// Handler is the API, for tests that need no socket.
func (a *App) Handler() http.Handler { return a.api }

func (a *App) listen(ctx context.Context) error {
	main, err := newServer(ctx, a.settings.Listen, a.api, a.log)
	if err != nil {
		return err
	}
	a.servers = append(a.servers, main)
	if a.settings.TLSCert != "" {
		if err := main.useTLS(a.settings.TLSCert, a.settings.TLSKey); err != nil {
			return err
		}
	}
	if a.settings.MetricsListen == "" {
		return nil
	}
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", a.metrics.Handler())
	metrics, err := newServer(ctx, a.settings.MetricsListen, mux, a.log)
	if err != nil {
		return err
	}
	a.servers = append(a.servers, metrics)
	return nil
}

func (a *App) failed() <-chan error {
	failures := make(chan error, len(a.servers))
	for _, server := range a.servers {
		go func() {
			if err := <-server.failure; err != nil {
				failures <- err
			}
		}()
	}
	return failures
}
