package api

import (
	"cmp"
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/netip"
	"net/url"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/signalbox/signalbox/internal/accounts"
	"github.com/signalbox/signalbox/internal/admission"
	"github.com/signalbox/signalbox/internal/changes"
	"github.com/signalbox/signalbox/internal/configs"
	"github.com/signalbox/signalbox/internal/connections"
	"github.com/signalbox/signalbox/internal/environments"
	"github.com/signalbox/signalbox/internal/flags"
	"github.com/signalbox/signalbox/internal/jobs"
	"github.com/signalbox/signalbox/internal/logging"
	"github.com/signalbox/signalbox/internal/observations"
	"github.com/signalbox/signalbox/internal/once"
	"github.com/signalbox/signalbox/internal/openid"
	"github.com/signalbox/signalbox/internal/page"
	"github.com/signalbox/signalbox/internal/plans"
	"github.com/signalbox/signalbox/internal/telemetry"
	"github.com/signalbox/signalbox/internal/webhooks"
)

// Authenticator turns a bearer token or a session's cookie into a caller.
type Authenticator interface {
	// Authenticate finds the caller of a token; peer is the address of the sender.
	Authenticate(ctx context.Context, token, peer string) (accounts.Caller, error)
	AuthenticateSession(ctx context.Context, token, peer string) (accounts.Caller, error)
	// AuthenticateKey finds the caller of a key by its id, for tokens that this server
	// has signed for the key.
	AuthenticateKey(ctx context.Context, account, id string) (accounts.Caller, error)
	// Recall returns the caller behind a token from memory, while the database is
	// away.
	Recall(token string) (accounts.Caller, bool)
	// Expect remembers a new key or session by its plaintext.
	Expect(plaintext string)
	// Forget makes the next request with the key look it up again.
	Forget(keyID string)
}

// History reads recorded changes.
type History interface {
	Change(ctx context.Context, account string, seq int64) (changes.Change, error)
	// Changes returns the changes before a number, newest first; 0 starts at the newest.
	Changes(ctx context.Context, account string, filter changes.Filter, before int64, size int) (page.Tail[changes.Change], error)
	// EventsAfter returns up to limit changes after a number, oldest first, without
	// most of their documents.
	EventsAfter(ctx context.Context, account string, seq int64, limit int) ([]changes.Change, error)
	// Bytes returns the size of an account's history and its limit; -1 is no limit.
	Bytes(ctx context.Context, account string) (bytes, limit int64, err error)
}

// EventStream turns requests into event sockets and OFREP event streams.
type EventStream interface {
	// Open takes over the connection. If it returns an error, it has sent nothing.
	// recheck authenticates the caller again.
	Open(w http.ResponseWriter, r *http.Request, caller accounts.Caller, wanted connections.Subscription, recheck func(context.Context) (accounts.Caller, error)) error
	// Watch counts a response in another protocol, such as gRPC, as one of the account's sockets. The caller writes the
	// response; the Watch tells it of changes of the kinds for which concerns returns true.
	Watch(ctx context.Context, caller accounts.Caller, watching connections.Watching, recheck func(context.Context) (accounts.Caller, error)) (connections.Watch, error)
	// Follow is like Open for an event stream. Over HTTP/2 it returns when the stream ends.
	Follow(w http.ResponseWriter, r *http.Request, caller accounts.Caller, wanted connections.Following, recheck func(context.Context) (accounts.Caller, error)) error
}

// SnapshotSource reads the snapshots that running services load.
type SnapshotSource interface {
	// Snapshot returns parts of an account's snapshot, all from one state of the
	// database. It calls config for each config, and stops if that fails.
	Snapshot(ctx context.Context, account, environment string, parts SnapshotParts, config func(configs.Resolved) error) (Snapshot, error)
}

// Console serves the web console beside the API.
type Console interface {
	// Serve answers a request that has no route, and reports whether it did.
	Serve(w http.ResponseWriter, r *http.Request) bool
}

// OpenID signs people in with an OpenID Connect provider.
type OpenID interface {
	// Start begins a sign-in. The provider sends the browser back to the URL redirect,
	// and the sign-in ends at path.
	Start(ctx context.Context, redirect, path string) (openid.Begun, error)
	// Finish returns the identity of the person who signed in, and the path from Start.
	Finish(ctx context.Context, kept string, answer url.Values) (accounts.Identity, string, error)
}

