package signalbox

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/signalbox/signalbox/client/internal/module"
)

// DefaultTimeout is the timeout of one attempt of a request; [WithTimeout] changes it.
const DefaultTimeout = 30 * time.Second

// Client talks to one server with one API key, or as a person who signed in. It is safe for concurrent use.
type Client struct {
	Account      AccountAPI      // the account that the key belongs to
	User         UserAPI         // the user who created the key, or who signed in
	Users        UsersAPI        // people of the account
	Invitations  InvitationsAPI  // invitations to the account
	Links        LinksAPI        // links that set a password
	Sessions     SessionsAPI     // people who are signed in
	Keys         KeysAPI         // API keys
	Environments EnvironmentsAPI // deployment targets
	Services     ServicesAPI     // programs that report to the account
	ContextTypes ContextTypesAPI // kinds of things that rules read, such as "user"
	Contexts     ContextsAPI     // the things themselves, such as the user "alice"
	Flags        FlagsAPI        // feature flags
	Loggers      LoggersAPI      // loggers of the account's services
	LogGroups    LogGroupsAPI    // groups of loggers that share a level
	Configs      ConfigsAPI      // configuration of services
	Jobs         JobsAPI         // scheduled HTTP requests
	Runs         RunsAPI         // executions of jobs
	Webhooks     WebhooksAPI     // messages to other systems about changes
	Usage        UsageAPI        // usage of the plan by jobs
	Changes      ChangesAPI      // history of the account
	Events       EventsAPI       // changes as they happen
	Metrics      MetricsAPI      // measurements of running services
	Snapshots    SnapshotsAPI    // everything that a service needs, in one piece
	Connections  ConnectionsAPI  // clients that follow the changes
	Documents    DocumentsAPI    // resources of any kind, as JSON
}

// Option configures a client.
type Option func(*transport)

// WithHTTPClient sets the HTTP client, for a proxy, certificates or instrumentation of your own. Redirects are not
// followed unless the client has a CheckRedirect function: Signalbox sends no redirects.
func WithHTTPClient(client *http.Client) Option {
	return func(t *transport) { t.http = client }
}

// WithTimeout limits one attempt of a request, from connecting to the last byte of the response. Zero leaves it to the
// context of the call.
func WithTimeout(timeout time.Duration) Option {
	return func(t *transport) { t.timeout = timeout }
}

// WithUserAgent puts the name of the calling program, such as "billing/1.4", before this package's in the User-Agent.
func WithUserAgent(product string) Option {
	return func(t *transport) { t.userAgent = product + " " + userAgent() }
}

// userAgent names this package with its version.
func userAgent() string { return "signalbox-go/" + module.Version() }

// WithLenientServer lets the server ignore unknown members and parameters of a request: an older server does not know the
// newest ones of this package. [Notes] then lists them. By default the server rejects such a request.
func WithLenientServer() Option {
	return func(t *transport) { t.lenient = true }
}

// WithNote sets the note of every write that has no [Note] of its own. It is for tools that do one thing.
func WithNote(text string) Option {
	return func(t *transport) { t.note = text }
}

// WithRetry changes how requests are retried.
func WithRetry(policy RetryPolicy) Option {
	return func(t *transport) { t.retry = policy }
}

// New returns a client for the server at a base URL, such as http://127.0.0.1:8080. It sends nothing yet.
func New(baseURL, key string, options ...Option) (*Client, error) {
	key = strings.TrimSpace(key) // keys are read from files that end with a newline
	t, err := newTransport(baseURL, options)
	if err != nil {
		return nil, err
	}
	if err := checkSecret("API key", key); err != nil {
		return nil, err
	}
	t.authorization = "Bearer " + key
	return newClient(t), nil
}

// CloseIdleConnections closes the connections that no request uses, when the client is no longer needed.
func (c *Client) CloseIdleConnections() { c.Account.transport.http.CloseIdleConnections() }

