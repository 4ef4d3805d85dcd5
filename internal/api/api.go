package api

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"

	"github.com/signalbox/signalbox/internal/accounts"
	"github.com/signalbox/signalbox/internal/changes"
	"github.com/signalbox/signalbox/internal/environments"
	"github.com/signalbox/signalbox/internal/flags"
	"github.com/signalbox/signalbox/internal/jobs"
	"github.com/signalbox/signalbox/internal/page"
	"github.com/signalbox/signalbox/internal/telemetry"
)

// Authenticator turns a bearer token into a caller.
type Authenticator interface {
	Authenticate(ctx context.Context, token string) (accounts.Caller, error)
	// Forget makes the next request with a key look it up again.
	Forget(keyID string)
}

// History reads recorded changes.
type History interface {
	Change(ctx context.Context, account string, seq int64) (changes.Change, error)
	// Changes gives the changes before a number (0: from the end), newest first.
	Changes(ctx context.Context, account string, filter changes.Filter, before int64, size int) (page.Tail[changes.Change], error)
}

// Services is what the API is made of.
type Services struct {
	Accounts     *accounts.Service
	Environments *environments.Service
	Flags        *flags.Service
	// FlagSnapshots gives compiled flags for evaluation.
	FlagSnapshots *flags.Snapshots
	Jobs          *jobs.Service
	History       History
	Auth          Authenticator
	// Version gives a number that grows with every recorded change of an
	// account, as of now.
	Version func(ctx context.Context, account string) (int64, error)
	// Ready tells why the process cannot serve, or nil.
	Ready func(ctx context.Context) error
	// OpenAPI gives the interface description.
	OpenAPI func() (json.RawMessage, error)
	Log     *slog.Logger
	Metrics *telemetry.Metrics
	Tracing *telemetry.Tracing
}

// Options are the operator's choices.
type Options struct {
	// PublicURL is the base of links; empty means the request's host.
	PublicURL string
	// RateLimit is how many requests per second a key may make; 0 is no limit.
	RateLimit float64
	// ServeMetrics puts /metrics beside the API.
	ServeMetrics bool
}

// API is the HTTP interface.
type API struct {
	Services
	options Options
	mux     *http.ServeMux
	cache   *responseCache
	limits  *rateLimits
}

// Forget drops everything that is kept between requests, for when history was
// rewound under the process.
func (a *API) Forget() {
	a.cache.forget()
	a.FlagSnapshots.Forget()
}

// New builds the HTTP interface.
func New(services Services, options Options) *API {
	a := &API{Services: services, options: options, mux: http.NewServeMux(),
		cache: newResponseCache(services.Version), limits: newRateLimits(options.RateLimit)}
	for _, route := range a.routes() {
		a.mux.Handle(route.pattern, a.endpoint(route))
	}
	a.mux.HandleFunc(everything, a.unrouted)
	return a
}
