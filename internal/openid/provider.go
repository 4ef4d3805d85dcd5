package openid

import (
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"github.com/signalbox/signalbox/internal/fault"
	"github.com/signalbox/signalbox/internal/sealed"
)

const (
	// requestTimeout limits one request to the provider. signInTimeout limits a whole sign-in.
	requestTimeout = 5 * time.Second
	signInTimeout  = 15 * time.Second
	// retryAfter is the pause after a request that the provider did not answer.
	retryAfter = 3 * time.Second
	// maxInFlight limits the sign-ins that wait for the provider at the same time, because anybody may begin
	// one.
	maxInFlight = 32
	// maxAnswer limits how many bytes of an answer are read.
	maxAnswer = 1 << 20
)

// The reasons why a sign-in failed before the person was identified. The metadata of the refusal has the
// reason.
const (
	ReasonState       = "state"       // the sign-in was begun too long ago, in another browser, or by somebody else
	ReasonCanceled    = "canceled"    // the person canceled the sign-in
	ReasonProvider    = "provider"    // the provider refused, or its answer cannot be trusted
	ReasonUnavailable = "unavailable" // the provider does not answer
)

// Options describe the provider.
type Options struct {
	Issuer, ClientID, ClientSecret string
	// RoleClaim is the claim whose values decide about roles; empty for none.
	RoleClaim string
}

// Sealer encrypts and decrypts the flows that browsers keep.
type Sealer interface {
	Seal(place sealed.Place, plaintext []byte) ([]byte, error)
	Unseal(place sealed.Place, sealed []byte) ([]byte, error)
}

// Provider is an OpenID Connect provider.
type Provider struct {
	options Options
	sealer  Sealer
	now     func() time.Time
	client  *http.Client
	slots   chan struct{}

	mu         sync.Mutex // held while the provider's configuration is read
	discovered *oidc.Provider
	failure    error
	retryAt    time.Time
}

// New returns a provider. It sends no request yet.
func New(options Options, sealer Sealer, now func() time.Time) *Provider {
	transport := &http.Transport{Proxy: http.ProxyFromEnvironment, MaxIdleConnsPerHost: 4, IdleConnTimeout: time.Minute,
		TLSHandshakeTimeout: requestTimeout, ForceAttemptHTTP2: true}
	return &Provider{options: options, sealer: sealer, now: now, slots: make(chan struct{}, maxInFlight),
		client: &http.Client{Transport: bounded{transport}, Timeout: requestTimeout}}
}

// Close closes idle connections to the provider.
func (p *Provider) Close() { p.client.CloseIdleConnections() }

// bounded limits the length of answers.
type bounded struct{ *http.Transport }

// RoundTrip sends a request.
func (b bounded) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := b.Transport.RoundTrip(r)
	if err == nil {
		response.Body = struct {
			io.Reader
			io.Closer
		}{io.LimitReader(response.Body, maxAnswer), response.Body}
	}
	return response, err
}

// ask waits for a free slot and calls the provider, within signInTimeout.
func (p *Provider) ask(ctx context.Context, call func(context.Context, *oidc.Provider) error) error {
	ctx, cancel := context.WithTimeout(oidc.ClientContext(ctx, p.client), signInTimeout)
	defer cancel()
	select {
	case p.slots <- struct{}{}:
		defer func() { <-p.slots }()
	case <-ctx.Done():
		return errUnavailable(ctx.Err())
	}
	discovered, err := p.discover(ctx)
	if err != nil {
		return err
	}
	return call(ctx, discovered)
}

// discover reads the provider's configuration once and remembers it.
func (p *Provider) discover(ctx context.Context) (*oidc.Provider, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.discovered != nil {
		return p.discovered, nil
	}
	if p.now().Before(p.retryAt) {
		return nil, errUnavailable(p.failure)
	}
	discovered, err := oidc.NewProvider(context.WithoutCancel(ctx), p.options.Issuer) // not canceled, because other sign-ins wait for it too; the client has a timeout
	if err != nil {
		p.failure, p.retryAt = err, p.now().Add(retryAfter)
		return nil, errUnavailable(err)
	}
	p.discovered, p.failure = discovered, nil
	return discovered, nil
}

// config returns the OAuth configuration for requesting and exchanging codes.
func (p *Provider) config(discovered *oidc.Provider, redirect string) *oauth2.Config {
	config := &oauth2.Config{ClientID: p.options.ClientID, ClientSecret: p.options.ClientSecret, RedirectURL: redirect,
		Endpoint: discovered.Endpoint(), Scopes: p.scopes(discovered)}
	if p.options.ClientSecret == "" {
		config.Endpoint.AuthStyle = oauth2.AuthStyleInParams // a public client has no secret
	}
	return config
}

// scopes returns the scopes to request. Some providers send groups only if a scope of that name is requested.
// Others refuse unknown scopes.
func (p *Provider) scopes(discovered *oidc.Provider) []string {
	scopes := []string{oidc.ScopeOpenID, "email", "profile"}
	var announced struct {
		Scopes []string `json:"scopes_supported"`
	}
	if err := discovered.Claims(&announced); err == nil && slices.Contains(announced.Scopes, p.options.RoleClaim) && !slices.Contains(scopes, p.options.RoleClaim) {
		scopes = append(scopes, p.options.RoleClaim)
	}
	return scopes
}

func errUnavailable(cause error) error {
	return fault.New(fault.Unavailable, "The OpenID Connect provider does not answer. Try again in a moment, or sign in with a password.").
		With("reason", ReasonUnavailable).Because(cause)
}

// errProvider returns the refusal of a sign-in that the provider did not confirm.
func errProvider(cause error) error {
	return fault.New(fault.Unauthorized, "The OpenID Connect provider did not confirm the sign-in. Try again.").
		With("reason", ReasonProvider).Because(cause)
}

// exchangeError returns errProvider if the provider refused the code, and errUnavailable if it did not answer.
func exchangeError(err error) error {
	if _, refused := errors.AsType[*oauth2.RetrieveError](err); refused {
		return errProvider(err)
	}
	return errUnavailable(err)
}
