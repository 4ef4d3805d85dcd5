package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/signalbox/signalbox/internal/accounts"
	"github.com/signalbox/signalbox/internal/api"
	"github.com/signalbox/signalbox/internal/background"
	"github.com/signalbox/signalbox/internal/changes"
	"github.com/signalbox/signalbox/internal/connections"
	"github.com/signalbox/signalbox/internal/egress"
	"github.com/signalbox/signalbox/internal/flags"
	"github.com/signalbox/signalbox/internal/jobs"
	"github.com/signalbox/signalbox/internal/jobs/scheduler"
	"github.com/signalbox/signalbox/internal/jobs/worker"
	"github.com/signalbox/signalbox/internal/lastknown"
	"github.com/signalbox/signalbox/internal/logging"
	"github.com/signalbox/signalbox/internal/observations"
	"github.com/signalbox/signalbox/internal/openid"
	"github.com/signalbox/signalbox/internal/plans"
	"github.com/signalbox/signalbox/internal/sealed"
	"github.com/signalbox/signalbox/internal/settings"
	"github.com/signalbox/signalbox/internal/store"
	"github.com/signalbox/signalbox/internal/stream"
	"github.com/signalbox/signalbox/internal/telemetry"
	"github.com/signalbox/signalbox/internal/webhooks"
)

// endTimeout bounds the last writes at shutdown, after all requests have finished. A database
// that does not answer must not keep the process alive.
const endTimeout = 3 * time.Second

// App is one Signalbox server process.
type App struct {
	settings settings.Settings
	options  Options
	log      *slog.Logger
	metrics  *telemetry.Metrics
	tracing  *telemetry.Tracing

	folder io.Closer // the lock of the data folder; nil on PostgreSQL
	db     *store.DB
	ring   *sealed.Ring
	plans  plans.Table
	// firstPlans are the plans of the account that the first start creates.
	firstPlans plans.Held
	feed       *changes.Feed
	listener   *store.Listener
	auth       *accounts.Authenticator
	clock      *clock
	// chores are the periodic tasks, such as removing old rows.
	chores []*periodic
	// refreshes writes last-seen times; expirer ends temporary levels.
	refreshes    *observations.Refreshes
	observations *observations.Service
	// evaluations counts the flag evaluations of this server.
	evaluations *observations.Evaluations
	expirer     *logging.Expirer
	snapshots   *flags.Snapshots
	stream      *stream.Hub
	connected   *connections.Recorder
	pollers     connections.Pollers
	openID      *openid.Provider // nil if no provider is configured

	egress    *egress.Client
	scheduler *scheduler.Scheduler
	worker    *worker.Worker
	courier   *webhooks.Courier // releases deliveries of webhooks
	// pendingRuns cancels pending runs that have waited for too long.
	pendingRuns *jobs.Expirer

	api      *api.API
	entrance entrance // handles the requests to the API's address
	servers  []*server
	stdout   io.Writer
	stopping atomic.Bool
	trimmed  atomic.Int64 // changes that lost their documents since the last log line
	wasReady atomic.Bool  // the node was ready at least once

	lastKnown *lastknown.Keeper // nil on SQLite
	recalling background.Loop   // loads the state that was saved before a restart
	// standIn answers evaluation until the database is up; nil if it was up at the start.
	standIn   *App
	standsIn  bool // this App is a stand-in
	finishing background.Loop
	failure   chan error // receives the error that ended the start
}

// New builds everything and prepares the store: it migrates the schema and creates the first
// account. The first start writes the key of that account to stdout.
//
// If PostgreSQL is down, a node that has saved the data for evaluation on disk is built without
// the database. It completes its start when the database is back.
func New(ctx context.Context, s settings.Settings, log *slog.Logger, stdout io.Writer, change ...func(*Options)) (*App, error) {
	a := &App{settings: s, options: serverOptions(), log: log, metrics: telemetry.NewMetrics(version), stdout: stdout, failure: make(chan error, 1)}
	for _, each := range change {
		each(&a.options)
	}
	if err := a.prepare(ctx); err != nil {
		return nil, errors.Join(err, a.close(ctx))
	}
	if err := a.build(ctx); err != nil {
		if a.standIn = a.newStandIn(err); a.standIn != nil {
			_ = a.unbuild(ctx) // the outage is logged already
			return a, nil
		}
		return nil, errors.Join(err, a.close(ctx))
	}
	a.entrance.use(a.api)
	return a, nil
}