// newTransport returns a transport that sends no credential yet.
func newTransport(baseURL string, options []Option) (*transport, error) {
	base, err := parseBase(baseURL)
	if err != nil {
		return nil, err
	}
	t := &transport{base: base, userAgent: userAgent(), timeout: DefaultTimeout, retry: DefaultRetry(), wait: wait, random: rand.Float64}
	for _, option := range options {
		option(t)
	}
	t.http = withoutRedirects(t.http)
	return t, nil
}

func newClient(t *transport) *Client {
	return &Client{
		Account: AccountAPI{t}, User: UserAPI{t}, Usage: UsageAPI{t}, Events: EventsAPI{t}, Metrics: MetricsAPI{t}, Snapshots: SnapshotsAPI{t}, Documents: DocumentsAPI{t},
		Users:        UsersAPI{resources[User](t, "user", "users")},
		Invitations:  InvitationsAPI{resources[Invitation](t, "invitation", "invitations")},
		Links:        LinksAPI{resources[Link](t, "link", "links")},
		Sessions:     SessionsAPI{resources[Session](t, "session", "sessions")},
		Keys:         KeysAPI{resources[Key](t, "api_key", "api_keys")},
		Environments: EnvironmentsAPI{resources[Environment](t, "environment", "environments")},
		Services:     ServicesAPI{resources[Service](t, "service", "services")},
		ContextTypes: ContextTypesAPI{resources[ContextType](t, "context_type", "context_types")},
		Contexts:     ContextsAPI{resources[Context](t, "context", "contexts")},
		Flags:        FlagsAPI{resources[Flag](t, "flag", "flags")},
		Loggers:      LoggersAPI{resources[Logger](t, "logger", "loggers")},
		LogGroups:    LogGroupsAPI{resources[LogGroup](t, "log_group", "log_groups")},
		Configs:      ConfigsAPI{resources[Config](t, "config", "configs")},
		Jobs:         JobsAPI{resources[Job](t, "job", "jobs")},
		Runs:         RunsAPI{resources[Run](t, "run", "runs")},
		Webhooks:     WebhooksAPI{resources[Webhook](t, "webhook", "webhooks")},
		Changes:      ChangesAPI{resources[Change](t, "change", "changes")},
		Connections:  ConnectionsAPI{resources[Connection](t, "connection", "connections")},
	}
}

// parseBase checks the base URL and removes the slash at its end, so that paths can be appended.
func parseBase(text string) (string, error) {
	base, err := url.Parse(text)
	switch {
	case err != nil:
		return "", fmt.Errorf("signalbox: parsing the base URL: %w", err)
	case base.Scheme != "http" && base.Scheme != "https" || base.Host == "":
		return "", fmt.Errorf("signalbox: the base URL %q is not an absolute http or https URL", base.Redacted())
	case base.User != nil || base.RawQuery != "" || base.ForceQuery || base.Fragment != "":
		return "", fmt.Errorf("signalbox: the base URL %q must have no user, query or fragment", base.Redacted())
	}
	return strings.TrimRight(base.String(), "/"), nil
}

// checkSecret rejects a secret that a header cannot carry. Its errors do not contain the secret.
func checkSecret(name, secret string) error {
	if secret == "" {
		return fmt.Errorf("signalbox: the %s is empty", name)
	}
	if strings.ContainsFunc(secret, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return fmt.Errorf("signalbox: the %s contains characters other than visible ASCII", name)
	}
	return nil
}

// withoutRedirects returns a copy of client that does not follow redirects, unless client has a CheckRedirect function.
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

// newRoundTripper keeps more idle connections than the standard library: all requests go to one host, in bursts.
func newRoundTripper() http.RoundTripper {
	return &http.Transport{
		Proxy:               http.ProxyFromEnvironment,
		ForceAttemptHTTP2:   true,
		MaxIdleConnsPerHost: 16,
		IdleConnTimeout:     90 * time.Second,
		TLSHandshakeTimeout: 10 * time.Second,
	}
}
