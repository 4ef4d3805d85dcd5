package app

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"github.com/signalbox/signalbox"
	"github.com/signalbox/signalbox/internal/accounts"
	"github.com/signalbox/signalbox/internal/api"
	"github.com/signalbox/signalbox/internal/book"
	"github.com/signalbox/signalbox/internal/changes"
	"github.com/signalbox/signalbox/internal/configs"
	"github.com/signalbox/signalbox/internal/connections"
	"github.com/signalbox/signalbox/internal/console"
	"github.com/signalbox/signalbox/internal/environments"
	"github.com/signalbox/signalbox/internal/flags"
	"github.com/signalbox/signalbox/internal/logging"
	"github.com/signalbox/signalbox/internal/observations"
	"github.com/signalbox/signalbox/internal/once"
	"github.com/signalbox/signalbox/internal/stream"
	"github.com/signalbox/signalbox/internal/webhooks"
	"github.com/signalbox/signalbox/openapi"
)

// wire connects the parts: a commit wakes the feed, the feed informs its subscribers,
// and the API calls the domain.
func (a *App) wire() {
	for name, stats := range a.db.Pools() {
		a.metrics.WatchPool(name, stats)
	}
	a.metrics.WatchWritable(func() bool { return a.db.Writable() == nil })
	a.metrics.WatchClock(func() float64 {
		difference, _ := a.clock.difference()
		return difference.Seconds()
	})
	a.feed = changes.NewFeed(a.db.FeedSource(), a.log, a.options.FeedInterval)
	a.db.OnChange(a.feed.Wake)
	a.db.OnTrim(func(changes int) {
		a.trimmed.Add(int64(changes))
		a.metrics.CountTrimmed(changes)
	})
	a.listener = a.db.NewListener(a.feed.Wake)
	a.auth = &accounts.Authenticator{Directory: a.db, Live: a.feed.Live, Now: a.options.Now, Count: a.metrics.CountAuthentication,
		Used: func(account, key string, at time.Time) { a.refreshes.Note(account, observations.KeyUsed, at, key) },
		SessionUsed: func(account, session string, at time.Time) {
			a.refreshes.Note(account, observations.SessionUsed, at, session)
		}}
	a.stream = stream.New(a.db, a.metrics, a.options.Now, stream.Options{
		Server: "signalbox/" + version, MaxAge: a.settings.StreamMaxAge,
		Sockets: a.settings.StreamSockets, AccountSockets: a.settings.StreamAccountSockets,
	})
	a.wireLoops()
	services, pages := a.services(), console.New(book.New(signalbox.Documents()))
	services.Console = pages
	a.api = api.New(services, api.Options{
		PublicURL: a.settings.PublicURL, StreamTokenTTL: a.settings.StreamTokenTTL, RateLimit: a.settings.RateLimit, TrustedProxies: a.settings.TrustedProxies, ServeMetrics: a.settings.MetricsListen == "",
		SignInPage: pages.SignInPage(),
	})
	a.wireFeed()
}

// wireFeed subscribes the parts that need changes. The authenticator must hear a change
// before the stream: the stream rechecks the key of a socket that opens meanwhile.
func (a *App) wireFeed() {
	for _, hear := range []func(changes.Change){a.auth.Hear, a.expirer.Hear, a.stream.Hear, a.api.Hear} {
		a.feed.Subscribe(hear)
	}
	a.feed.Missed = func(account string, upTo int64) {
		a.auth.ForgetAll()
		a.stream.Missed(account, upTo)
		a.api.Moved(account, upTo)
	}
	a.feed.Rewound = func(seen map[string]int64) {
		a.auth.ForgetAll()
		a.stream.Rewound(seen)
		a.api.Forget()
	}
}

