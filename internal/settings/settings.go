package settings

import (
	"cmp"
	"errors"
	"net/netip"
	"os"
	"time"

	"github.com/spf13/pflag"
)

// Settings are the validated settings of one process. Empty means the default that table.go describes.
type Settings struct {
	Config               string            // the KEY=VALUE file that was read; empty when there was none
	Listen               string            // host:port of the service; an empty host means all addresses
	MetricsListen        string            // host:port for /metrics; empty serves /metrics on Listen
	Data                 string            // directory of the SQLite file and the key ring
	Database             string            // PostgreSQL URL, possibly with several hosts; empty means SQLite; it may contain a password
	BootstrapKey         string            // OWNER key to install at the first start; a secret
	BootstrapKeyFile     string            // where the first start writes the OWNER key
	BootstrapPlan        string            // plan of the first account, such as "free" or "jobs=pro,logging=free"; package plans parses it
	PublicURL            string            // base of absolute links, without a slash at the end; empty means the request's Host
	RateLimit            float64           // requests per second and key; 0 means no limit
	StreamMaxAge         time.Duration     // how long an event socket may be open; 0 means forever
	StreamSockets        int               // event sockets of this node; 0 means no limit
	StreamAccountSockets int               // event sockets of one account on this node; 0 means half of StreamSockets
	Plans                string            // file that replaces the built-in plans
	OIDCIssuer           string            // the OpenID Connect provider; empty means none
	OIDCClientID         string            // Signalbox's client at the provider
	OIDCClientSecret     string            // a secret; empty for a public client
	OIDCRoleClaim        string            // the claim that OIDCRoles are about
	OIDCRoles            map[string]string // roles by values of the claim; nil means that the provider gives none
	OIDCDomains          []string          // domains of e-mail addresses, in lower case; nil or "*" means any
	TrustedProxies       []netip.Prefix    // networks of proxies whose headers are trusted for clients' addresses
	AllowNetworks        []netip.Prefix    // networks that jobs may reach although they are not public
	Retention            time.Duration     // how long finished runs are kept
	ChangesRetention     time.Duration     // how long the history of changes is kept
	DatabaseConnections  int               // maximum number of connections of this node to PostgreSQL
	HistoryBytes         int64             // maximum size of an account's history; 0 is no limit
	PendingLimit         time.Duration     // how long a run may be pending before it is canceled
	RunsInFlight         int               // requests of runs that this node makes at once
	TLSCert, TLSKey      string            // PEM files; both are empty for plain HTTP
	Keyring              string            // file with the encryption keys, or the keys; a secret
	LogLevel             string            // debug, info, warn or error
	LogFormat            string            // auto, text or json
	Name                 string            // this node's name; it must stay the same after a restart, so that a node recognizes its own runs
	ShutdownTimeout      time.Duration     // how long requests and runs may take to finish after a signal to stop
	TracesEnabled        bool              // the environment names an OTLP endpoint, which the tracing library reads itself
}

// Load reads the settings from flags, the environment (as os.Environ returns it) and the file that --config or SIGNALBOX_CONFIG names.
// Only settings with a flag in fs are read and checked, so that a command does not fail because of a setting it does not use; a nil
// fs means all settings and no flags. An empty value counts as absent, except that an empty flag restores the default. Warnings are
// returned with an error as well. The error has every problem, one per line, and no secrets.
func Load(environ []string, fs *pflag.FlagSet) (Settings, []string, error) {
	from := layers{flags: fs, environ: variables(environ)}
	warnings := unknownVariables(from.environ)
	var found problems
	if path, ok := from.find(configSetting); ok && path.text != "" {
		var ignored []string
		from.file, ignored, found = readFile(path.text)
		warnings = append(warnings, ignored...)
	}
	s := from.settings(&found)
	found.add(s.conflicts()...)
	if len(found) > 0 {
		return Settings{}, warnings, errors.Join(found...)
	}
	return s, warnings, nil
}

// problems collects errors, so that one start reports all of them.
type problems []error

func (p *problems) add(errs ...error) { *p = append(*p, errs...) }

// settings returns the given values, and defaults for settings without a value.
func (l layers) settings(found *problems) Settings {
	s := Settings{Name: hostName(), TracesEnabled: cmp.Or(l.environ[otlpEndpoint], l.environ[otlpTracesEndpoint]) != ""}
	for _, row := range table {
		value, ok := l.find(row)
		if !ok || value.text == "" {
			value = given{text: row.fallback, origin: row.name}
		}
		if value.text == "" {
			continue
		}
		if err := row.set(&s, value.text); err != nil {
			found.add(row.invalid(value, err))
		}
	}
	return s
}

// conflicts checks the rules that concern two settings.
func (s Settings) conflicts() []error {
	var errs []error
	if (s.TLSCert == "") != (s.TLSKey == "") {
		errs = append(errs, errors.New("SIGNALBOX_TLS_CERT and SIGNALBOX_TLS_KEY: only one is set; set both for TLS or none for plain HTTP"))
	}
	if s.MetricsListen != "" && s.MetricsListen == s.Listen && !anyPort(s.Listen) {
		errs = append(errs, errors.New("SIGNALBOX_METRICS_LISTEN: it equals SIGNALBOX_LISTEN; leave it empty to serve /metrics there"))
	}
	return append(errs, s.openIDConflicts()...)
}

// openIDConflicts checks that OpenID Connect has all settings that it needs, and that roles for everybody are limited to domains.
func (s Settings) openIDConflicts() []error {
	var errs []error
	refuse := func(wrong bool, sentence string) {
		if wrong {
			errs = append(errs, errors.New(sentence))
		}
	}
	_, anybody := s.OIDCRoles["*"]
	named := len(s.OIDCRoles) > 1 || len(s.OIDCRoles) == 1 && !anybody
	others := s.OIDCClientID != "" || s.OIDCClientSecret != "" || s.OIDCRoleClaim != "" || s.OIDCRoles != nil || s.OIDCDomains != nil
	refuse(s.OIDCIssuer == "" && others, "SIGNALBOX_OIDC_ISSUER: it is not set, and other SIGNALBOX_OIDC settings are; set it, or remove those")
	refuse(s.OIDCIssuer != "" && s.OIDCClientID == "", "SIGNALBOX_OIDC_CLIENT_ID: it is not set; register Signalbox at the provider and set it to the client's id")
	refuse(named && s.OIDCRoleClaim == "", "SIGNALBOX_OIDC_ROLE_CLAIM: it is not set; name the claim that has the values of SIGNALBOX_OIDC_ROLES, for example groups")
	refuse(anybody && s.OIDCDomains == nil, "SIGNALBOX_OIDC_ROLES: it gives a role to everybody whom the provider knows; set SIGNALBOX_OIDC_DOMAINS to the domains that may sign in, or to * if all may")
	return errs
}

// hostName returns the default node name.
func hostName() string {
	name, _ := os.Hostname() // a host without a name is called "signalbox"
	return cmp.Or(name, "signalbox")
}
