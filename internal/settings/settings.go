package settings

import (
	"cmp"
	"errors"
	"net/netip"
	"os"
	"time"

	"github.com/spf13/pflag"
)

// Settings are the validated settings of one process. An empty value means the default in table.go.
type Settings struct {
	Config               string            // the KEY=VALUE file that was read; empty for none
	Listen               string            // host:port of the service; an empty host means all addresses
	MetricsListen        string            // host:port for /metrics; empty serves /metrics on Listen
	Data                 string            // directory of the SQLite file and the key ring
	Database             string            // PostgreSQL URL, which may have several hosts and a password; empty means SQLite
	BootstrapKey         string            // OWNER key that the first start installs; a secret
	BootstrapKeyFile     string            // where the first start writes the OWNER key
	BootstrapPlan        string            // plan of the first account, such as "free" or "jobs=pro,logging=free"; package plans parses it
	PublicURL            string            // base of absolute links, without a slash at the end; empty means the Host of the request
	RateLimit            float64           // requests per second and key; 0 means no limit
	StreamMaxAge         time.Duration     // how long an event socket may be open; 0 means forever
	StreamSockets        int               // maximum number of event sockets on this node; 0 means no limit
	StreamTokenTTL       time.Duration     // how long the URL of an OFREP event stream works
	StreamAccountSockets int               // maximum number of an account's event sockets on this node; 0 means half of StreamSockets
	Plans                string            // file that replaces the built-in plans
	OIDCIssuer           string            // the OpenID Connect provider; empty means none
	OIDCClientID         string            // the client id of Signalbox at the provider
	OIDCClientSecret     string            // a secret; empty for a public client
	OIDCRoleClaim        string            // the claim whose values OIDCRoles maps to roles
	OIDCRoles            map[string]string // roles by values of the claim; nil means that the provider decides about no roles
	OIDCDomains          []string          // allowed domains of e-mail addresses, in lower case; nil or "*" means any
	TrustedProxies       []netip.Prefix    // networks of proxies that are trusted to send the addresses of clients
	AllowNetworks        []netip.Prefix    // networks that are not public but that jobs may reach
	Retention            time.Duration     // how long finished runs are kept
	ChangesRetention     time.Duration     // how long the history of changes is kept
	DatabaseConnections  int               // maximum number of connections of this node to PostgreSQL
	HistoryBytes         int64             // maximum size of an account's history; 0 is no limit
	PendingLimit         time.Duration     // how long a run may be pending before it is canceled
	RunsInFlight         int               // maximum number of requests of runs that this node makes at once
	TLSCert, TLSKey      string            // PEM files; both are empty for plain HTTP
	Keyring              string            // file with the encryption keys, or the keys themselves; a secret
	LogLevel             string            // debug, info, warn or error
	LogFormat            string            // auto, text or json
	Name                 string            // this node's name; it must survive a restart, so that the node recognizes its own runs
	ShutdownTimeout      time.Duration     // how long requests and runs may take to finish after a signal to stop
	TracesEnabled        bool              // the environment names an OTLP endpoint; the tracing library reads it
}

// Load reads the settings from flags, the environment (in the form of os.Environ) and the file that --config or SIGNALBOX_CONFIG
// names. It reads and checks only settings that have a flag in fs, so that a command does not fail because of a setting that it does
// not use. A nil fs means all settings and no flags. An empty value counts as absent, except that an empty flag restores the default.
// Warnings are returned even with an error. The error has every problem, one per line, and no secrets.
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

// problems collects errors, so that a start reports all of them at once.
type problems []error

func (p *problems) add(errs ...error) { *p = append(*p, errs...) }

// settings returns the given values, and the defaults of all other settings.
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

// conflicts checks the rules that involve two settings.
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

// openIDConflicts checks that OpenID Connect has all required settings. A role for everybody must be limited to domains.
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