// Services has the parts that the API is built from.
type Services struct {
	Accounts      *accounts.Service
	Once          *once.Service
	Plans         plans.Table
	Environments  *environments.Service
	Observations  *observations.Service
	Flags         *flags.Service
	FlagSnapshots *flags.Snapshots // compiled flags, for evaluation
	Evaluations   *observations.Evaluations
	Slots         observations.Slots // of large reports
	Logging       *logging.Service
	Configs       *configs.Service
	Jobs          *jobs.Service
	Webhooks      *webhooks.Service
	Connections   *connections.Service
	Pollers       *connections.Pollers
	Snapshots     SnapshotSource
	History       History
	Auth          Authenticator
	Events        EventStream
	Signer        Signer           // of the tokens of event streams; nil offers no streams
	Now           func() time.Time // the clock of tokens; nil is time.Now
	Console       Console
	OpenID        OpenID                          // nil is none
	Live          func() bool                     // whether the change feed is live; nil is always
	Remote        bool                            // whether the database is behind a network
	Ready         func(ctx context.Context) error // why the process cannot serve, or nil
	// Serving returns the problem of a process that can only answer evaluations, or the
	// reason why the process should get no traffic.
	Serving func(ctx context.Context) (degraded string, err error)
	OpenAPI func() (json.RawMessage, error) // the interface description
	Log     *slog.Logger
	Metrics *telemetry.Metrics
	Tracing *telemetry.Tracing
}

// Options are the operator's choices.
type Options struct {
	PublicURL string  // the base of links; empty uses the request's host
	RateLimit float64 // how many requests per second a key or a person may make; 0 is no limit
	// TrustedProxies are the networks of proxies whose X-Forwarded-For and Forwarded are trusted.
	TrustedProxies []netip.Prefix
	ServeMetrics   bool   // whether the API's address serves /metrics
	SignInPage     string // the path of the page that explains a failed sign-in; empty is none
	// SnapshotBytes bounds the snapshots of all accounts in memory; 0 means 128 MiB. The
	// newest snapshot is kept whatever its size.
	SnapshotBytes int
	// StreamTokenTTL is how long the URL of an event stream works; 0 means a day.
	StreamTokenTTL time.Duration
}

// API is the HTTP interface.
type API struct {
	Services
	options Options
	mux     *http.ServeMux
	cache   *responseCache
	loaded  *snapshotCache
	outage  *outage

	refresher *refresher
	limits    *rateLimits
	signIns   *rateLimits // by key
	queue     *admission.Queue
	secure    bool // callers use TLS, at least up to a proxy
	origins   origins
	peers     peers

	requestIDs   *requestIDs
	streamTokens streamTokens
}

// Forget drops all caches. It is called when the database was restored to an earlier
// state.
func (a *API) Forget() {
	a.cache.forget()
	a.loaded.forget()
	a.FlagSnapshots.Forget()
	a.refresher.forget()
}

// Start begins to refresh, in the background, the snapshots and flags that would be
// served if the database were away. See refresher.
func (a *API) Start(ctx context.Context) { a.refresher.start(ctx) }

// Stop ends the background work.
func (a *API) Stop() { a.refresher.loop.Stop() }

// Hear takes a change from the feed.
func (a *API) Hear(change changes.Change) { a.refresher.moved(change.Account, change.Seq) }

// Moved tells the API that an account has changes up to seq that the feed skipped.
func (a *API) Moved(account string, seq int64) { a.refresher.moved(account, seq) }

// New creates the HTTP interface.
func New(services Services, options Options) *API {
	a := &API{Services: services, options: options, mux: http.NewServeMux(),
		cache: newResponseCache(), loaded: newSnapshotCache(services.Snapshots, services.History, cmp.Or(options.SnapshotBytes, defaultSnapshotBytes)), outage: &outage{live: services.Live, remote: services.Remote && services.Live != nil},
		limits: newRateLimits(options.RateLimit), signIns: newSignInLimits(), queue: admission.NewQueue(admission.For(runtime.GOMAXPROCS(0), services.Remote)), requestIDs: newRequestIDs(),
		secure: strings.HasPrefix(strings.ToLower(options.PublicURL), "https://"), origins: newOrigins(options.PublicURL), peers: peers{options.TrustedProxies}}
	a.refresher = newRefresher(a)
	if a.Now == nil {
		a.Now = time.Now
	}
	a.streamTokens = streamTokens{signer: services.Signer, window: cmp.Or(options.StreamTokenTTL, defaultTokenTTL), now: a.Now}
	for _, route := range slices.Concat(a.routes(), a.methods()) {
		a.mux.Handle(route.pattern, a.endpoint(route))
	}
	a.mux.HandleFunc(everything, a.unrouted)
	return a
}
