package settings

import (
	"fmt"
	"math"
	"net/netip"
	"strings"
	"time"
)

const (
	prefix             = "SIGNALBOX_"
	configName         = prefix + "CONFIG"
	otlpEndpoint       = "OTEL_EXPORTER_OTLP_ENDPOINT"
	otlpTracesEndpoint = "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"
)

// setting is one row of the table. Flags, parsing and documentation derive from it.
type setting struct {
	name     string // the variable; the flag's name is derived from it
	value    string // the value's placeholder in help texts
	fallback string // the default, as a person would write it
	note     string // describes a default that is not a fixed text
	help     string
	store    bool // also for commands that only open the store
	links    bool // also for commands that print links to the service
	secret   bool // messages must not contain the value
	set      func(*Settings, string) error
}

// flag returns the name of the flag: SIGNALBOX_TLS_CERT is --tls-cert.
func (r setting) flag() string {
	return strings.ToLower(strings.ReplaceAll(strings.TrimPrefix(r.name, prefix), "_", "-"))
}

// invalid returns an error with the origin of the value, the rule, and the value unless it is secret.
func (r setting) invalid(value given, rule error) error {
	if r.secret {
		return fmt.Errorf("%s: the value %w", value.origin, rule)
	}
	return fmt.Errorf("%s: %q %w", value.origin, value.text, rule)
}

// into returns a setter that parses the text and stores the result in a field. The parser's error continues the
// sentence `SETTING: "value" …`, so it does not repeat the value.
func into[T any](field func(*Settings) *T, parse func(string) (T, error)) func(*Settings, string) error {
	return func(s *Settings, text string) error {
		value, err := parse(text)
		if err == nil {
			*field(s) = value
		}
		return err
	}
}

// configSetting names the settings file. It is read first, because the file is a source of the other settings.
//
//nolint:gochecknoglobals // nothing changes it
var configSetting = setting{name: configName, value: "FILE", note: "none", store: true,
	help: "file of KEY=VALUE lines with further settings; the environment and flags win over it",
	set:  into(func(s *Settings) *string { return &s.Config }, anyText)}