// prepare checks the settings, reads the files that they name and binds the addresses. It
// creates no files, so a start that fails here changes nothing on disk.
func (a *App) prepare(ctx context.Context) (err error) {
	if a.plans, err = planTable(a.settings); err != nil {
		return err
	}
	if a.firstPlans, err = a.plans.Held(a.settings.BootstrapPlan); err != nil {
		return fmt.Errorf("SIGNALBOX_BOOTSTRAP_PLAN: %w", err)
	}
	if err := checkKeyFile(a.settings); err != nil {
		return err
	}
	if a.ring, err = namedRing(a.settings); err != nil {
		return err
	}
	return a.listen(ctx)
}

func (a *App) build(ctx context.Context) (err error) {
	if a.tracing, err = telemetry.NewTracing(ctx, telemetry.TracingOptions{
		Enabled: a.settings.TracesEnabled, Version: version, NodeName: a.settings.Name, Logger: a.log,
	}); err != nil {
		return err
	}
	if a.settings.Database == "" {
		interrupted := store.RestoreInterrupted(filepath.Join(a.settings.Data, databaseFile))
		if a.folder, err = openDataFolder(a.settings.Data); err != nil {
			return err
		}
		if interrupted {
			a.log.Warn("A restore was interrupted; this start completed it. The old database is kept beside the restored one.")
		}
	}
	if a.db, err = openStore(ctx, a.settings, a.options, a.log, a.metrics, a.tracing); err != nil {
		return err
	}
	if a.ring, err = openRing(ctx, a.settings, a.ring, a.db); err != nil {
		return err
	}
	if err := a.bootstrap(ctx); err != nil {
		return err
	}
	a.db.SealWith(a.ring)
	a.clock = newClock(a.db, a.log, a.options.Now)
	if err := a.clock.compare(ctx); err != nil { // the loops wait until a comparison succeeds
		a.log.Warn("Comparing this node's clock with the database's failed; retrying.", "error", err)
	}
	a.wire()
	a.keepLastKnown()
	return nil
}

// ready returns nil, or the reason why this node should get no requests.
func (a *App) ready(ctx context.Context) error {
	if a.stopping.Load() {
		return errStopping
	}
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	if err := a.db.Ping(ctx); err != nil {
		return err
	}
	if err := a.db.Writable(); err != nil {
		return err
	}
	if err := a.db.Migrated(ctx); err != nil {
		return err
	}
	return a.clock.err()
}

// Start starts the loops and the servers, and returns.
func (a *App) Start(ctx context.Context) error {
	if a.standIn == nil {
		if err := a.startLoops(ctx); err != nil {
			return err
		}
	}
	a.serve()
	if a.standIn != nil {
		a.finishing.Start(ctx, a.finish)
		return nil
	}
	return a.announce(ctx)
}

// startLoops starts everything except the servers.
func (a *App) startLoops(ctx context.Context) error {
	if err := a.feed.Start(ctx); err != nil {
		return fmt.Errorf("starting the change feed: %w", err)
	}
	a.listener.Start(ctx)
	a.refreshes.Start(ctx)
	a.evaluations.Start(ctx)
	a.expirer.Start(ctx)
	a.stream.Start(ctx)
	a.api.Start(ctx)
	for _, chore := range a.chores {
		chore.Start(ctx)
	}
	a.worker.Node = a.settings.Name + "@" + a.Address()
	a.worker.Start(ctx)
	a.connected.Node = a.worker.Node
	a.connected.Start(ctx)
	a.scheduler.Start(ctx)
	a.courier.Start(ctx)
	a.pendingRuns.Start(ctx)
	if a.lastKnown != nil {
		a.recalling.Start(ctx, func(ctx context.Context) {
			a.recallLastKnown(ctx)
			if ctx.Err() == nil { // otherwise a save would lose a part of the file
				a.lastKnown.Start(ctx)
			}
		})
	}
	return nil
}

// announce logs that the node serves. If the node is not ready yet, it logs the reason too.
func (a *App) announce(ctx context.Context) error {
	facts := []any{"version", version, "address", a.Address(), "url", baseURL(a.settings), "store", a.db.Name(), "node", a.settings.Name}
	if len(a.servers) > 1 {
		facts = append(facts, "metrics", a.servers[1].listener.Addr().String())
	}
	if err := a.checkReady(ctx); err != nil {
		a.log.Warn("Signalbox is serving but not ready yet; /api/readiness reports when it is ready.", append(facts, "error", err)...)
	} else {
		a.log.Info("Signalbox is ready.", facts...)
	}
	if telemetry.IsTerminal(a.stdout) {
		return show(a.stdout, shownURL, baseURL(a.settings))
	}
	return nil
}

