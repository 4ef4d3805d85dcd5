package settings_test

import (
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/spf13/pflag"

	"github.com/signalbox/signalbox/internal/settings"
)

// comparePrefixes lets cmp compare addresses, which have unexported fields.
var comparePrefixes = cmpopts.EquateComparable(netip.Prefix{})

func defaults(t *testing.T) settings.Settings {
	t.Helper()
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	return settings.Settings{
		Listen: "127.0.0.1:8080", Data: "./data", BootstrapPlan: "pro", Retention: 30 * 24 * time.Hour, ChangesRetention: 365 * 24 * time.Hour, DatabaseConnections: 24, HistoryBytes: 1 << 30, PendingLimit: 24 * time.Hour, RunsInFlight: 2048,
		LogLevel: "info", LogFormat: "auto", Name: host, ShutdownTimeout: 15 * time.Second,
		StreamMaxAge: time.Hour, StreamSockets: 50_000, StreamTokenTTL: 24 * time.Hour,
	}
}

// allFlags parses a command line of the serve command.
func allFlags(t *testing.T, args ...string) *pflag.FlagSet {
	t.Helper()
	fs := pflag.NewFlagSet("test", pflag.ContinueOnError)
	settings.AddFlags(fs)
	if err := fs.Parse(args); err != nil {
		t.Fatal(err)
	}
	return fs
}

// configFile writes a file of settings and returns its path.
func configFile(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "signalbox.env")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// load fails the test on an error or a warning.
func load(t *testing.T, environ []string, fs *pflag.FlagSet) settings.Settings {
	t.Helper()
	s, warnings, err := settings.Load(environ, fs)
	if err != nil || len(warnings) > 0 {
		t.Fatalf("Load: warnings %q, error %v", warnings, err)
	}
	return s
}

func TestLoad_Defaults(t *testing.T) {
	t.Parallel()
	for name, fs := range map[string]*pflag.FlagSet{"without flags": nil, "with flags": allFlags(t)} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(defaults(t), load(t, nil, fs), comparePrefixes); diff != "" {
				t.Errorf("%s", diff)
			}
		})
	}
}