// table has every setting, in the order of the documentation.
//
//nolint:gochecknoglobals // nothing changes it
var table = []setting{
	configSetting,
	{name: "SIGNALBOX_LISTEN", value: "HOST:PORT", fallback: "127.0.0.1:8080", links: true,
		help: "address the service listens on; an empty host means all addresses",
		set:  into(func(s *Settings) *string { return &s.Listen }, hostPort)},
	{name: "SIGNALBOX_METRICS_LISTEN", value: "HOST:PORT", note: "on the main address",
		help: "another address for /metrics",
		set:  into(func(s *Settings) *string { return &s.MetricsListen }, hostPort)},
	{name: "SIGNALBOX_PUBLIC_URL", value: "URL", note: "the request's Host", links: true,
		help: "absolute http or https URL that links in responses start with",
		set:  into(func(s *Settings) *string { return &s.PublicURL }, publicURL)},
	{name: "SIGNALBOX_TLS_CERT", value: "FILE", note: "plain HTTP",
		help: "PEM file with the certificate chain; needs the key too",
		set:  into(func(s *Settings) *string { return &s.TLSCert }, anyText)},
	{name: "SIGNALBOX_TLS_KEY", value: "FILE", note: "plain HTTP",
		help: "PEM file with the certificate's private key",
		set:  into(func(s *Settings) *string { return &s.TLSKey }, anyText)},
	{name: "SIGNALBOX_RATE_LIMIT", value: "NUMBER", fallback: "0",
		help: "requests per second that one key, with its sessions, or one person may make; 0 means no limit",
		set:  into(func(s *Settings) *float64 { return &s.RateLimit }, rate)},
	{name: "SIGNALBOX_TRUSTED_PROXIES", value: "CIDR,...", note: "none",
		help: "networks of reverse proxies, separated by commas, whose X-Forwarded-For or Forwarded says where a request comes from; from all others these headers are ignored",
		set:  into(func(s *Settings) *[]netip.Prefix { return &s.TrustedProxies }, networks)},
	{name: "SIGNALBOX_STREAM_MAX_AGE", value: "DURATION", fallback: "1h",
		help: "how long an event socket or stream stays open at most, so that load balancers can spread sockets again; 0s means forever",
		set:  into(func(s *Settings) *time.Duration { return &s.StreamMaxAge }, notNegative)},
	{name: "SIGNALBOX_STREAM_SOCKETS", value: "NUMBER", fallback: "50000",
		help: "event sockets and OFREP event streams that this node holds at most; 0 means no limit",
		set:  into(func(s *Settings) *int { return &s.StreamSockets }, wholeNumber(0, math.MaxInt32))},
	{name: "SIGNALBOX_STREAM_ACCOUNT_SOCKETS", value: "NUMBER", fallback: "0",
		help: "event sockets and OFREP event streams that this node holds at most for one account; 0 means half of SIGNALBOX_STREAM_SOCKETS, and that number lifts the limit",
		set:  into(func(s *Settings) *int { return &s.StreamAccountSockets }, wholeNumber(0, math.MaxInt32))},
	{name: "SIGNALBOX_STREAM_TOKEN_TTL", value: "DURATION", fallback: "24h",
		help: "how long the URL of an OFREP event stream works, at least 1s; a page whose URL has expired gets a new one by evaluating again, and open streams stay open",
		set:  into(func(s *Settings) *time.Duration { return &s.StreamTokenTTL }, tokenTTL)},
	{name: "SIGNALBOX_DATA", value: "DIRECTORY", fallback: "./data", store: true,
		help: "directory of the SQLite file, the key ring, and the last known state that a node keeps for an outage of PostgreSQL",
		set:  into(func(s *Settings) *string { return &s.Data }, anyText)},
	{name: "SIGNALBOX_DATABASE", value: "URL", note: "SQLite in the data directory", store: true, secret: true,
		help: "PostgreSQL as postgres://user:password@host:5432/name; several hosts are separated by commas",
		set:  into(func(s *Settings) *string { return &s.Database }, postgresURL)},
	{name: "SIGNALBOX_KEYRING", value: "FILE|KEYS", note: "a file in the data directory", store: true, secret: true,
		help: "file with the encryption keys, or the keys themselves",
		set:  into(func(s *Settings) *string { return &s.Keyring }, anyText)},
	{name: "SIGNALBOX_PLANS", value: "FILE", note: "the built-in plans", store: true,
		help: "file that replaces the built-in plans",
		set:  into(func(s *Settings) *string { return &s.Plans }, anyText)},
	{name: "SIGNALBOX_BOOTSTRAP_KEY", value: "KEY", secret: true,
		help: "OWNER key to install at the first start, 20 to 200 visible ASCII characters; without it a key is created and printed once",
		set:  into(func(s *Settings) *string { return &s.BootstrapKey }, visibleText(20, 200))},
	{name: "SIGNALBOX_BOOTSTRAP_KEY_FILE", value: "FILE", note: "none",
		help: "file of mode 0600 that the first start writes the OWNER key to, instead of printing it",
		set:  into(func(s *Settings) *string { return &s.BootstrapKeyFile }, anyText)},
	{name: "SIGNALBOX_BOOTSTRAP_PLAN", value: "PLAN", fallback: "pro",
		help: "plan of the first account: free, standard, pro, or one per product such as jobs=pro,logging=free",
		set:  into(func(s *Settings) *string { return &s.BootstrapPlan }, anyText)},
	{name: "SIGNALBOX_OIDC_ISSUER", value: "URL", note: "no sign-in by OpenID Connect",
		help: "OpenID Connect provider that people may sign in with, spelled as the provider does: its /.well-known/openid-configuration is read",
		set:  into(func(s *Settings) *string { return &s.OIDCIssuer }, issuer)},
	{name: "SIGNALBOX_OIDC_CLIENT_ID", value: "ID", note: "none",
		help: "client that the provider knows Signalbox as; its redirect URI is SIGNALBOX_PUBLIC_URL followed by /auth/oidc/callback",
		set:  into(func(s *Settings) *string { return &s.OIDCClientID }, anyText)},
	{name: "SIGNALBOX_OIDC_CLIENT_SECRET", value: "SECRET", note: "none, for a public client", secret: true,
		help: "the client's secret",
		set:  into(func(s *Settings) *string { return &s.OIDCClientSecret }, anyText)},
	{name: "SIGNALBOX_OIDC_ROLE_CLAIM", value: "CLAIM", note: "none",
		help: "claim that gives roles, a text or a list of them, such as groups or realm_access.roles",
		set:  into(func(s *Settings) *string { return &s.OIDCRoleClaim }, anyText)},
	{name: "SIGNALBOX_OIDC_ROLES", value: "VALUE=ROLE,...", note: "only users who were invited sign in, with the role they have",
		help: "roles in the first account by the claim's values, for example admins=ADMIN,*=VIEWER, or a JSON object; * is everybody, the strongest role wins",
		set:  into(func(s *Settings) *map[string]string { return &s.OIDCRoles }, roles)},
	{name: "SIGNALBOX_OIDC_DOMAINS", value: "DOMAIN,...", note: "any",
		help: "domains of the e-mail addresses that may sign in by OpenID Connect; * means any",
		set:  into(func(s *Settings) *[]string { return &s.OIDCDomains }, domains)},
	{name: "SIGNALBOX_ALLOW_NETWORKS", value: "CIDR,...", note: "none",
		help: "networks that jobs may reach although they are not public, separated by commas",
		set:  into(func(s *Settings) *[]netip.Prefix { return &s.AllowNetworks }, networks)},
	{name: "SIGNALBOX_RETENTION", value: "DURATION", fallback: "30d",
		help: "how long finished runs are kept, at least 1h, for example 30d or 12h",
		set:  into(func(s *Settings) *time.Duration { return &s.Retention }, retention)},
	{name: "SIGNALBOX_CHANGES_RETENTION", value: "DURATION", fallback: "365d",
		help: "how long the history of changes is kept, at least 1h",
		set:  into(func(s *Settings) *time.Duration { return &s.ChangesRetention }, retention)},
	{name: "SIGNALBOX_HISTORY_BYTES", value: "SIZE", fallback: "1GiB",
		help: "how much an account's history may hold, such as 500MiB, at least 1MiB; beyond it the oldest changes lose their documents from before and after; 0 means no limit",
		set:  into(func(s *Settings) *int64 { return &s.HistoryBytes }, historySize)},
	{name: "SIGNALBOX_PENDING_LIMIT", value: "DURATION", fallback: "24h",
		help: "how long a run may be pending before it is canceled, at least 1m",
		set:  into(func(s *Settings) *time.Duration { return &s.PendingLimit }, pendingLimit)},
	{name: "SIGNALBOX_DATABASE_CONNECTIONS", value: "NUMBER", fallback: "24",
		help: "connections to PostgreSQL that this node opens at most, 8 to 500",
		set:  into(func(s *Settings) *int { return &s.DatabaseConnections }, wholeNumber(8, 500))},
	{name: "SIGNALBOX_RUNS_IN_FLIGHT", value: "NUMBER", fallback: "2048",
		help: "requests of runs that this node makes at once, 4 to 10000; an account gets half of them and a host a quarter",
		set:  into(func(s *Settings) *int { return &s.RunsInFlight }, wholeNumber(4, 10_000))},
	{name: "SIGNALBOX_NODE", value: "NAME", note: "the host's name",
		help: "this node's name, different on every node of one database and the same after a restart",
		set:  into(func(s *Settings) *string { return &s.Name }, visibleText(1, 200))},
	{name: "SIGNALBOX_SHUTDOWN_TIMEOUT", value: "DURATION", fallback: "15s",
		help: "how long requests and runs in flight may take to finish after a signal to stop",
		set:  into(func(s *Settings) *time.Duration { return &s.ShutdownTimeout }, notNegative)},
	{name: "SIGNALBOX_LOG_LEVEL", value: "LEVEL", fallback: "info", store: true,
		help: "least severe level that is logged: debug, info, warn or error",
		set:  into(func(s *Settings) *string { return &s.LogLevel }, oneOf("debug", "info", "warn", "error"))},
	{name: "SIGNALBOX_LOG_FORMAT", value: "FORMAT", fallback: "auto", store: true,
		help: "auto, text or json; auto is text on a terminal and json elsewhere",
		set:  into(func(s *Settings) *string { return &s.LogFormat }, oneOf("auto", "text", "json"))},
}