// Run serves until ctx ends or a listener fails, then stops.
func (a *App) Run(ctx context.Context) error {
	defer runtime.KeepAlive(reserve())
	if err := a.Start(ctx); err != nil {
		return errors.Join(err, a.Stop(ctx))
	}
	var failure error
	select {
	case <-ctx.Done():
		a.log.Info("Signalbox is shutting down.", "timeout", a.settings.ShutdownTimeout.String())
	case failure = <-a.failed():
	case failure = <-a.failure:
	}
	return errors.Join(failure, a.Stop(context.WithoutCancel(ctx)))
}

// Stop waits for running requests up to the shutdown timeout, then stops all
// loops and closes the store.
func (a *App) Stop(ctx context.Context) error {
	a.stopping.Store(true)
	if a.standIn != nil {
		a.standIn.stopping.Store(true)
		a.finishing.Stop()
		if stopped, err := a.stopStandIn(ctx); stopped {
			return err
		}
	}
	draining, cancel := context.WithTimeout(ctx, a.settings.ShutdownTimeout)
	defer cancel()
	a.scheduler.Stop()
	a.courier.Stop()
	var leaving sync.WaitGroup
	leaving.Go(func() { a.stream.Stop(draining) })
	leaving.Go(func() { a.worker.Stop(draining) })
	var err error
	for _, server := range a.servers {
		err = errors.Join(err, server.stop(draining))
	}
	leaving.Wait()
	a.egress.Close()
	if a.openID != nil {
		a.openID.Close()
	}
	a.servers = nil
	a.expirer.Stop()
	a.pendingRuns.Stop()
	for _, chore := range a.chores {
		chore.Stop()
	}
	a.listener.Stop()
	a.feed.Stop()
	a.api.Stop()
	ending, cancel := context.WithTimeout(ctx, endTimeout)
	defer cancel()
	a.evaluations.Stop(ending) // before refreshes, which it writes to
	a.refreshes.Stop(ending)
	a.connected.Stop(ending)
	keeping, cancel := context.WithTimeout(ctx, max(endTimeout, left(draining)))
	defer cancel()
	a.stopKeeping(keeping)
	return errors.Join(err, a.close(ctx))
}

// left returns the time until the deadline of ctx.
func left(ctx context.Context) time.Duration {
	deadline, _ := ctx.Deadline()
	return time.Until(deadline)
}

// close releases everything that New opened.
func (a *App) close(ctx context.Context) error {
	var err error
	for _, server := range a.servers {
		err = errors.Join(err, server.listener.Close())
	}
	if a.db != nil {
		err = errors.Join(err, a.db.Close())
	}
	if a.folder != nil {
		err = errors.Join(err, a.folder.Close())
		a.folder = nil // Stop may be called again
	}
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	return errors.Join(err, a.tracing.Shutdown(ctx))
}

// Address returns the address that the API listens on.
func (a *App) Address() string { return a.servers[0].listener.Addr().String() }

// Operator returns an operator that uses this server's store, for tests that need many
// accounts. Do not close it.
func (a *App) Operator() *Operator {
	return &Operator{settings: a.settings, db: a.db, plans: a.plans}
}

// Store returns this server's store. The demo writes a history to it, which no request can do.
func (a *App) Store() *store.DB { return a.db }

// Handler returns the API's handler, for callers without a socket.
func (a *App) Handler() http.Handler { return *a.entrance.current.Load() }

// MetricsHandler serves the metrics at the operator's separate address.
func (a *App) MetricsHandler() http.Handler { return a.metrics.OperatorHandler() }

// listen binds the addresses and reads the certificate.
func (a *App) listen(ctx context.Context) error {
	main, err := newServer(ctx, "SIGNALBOX_LISTEN", a.settings.Listen, a.log)
	if err != nil {
		return err
	}
	a.servers = append(a.servers, main)
	a.settings.Listen = bound(a.settings.Listen, main.listener)
	if a.settings.TLSCert != "" {
		if err := main.useTLS(a.settings.TLSCert, a.settings.TLSKey, a.log); err != nil {
			return err
		}
	}
	if a.settings.MetricsListen == "" {
		return nil
	}
	metrics, err := newServer(ctx, "SIGNALBOX_METRICS_LISTEN", a.settings.MetricsListen, a.log)
	if err != nil {
		return err
	}
	a.servers = append(a.servers, metrics)
	return nil
}

// serve starts answering requests on the bound addresses.
func (a *App) serve() {
	a.servers[0].http.Handler = &a.entrance
	if len(a.servers) > 1 {
		a.servers[1].http.Handler = a.metricsMux()
	}
	for _, server := range a.servers {
		server.start()
	}
}

func (a *App) metricsMux() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /metrics", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Content-Type-Options", "nosniff") // as in the API's responses
		a.MetricsHandler().ServeHTTP(w, r)
	})
	return mux
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
