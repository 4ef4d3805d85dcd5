package signalbox

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// DefaultTimeout is how long one attempt of a request may take unless
// [WithTimeout] says otherwise.
const DefaultTimeout = 30 * time.Second

// Client talks to one server with one API key. Make it with [New]. It may be
// used by any number of goroutines.
type Client struct {
	// Account is the account that the key belongs to.
	Account AccountAPI
	// User is the user who made the key.
	User UserAPI
	// Keys are the account's API keys.
	Keys KeysAPI
	// Environments are the account's deployment targets.
	Environments EnvironmentsAPI
	// Services are the programs that report to the account.
	Services ServicesAPI
	// ContextTypes are the kinds of things that rules look at.
	ContextTypes ContextTypesAPI
	// Contexts are the things that rules look at.
	Contexts ContextsAPI
	// Flags are the account's runtime decisions.
	Flags FlagsAPI
	// Loggers are the loggers of the account's services.
	Loggers LoggersAPI
	// LogGroups are bundles of loggers that share a level.
	LogGroups LogGroupsAPI
	// Configs are the configurations of the account's services.
	Configs ConfigsAPI
	// Jobs are the account's scheduled requests.
	Jobs JobsAPI
	// Runs are the executions of jobs.
	Runs RunsAPI
	// Usage is what jobs have used of the account's plan.
	Usage UsageAPI
	// Changes is the history of the account.
	Changes ChangesAPI
	// Events is what happens in the account, as it happens.
	Events EventsAPI
	// Metrics receives measurements of running services.
	Metrics MetricsAPI
}

// Option is a choice for [New].
type Option func(*transport)

// WithHTTPClient makes requests go through another HTTP client: one with a
// proxy, certificates or instrumentation of its own. Unless it decides about
// redirects itself, they are not followed: Signalbox sends none.
func WithHTTPClient(client *http.Client) Option {
	return func(t *transport) { t.http = client }
}

// WithTimeout bounds one attempt of a request, from the connection to the last
// byte of the answer. Zero leaves it to the context of the call.
func WithTimeout(timeout time.Duration) Option {
	return func(t *transport) { t.timeout = timeout }
}

// WithUserAgent names the program that calls, such as "billing/1.4", in front
// of this package's name.
func WithUserAgent(product string) Option {
	return func(t *transport) { t.userAgent = product + " " + userAgent }
}

// WithRetry changes how requests are repeated.
func WithRetry(policy RetryPolicy) Option {
	return func(t *transport) { t.retry = policy }
}

// New makes a client for the server at a base URL, such as
// http://127.0.0.1:8080, that authenticates with an API key. It sends nothing
// yet.
func New(baseURL, key string, options ...Option) (*Client, error) {
	base, err := parseBase(baseURL)
	if err != nil {
		return nil, err
	}
	key = strings.TrimSpace(key) // keys are read from files that end with a new line
	if err := checkKey(key); err != nil {
		return nil, err
	}
	t := &transport{
		base: base, authorization: "Bearer " + key, userAgent: userAgent, timeout: DefaultTimeout,
		retry: DefaultRetry(), wait: wait, random: rand.Float64,
	}
	for _, option := range options {
		option(t)
	}
	t.http = withoutRedirects(t.http)
	return newClient(t), nil
}

func newClient(t *transport) *Client {
	return &Client{
		Account: AccountAPI{t}, User: UserAPI{t}, Keys: KeysAPI{t},
		Environments: EnvironmentsAPI{t}, Services: ServicesAPI{t}, ContextTypes: ContextTypesAPI{t}, Contexts: ContextsAPI{t},
		Flags: FlagsAPI{t}, Loggers: LoggersAPI{t}, LogGroups: LogGroupsAPI{t},
		Configs: ConfigsAPI{t}, Jobs: JobsAPI{t}, Runs: RunsAPI{t}, Usage: UsageAPI{t},
		Changes: ChangesAPI{t}, Events: EventsAPI{t}, Metrics: MetricsAPI{t},
	}
}

// parseBase checks the base URL and drops the slash at its end, so that paths
// can be appended.
func parseBase(text string) (string, error) {
	base, err := url.Parse(text)
	switch {
	case err != nil:
		return "", fmt.Errorf("signalbox: the base URL cannot be read: %w", err)
	case base.Scheme != "http" && base.Scheme != "https" || base.Host == "":
		return "", fmt.Errorf("signalbox: the base URL %q is not an absolute http or https URL", base.Redacted())
	case base.User != nil || base.RawQuery != "" || base.ForceQuery || base.Fragment != "":
		return "", fmt.Errorf("signalbox: the base URL %q must have no user, query or fragment", base.Redacted())
	}
	return strings.TrimRight(base.String(), "/"), nil
}

// checkKey refuses what no header can carry. It never repeats the key.
func checkKey(key string) error {
	if key == "" {
		return errors.New("signalbox: the API key is empty")
	}
	if strings.ContainsFunc(key, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return errors.New("signalbox: the API key has characters that no key has")
	}
	return nil
}

// withoutRedirects gives a client that takes a redirect for an answer. A
// client that was passed in is not changed: others may use it.
func withoutRedirects(client *http.Client) *http.Client {
	if client == nil {
		client = &http.Client{Transport: newRoundTripper()}
	}
	if client.CheckRedirect != nil {
		return client
	}
	own := *client
	own.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &own
}

// newRoundTripper keeps more connections to its one server than the standard
// library does by default: callers of a control plane come in bursts.
func newRoundTripper() http.RoundTripper {
	return &http.Transport{
		Proxy:               http.ProxyFromEnvironment,
		ForceAttemptHTTP2:   true,
		MaxIdleConnsPerHost: 16,
		IdleConnTimeout:     90 * time.Second,
		TLSHandshakeTimeout: 10 * time.Second,
	}
}