func TestLoad_EverySettingFromEachSource(t *testing.T) {
	t.Parallel()
	environ := []string{
		"SIGNALBOX_LISTEN=:9000", "SIGNALBOX_METRICS_LISTEN=[::1]:9001", "SIGNALBOX_DATA=/var/lib/signalbox",
		"SIGNALBOX_DATABASE=postgres://u:p%40w@one:5432,two:5433/signalbox?target_session_attrs=read-write",
		"SIGNALBOX_BOOTSTRAP_KEY=sk_api_0123456789abcdef", "SIGNALBOX_BOOTSTRAP_KEY_FILE=/run/key",
		"SIGNALBOX_BOOTSTRAP_PLAN=jobs=pro,logging=free", "SIGNALBOX_PUBLIC_URL=https://box.example.com/base/",
		"SIGNALBOX_RATE_LIMIT=2.5", "SIGNALBOX_TRUSTED_PROXIES=127.0.0.1, ::1,10.0.0.0/8", "SIGNALBOX_PLANS=/etc/plans.json",
		"SIGNALBOX_STREAM_MAX_AGE=30m", "SIGNALBOX_STREAM_SOCKETS=7", "SIGNALBOX_STREAM_ACCOUNT_SOCKETS=3", "SIGNALBOX_STREAM_TOKEN_TTL=10m",
		"SIGNALBOX_ALLOW_NETWORKS=10.1.2.3/8, 192.168.1.7,fd00::1,::ffff:172.16.0.0/108,", "SIGNALBOX_RETENTION=1d12h",
		"SIGNALBOX_TLS_CERT=/c.pem", "SIGNALBOX_TLS_KEY=/k.pem", "SIGNALBOX_KEYRING=/etc/keys",
		"SIGNALBOX_OIDC_ISSUER=https://login.example.com", "SIGNALBOX_OIDC_CLIENT_ID=box", "SIGNALBOX_OIDC_CLIENT_SECRET=s3cret",
		"SIGNALBOX_OIDC_ROLE_CLAIM=groups", "SIGNALBOX_OIDC_ROLES=admins=ADMIN", "SIGNALBOX_OIDC_DOMAINS=example.com",
		"SIGNALBOX_LOG_LEVEL=WARN", "SIGNALBOX_LOG_FORMAT=json", "SIGNALBOX_NODE=node-1", "SIGNALBOX_SHUTDOWN_TIMEOUT=0s",
	}
	want := settings.Settings{
		Listen: ":9000", MetricsListen: "[::1]:9001", Data: "/var/lib/signalbox",
		Database:     "postgres://u:p%40w@one:5432,two:5433/signalbox?target_session_attrs=read-write",
		BootstrapKey: "sk_api_0123456789abcdef", BootstrapKeyFile: "/run/key", BootstrapPlan: "jobs=pro,logging=free",
		PublicURL: "https://box.example.com/base", RateLimit: 2.5, Plans: "/etc/plans.json",
		TrustedProxies: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32"), netip.MustParsePrefix("::1/128"), netip.MustParsePrefix("10.0.0.0/8")},
		StreamMaxAge:   30 * time.Minute, StreamSockets: 7, StreamAccountSockets: 3, StreamTokenTTL: 10 * time.Minute,
		AllowNetworks: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("192.168.1.7/32"),
			netip.MustParsePrefix("fd00::1/128"), netip.MustParsePrefix("172.16.0.0/12")},
		Retention: 36 * time.Hour, ChangesRetention: 365 * 24 * time.Hour, DatabaseConnections: 24, HistoryBytes: 1 << 30, PendingLimit: 24 * time.Hour, RunsInFlight: 2048, TLSCert: "/c.pem", TLSKey: "/k.pem", Keyring: "/etc/keys",
		OIDCIssuer: "https://login.example.com", OIDCClientID: "box", OIDCClientSecret: "s3cret",
		OIDCRoleClaim: "groups", OIDCRoles: map[string]string{"admins": "ADMIN"}, OIDCDomains: []string{"example.com"},
		LogLevel: "warn", LogFormat: "json", Name: "node-1",
	}
	if diff := cmp.Diff(want, load(t, environ, nil), comparePrefixes); diff != "" {
		t.Error("environment: ", diff)
	}
	if diff := cmp.Diff(want, load(t, nil, allFlags(t, asFlags(environ)...)), comparePrefixes); diff != "" {
		t.Error("flags: ", diff)
	}
	want.Config = configFile(t, strings.Join(environ, "\n"))
	if diff := cmp.Diff(want, load(t, []string{"SIGNALBOX_CONFIG=" + want.Config}, nil), comparePrefixes); diff != "" {
		t.Error("file: ", diff)
	}
}

// asFlags converts variables to flags, by the documented rule.
func asFlags(environ []string) []string {
	args := make([]string, 0, len(environ))
	for _, entry := range environ {
		name, value, _ := strings.Cut(strings.TrimPrefix(entry, "SIGNALBOX_"), "=")
		args = append(args, "--"+strings.ToLower(strings.ReplaceAll(name, "_", "-"))+"="+value)
	}
	return args
}

func TestLoad_Precedence(t *testing.T) {
	t.Parallel()
	const inFile, inEnvironment = "SIGNALBOX_DATA=file\n", "SIGNALBOX_DATA=environment"
	tests := []struct {
		name    string
		environ []string
		args    []string
		want    string
	}{
		{"default", nil, nil, "file"},
		{"environment over file", []string{inEnvironment}, nil, "environment"},
		{"flag over environment", []string{inEnvironment}, []string{"--data=flag"}, "flag"},
		{"flag over file", nil, []string{"--data=flag"}, "flag"},
		{"an empty variable is absent", []string{"SIGNALBOX_DATA= "}, nil, "file"},
		{"an empty flag brings back the default", []string{inEnvironment}, []string{"--data="}, "./data"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			args := append([]string{"--config", configFile(t, inFile)}, tt.args...)
			if got := load(t, tt.environ, allFlags(t, args...)).Data; got != tt.want {
				t.Errorf("Data = %q, want %q", got, tt.want)
			}
		})
	}
}