// wireLoops creates the background loops, except the jobs engine.
func (a *App) wireLoops() {
	a.refreshes = &observations.Refreshes{Store: a.db.Refreshes(), Interval: a.options.RefreshInterval, Log: a.log}
	observed := observationTransactions(a.db)
	a.observations = &observations.Service{Store: observed, Reports: observed.ForObservations(), Series: observations.NewSlots(),
		Discoverable: environments.Discoverable, Measured: a.measured, Dropped: a.metrics.CountDroppedReports}
	a.evaluations = &observations.Evaluations{Metrics: a.observations, Interval: a.options.RefreshInterval, Log: a.log}
	a.expirer = logging.NewExpirer(a.db.Logging().ForLoops(), a.log)
	a.expirer.Paused = a.clock.isWrong
	a.snapshots = &flags.Snapshots{Store: a.db.Flags(), History: a.db.After}
	old := &retention{db: a.db, log: a.log, runs: a.settings.Retention, changes: a.settings.ChangesRetention, now: a.clock.time, paused: a.clock.isWrong}
	seals := &resealer{db: a.db, ring: a.ring, log: a.log}
	a.chores = []*periodic{
		{every: a.options.ClockInterval, work: a.clock.check},
		{every: a.options.ResealInterval, work: seals.check},
		{every: retentionInterval, work: func(ctx context.Context) {
			a.snapshots.Evict()
			old.removeOld(ctx)
		}},
		{every: recountInterval, work: a.recount},
		{every: historyInterval, work: a.boundHistory},
		{every: historyRecountInterval, work: a.recountHistory},
	}
}

// services returns the services that the API calls.
func (a *App) services() api.Services {
	slots := observations.NewSlots()
	return api.Services{
		Once: &once.Service{Store: a.db},
		Accounts: &accounts.Service{Store: a.db.Accounts(), Passwords: accounts.NewPasswords(a.options.PasswordCost), Now: a.options.Now,
			Identities: identityRules(a.settings)},
		Plans:         a.plans,
		Environments:  &environments.Service{Store: environmentTransactions(a.db), Plans: a.plans},
		Observations:  a.observations,
		Flags:         &flags.Service{Store: a.db.Flags(), Reports: a.db.Flags().ForObservations(), Plans: a.plans, Writable: environments.Writable, Refreshes: a.refreshes, Slots: slots},
		FlagSnapshots: a.snapshots, Evaluations: a.evaluations, Slots: slots,
		Logging:     &logging.Service{Store: a.db.Logging(), Reports: a.db.Logging().ForObservations(), Plans: a.plans, Writable: environments.Writable, Refreshes: a.refreshes, Slots: slots},
		Configs:     &configs.Service{Store: a.db.Configs(), Plans: a.plans, Writable: environments.Writable},
		Jobs:        a.wireJobs(),
		Webhooks:    &webhooks.Service{Store: a.db.Webhooks()},
		Connections: a.wireConnections(), Pollers: &a.pollers, Snapshots: snapshots{a.db},
		History: a.db.History(), Auth: a.auth, Events: a.stream, Signer: a.ring, Now: a.options.Now, OpenID: a.wireOpenID(), Live: a.feed.Live, Remote: a.settings.Database != "", Ready: a.checkReady, Serving: a.serving,
		OpenAPI: sync.OnceValues(func() (json.RawMessage, error) { return openapi.JSON() }),
		Log:     a.log, Metrics: a.metrics, Tracing: a.tracing,
	}
}

// wireConnections creates the recorder of this node's event sockets and of polling
// programs, and the list of the connections of all nodes. The worker's heartbeats show which
// nodes are live.
func (a *App) wireConnections() *connections.Service {
	store := a.db.Connections()
	a.connected = &connections.Recorder{Store: store.ForObservations(), Each: a.eachConnection, Boot: a.worker.Boot,
		Interval: a.options.ConnectionInterval, Log: a.log}
	return &connections.Service{Store: store}
}

func (a *App) eachConnection(visit func(connection *connections.Connection, seq int64)) {
	a.stream.EachConnection(visit)
	a.pollers.EachConnection(time.Now(), visit)
}

// measured receives the metrics that clients report. Prometheus shows them. A metric
// that names a flag marks the flag as in use.
func (a *App) measured(account string, metric observations.Metric) {
	a.metrics.ReportClientMetric(account, metric.Name, metric.Unit, metric.Value)
	if key := flags.Evaluated(metric); key != "" {
		a.refreshes.Note(account, observations.FlagEvaluated, metric.RecordedAt, key)
	}
}
