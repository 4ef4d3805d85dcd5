package settings

import (
	"errors"
	"net/netip"
	"os"
	"time"

	"github.com/spf13/pflag"
)

// Settings are the validated settings of one process.
type Settings struct {
	// Config is the KEY=VALUE file that was read, empty when there was none.
	Config string
	// Listen is the host:port the service listens on. An empty host means all addresses.
	Listen string
	// MetricsListen is a host:port of its own for /metrics. Empty means /metrics is served on Listen.
	MetricsListen string
	// Data is the directory of the SQLite file and the key ring.
	Data string
	// Database is a PostgreSQL URL, possibly with several hosts. Empty means SQLite in Data. It may hold a password: do not log it.
	Database string
	// BootstrapKey is the OWNER key installed at the first start. Empty means one is made. It is a secret.
	BootstrapKey string
	// BootstrapKeyFile is where the first start writes the OWNER key. Empty means nowhere.
	BootstrapKeyFile string
	// BootstrapPlan is the plan of the first account, as written: "free", or "jobs=pro,logging=free". Package plans parses it.
	BootstrapPlan string
	// PublicURL is the base of absolute links, without a slash at the end. Empty means links follow the request's Host.
	PublicURL string
	// RateLimit is the number of requests per second that one key may make. Zero means no limit.
	RateLimit float64
	// StreamMaxAge is how long an event socket may be open. Zero means for ever.
	StreamMaxAge time.Duration
	// StreamSockets is how many event sockets this node holds. Zero means no limit.
	StreamSockets int
	// StreamAccountSockets is how many of them may be of one account. Zero means half of StreamSockets.
	StreamAccountSockets int
	// Plans is a file that replaces the built-in plans. Empty means the built-in ones.
	Plans string
	// AllowNetworks are the networks jobs may reach although they are not public.
	AllowNetworks []netip.Prefix
	// Retention is how long finished runs are kept.
	Retention time.Duration
	// ChangesRetention is how long the history of changes is kept.
	ChangesRetention time.Duration
	// RunsInFlight is how many requests of runs this node makes at once.
	RunsInFlight int
	// TLSCert and TLSKey are PEM files. Both are empty when the service speaks plain HTTP.
	TLSCert, TLSKey string
	// Keyring is a file with the encryption keys, or the keys themselves. Empty means a file in Data. It may be a secret.
	Keyring string
	// LogLevel is debug, info, warn or error.
	LogLevel string
	// LogFormat is auto, text or json.
	LogFormat string
	// Name is this node's name among the nodes of one database. It has to survive a restart, so that a node recognizes its own old work.
	Name string
	// ShutdownTimeout is how long requests and runs in flight may take to finish after a signal to stop.
	ShutdownTimeout time.Duration
	// TracesEnabled tells that the environment names an OTLP endpoint. The tracing library reads the endpoint itself.
	TracesEnabled bool
}

// Load reads the settings from flags, the environment (as os.Environ returns it) and the file that --config or SIGNALBOX_CONFIG names.
// Only settings whose flag fs holds are read and checked, the others keep their defaults, so that a command is not refused for a
// setting it does not use; a nil fs means all settings and no flags. An empty value counts as absent, except that an empty flag
// brings back the default. The warnings are for a person to read and come with an error as well. The error holds every problem, one
// per line, and no secrets.
func Load(environ []string, fs *pflag.FlagSet) (Settings, []string, error) {
	rows := table()
	from := layers{flags: fs, environ: variables(environ)}
	warnings := unknownVariables(from.environ, rows)
	var found problems
	if path, ok := from.find(configRow()); ok && path.text != "" {
		var ignored []string
		from.file, ignored, found = readFile(path.text, rows)
		warnings = append(warnings, ignored...)
	}
	s := from.settings(rows, &found)
	found.add(s.conflicts()...)
	if len(found) > 0 {
		return Settings{}, warnings, errors.Join(found...)
	}
	return s, warnings, nil
}

// problems collects what is wrong, so that one start reports everything.
type problems []error

func (p *problems) add(errs ...error) { *p = append(*p, errs...) }

// settings applies every row: the given value, or the default.
func (l layers) settings(rows []setting, found *problems) Settings {
	s := Settings{TracesEnabled: tracesEnabled(l.environ), Name: hostName()}
	for _, row := range rows {
		value, ok := l.find(row)
		if !ok || value.text == "" {
			value = given{text: row.fallback, origin: row.name}
		}
		if value.text == "" {
			continue
		}
		if err := row.set(&s, value.text); err != nil {
			found.add(row.refuse(value, err))
		}
	}
	return s
}

// conflicts are the rules that join two settings.
func (s Settings) conflicts() []error {
	var errs []error
	if (s.TLSCert == "") != (s.TLSKey == "") {
		errs = append(errs, errors.New("SIGNALBOX_TLS_CERT and SIGNALBOX_TLS_KEY: only one is set; set both for TLS or none for plain HTTP"))
	}
	if s.MetricsListen != "" && s.MetricsListen == s.Listen && !anyPort(s.Listen) {
		errs = append(errs, errors.New("SIGNALBOX_METRICS_LISTEN: it equals SIGNALBOX_LISTEN; leave it empty to serve /metrics there"))
	}
	return errs
}

// tracesEnabled looks only at presence; an empty value counts as absent, as OpenTelemetry rules.
func tracesEnabled(environ map[string]string) bool {
	return environ[otlpEndpoint] != "" || environ[otlpTracesEndpoint] != ""
}

// hostName is the default node name. A host without one still gets a name that is valid.
func hostName() string {
	name, err := os.Hostname()
	if err != nil || name == "" {
		return "signalbox"
	}
	return name
}