func TestLoad_ConfigFlagWinsOverVariable(t *testing.T) {
	t.Parallel()
	path := configFile(t, "SIGNALBOX_DATA=right")
	s := load(t, []string{"SIGNALBOX_CONFIG=/nowhere/at/all"}, allFlags(t, "--config", path))
	if s.Data != "right" || s.Config != path {
		t.Errorf("Data = %q from %q", s.Data, s.Config)
	}
}

func TestLoad_ReportsAllProblems(t *testing.T) {
	t.Parallel()
	path := configFile(t, "\nSIGNALBOX_RETENTION=0\nSIGNALBOX_LISTN=x\n")
	environ := []string{"SIGNALBOX_CONFIG=" + path, "SIGNALBOX_LISTEN=abc", "SIGNALBOX_TLS_CERT=/c.pem", "SIGNALBOX_RETENTON=x"}
	s, warnings, err := settings.Load(environ, allFlags(t, "--rate-limit=-1"))
	want := []string{
		`signalbox.env line 3: SIGNALBOX_LISTN is not a setting; did you mean SIGNALBOX_LISTEN?`,
		`SIGNALBOX_LISTEN: "abc" is not host:port, for example 127.0.0.1:8080`,
		`--rate-limit (SIGNALBOX_RATE_LIMIT): "-1" is negative; 0 means no limit`,
		`signalbox.env line 2: SIGNALBOX_RETENTION: "0" is too short; finished runs are kept for at least 1h`,
		`SIGNALBOX_TLS_CERT and SIGNALBOX_TLS_KEY: only one is set; set both for TLS or none for plain HTTP`,
	}
	if err == nil {
		t.Fatal("Load accepted it")
	}
	if diff := cmp.Diff(want, strings.Split(err.Error(), "\n")); diff != "" {
		t.Error(diff)
	}
	if len(warnings) != 1 || !cmp.Equal(s, settings.Settings{}, comparePrefixes) {
		t.Errorf("warnings %q, settings %+v", warnings, s)
	}
}

func TestLoad_StoreFlagsOnly(t *testing.T) {
	t.Parallel()
	fs := pflag.NewFlagSet("keys create", pflag.ContinueOnError)
	settings.AddStoreFlags(fs)
	var got []string
	fs.VisitAll(func(f *pflag.Flag) { got = append(got, f.Name) })
	want := []string{"config", "data", "database", "keyring", "log-format", "log-level", "plans"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	s := load(t, []string{"SIGNALBOX_LISTEN=broken", "SIGNALBOX_TLS_KEY=alone", "SIGNALBOX_DATA=/d"}, fs)
	if s.Data != "/d" || s.Listen != "127.0.0.1:8080" || s.TLSKey != "" {
		t.Errorf("got %+v", s)
	}
}

func TestLoad_TracesEnabled(t *testing.T) {
	t.Parallel()
	tests := map[string]bool{
		"OTEL_EXPORTER_OTLP_ENDPOINT=http://collector:4318":                  true,
		"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT=http://collector:4318/v1/traces": true,
		"OTEL_EXPORTER_OTLP_ENDPOINT=":                                       false,
		"OTEL_SERVICE_NAME=x":                                                false,
	}
	for entry, want := range tests {
		t.Run(entry, func(t *testing.T) {
			if got := load(t, []string{entry}, nil).TracesEnabled; got != want {
				t.Errorf("TracesEnabled = %v", got)
			}
		})
	}
}

func TestLoad_UnknownVariables(t *testing.T) {
	t.Parallel()
	_, warnings, err := settings.Load([]string{
		"SIGNALBOX_LISTN=secret", "SIGNALBOX_BOOTSTRAP_KEYS=secret", "SIGNALBOX_XYZZY=1", "SIGNALBOX_PORT=8080",
		// Variables of other programs:
		"SIGNALBOX_TEST_POSTGRES=x", "SIGNALBOX_URL=x", "SIGNALBOX_API_KEY=x", "SIGNALBOX_ENVIRONMENT=x", "SIGNALBOX_SERVICE=x", "PATH=/bin", "=C:=x", "odd",
		// Variables that Kubernetes adds for Services named signalbox and signalbox-db:
		"SIGNALBOX_SERVICE_HOST=10.0.0.1", "SIGNALBOX_SERVICE_PORT=80", "SIGNALBOX_SERVICE_PORT_HTTP=80",
		"SIGNALBOX_PORT_80_TCP=tcp://10.0.0.1:80", "SIGNALBOX_PORT_80_TCP_ADDR=10.0.0.1", "SIGNALBOX_DB_PORT=tcp://10.0.0.1:5432",
	}, nil)
	want := []string{
		"SIGNALBOX_BOOTSTRAP_KEYS is not a setting and is ignored; did you mean SIGNALBOX_BOOTSTRAP_KEY?",
		"SIGNALBOX_LISTN is not a setting and is ignored; did you mean SIGNALBOX_LISTEN?",
		"SIGNALBOX_PORT is not a setting and is ignored",
		"SIGNALBOX_XYZZY is not a setting and is ignored",
	}
	if diff := cmp.Diff(want, warnings); diff != "" || err != nil {
		t.Error(err, diff)
	}
}

func TestAddFlags_Help(t *testing.T) {
	t.Parallel()
	fs := allFlags(t)
	usage := fs.FlagUsages()
	for _, want := range []string{
		"--listen HOST:PORT", "(SIGNALBOX_LISTEN, default: 127.0.0.1:8080)", "(SIGNALBOX_NODE, default: the host's name)",
		"(SIGNALBOX_RATE_LIMIT, default: 0)", "(SIGNALBOX_BOOTSTRAP_KEY)\n",
	} {
		if !strings.Contains(usage, want) {
			t.Errorf("the help lacks %q:\n%s", want, usage)
		}
	}
	fs.VisitAll(func(f *pflag.Flag) {
		if f.DefValue != "" {
			t.Errorf("--%s has the pflag default %q, which would be printed twice", f.Name, f.DefValue)
		}
	})
}

func TestReference_NamesEveryFlag(t *testing.T) {
	t.Parallel()
	text := settings.Reference()
	allFlags(t).VisitAll(func(f *pflag.Flag) {
		if !strings.Contains(text, "`--"+f.Name+" ") {
			t.Errorf("the reference lacks --%s", f.Name)
		}
	})
	for line := range strings.Lines(text) {
		if cells := strings.Count(strings.ReplaceAll(line, `\|`, ""), "|"); cells != 5 {
			t.Errorf("a row has %d borders: %s", cells, line)
		}
	}
	if !strings.Contains(text, "| `SIGNALBOX_RETENTION` | `--retention DURATION` | `30d` |") {
		t.Error(text)
	}
}

func TestLoad_HistoryBytes(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int64{"0": 0, "1048576": 1 << 20, "1MiB": 1 << 20, "1048576B": 1 << 20, "2048KiB": 2 << 20, "3GiB": 3 << 30, "1TiB": 1 << 40} {
		t.Run(text, func(t *testing.T) {
			if got := load(t, []string{"SIGNALBOX_HISTORY_BYTES=" + text}, nil).HistoryBytes; got != want {
				t.Errorf("%q is %d", text, got)
			}
		})
	}
	for _, text := range []string{"-1", "1", "1023KiB", "1GB", "1 GiB", "GiB", "1.5GiB", "1MiBiB", "9999999999TiB", "x"} {
		t.Run(text, func(t *testing.T) {
			if s, _, err := settings.Load([]string{"SIGNALBOX_HISTORY_BYTES=" + text}, nil); err == nil || !strings.Contains(err.Error(), "is not a size from 1MiB") {
				t.Errorf("%q is %d, %v", text, s.HistoryBytes, err)
			}
		})
	}
}
