package settings_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/signalbox/signalbox/internal/settings"
)

// TestLoad_Rules passes each entry to Load. An empty message means that the entry is accepted.
func TestLoad_Rules(t *testing.T) {
	t.Parallel()
	const (
		address  = "is not host:port"
		absolute = "is not an absolute http or https URL"
		query    = "has a query or a fragment"
		scheme   = "is not a PostgreSQL URL"
		broken   = "is not a valid URL"
		key      = "is not 20 to 200 visible ASCII"
		number   = "is not a number"
		network  = "has entries that are not networks"
		span     = "is not a duration"
	)
	tests := []struct{ entry, message string }{
		{"LISTEN=localhost:0", ""},
		{"LISTEN=my_host.internal:80", ""},
		{"LISTEN=[fe80::1%eth0]:80", ""},
		{"LISTEN=8080", address},
		{"LISTEN=127.0.0.1", address},
		{"LISTEN=127.0.0.1:http", address},
		{"LISTEN=127.0.0.1:65536", address},
		{"LISTEN=127.0.0.1:", address},
		{"LISTEN=http://localhost:80", address},
		{"LISTEN=a b:80", address},
		{"METRICS_LISTEN=nope", address},
		{"METRICS_LISTEN=127.0.0.1:8080", "equals SIGNALBOX_LISTEN"},
		{"PUBLIC_URL=http://box", ""},
		{"PUBLIC_URL=https://box:8443/a/b///", ""},
		{"PUBLIC_URL=box.example.com", absolute},
		{"PUBLIC_URL=ftp://box", absolute},
		{"PUBLIC_URL=https:///path", absolute},
		{"PUBLIC_URL=https://user@box", absolute},
		{"PUBLIC_URL=https://box/?a=b", query},
		{"PUBLIC_URL=https://box?", query},
		{"PUBLIC_URL=https://box/#x", query},
		{"DATABASE=postgresql://host/db", ""},
		{"DATABASE=postgres:///db?host=/run/postgresql", ""},
		{"DATABASE=postgres://u:p@[::1]:5432,b/db", ""},
		{"DATABASE=mysql://host/db", scheme},
		{"DATABASE=host=a dbname=b", scheme},
		{"DATABASE=./signalbox.db", scheme},
		{"DATABASE=postgres://a:1,b:x/db", broken},
		{"DATABASE=postgres://a:70000/db", broken},
		{"DATABASE=postgres://a,,b/db", broken},
		{"DATABASE=postgres://u:50%@a/db", broken},
		{"DATABASE=postgres://u:a#b@a/db", broken},
		{"DATABASE=postgres://a/db?x=%zz", broken},
		{"BOOTSTRAP_KEY=" + strings.Repeat("k", 20), ""},
		{"BOOTSTRAP_KEY=" + strings.Repeat("k", 200), ""},
		{"BOOTSTRAP_KEY=" + strings.Repeat("k", 19), key},
		{"BOOTSTRAP_KEY=" + strings.Repeat("k", 201), key},
		{"BOOTSTRAP_KEY=kkkkkkkkkk kkkkkkkkkk", key},
		{"BOOTSTRAP_KEY=kkkkkkkkkkkkkkkkkkkkä", key},
		{"BOOTSTRAP_KEY=kkkkkkkkkkkkkkkkkkkk\x7f", key},
		{"RATE_LIMIT=0", ""},
		{"RATE_LIMIT=ten", number},
		{"RATE_LIMIT=NaN", number},
		{"RATE_LIMIT=Inf", number},
		{"RATE_LIMIT=-0.1", "is negative"},
		{"STREAM_MAX_AGE=0s", ""},
		{"STREAM_MAX_AGE=1d", ""},
		{"STREAM_MAX_AGE=-1s", span},
		{"STREAM_MAX_AGE=soon", span},
		{"STREAM_TOKEN_TTL=1s", ""},
		{"STREAM_TOKEN_TTL=7d", ""},
		{"STREAM_TOKEN_TTL=0s", "is not a duration of at least 1s"},
		{"STREAM_TOKEN_TTL=a day", "is not a duration of at least 1s"},
		{"STREAM_SOCKETS=0", ""},
		{"STREAM_SOCKETS=-1", "is not a whole number from 0"},
		{"STREAM_ACCOUNT_SOCKETS=1.5", "is not a whole number from 0"},
		{"ALLOW_NETWORKS=10.0.0.0/8,::1", ""},
		{"ALLOW_NETWORKS=10.0.0.0/33", network},
		{"ALLOW_NETWORKS=localhost", network},
		{"ALLOW_NETWORKS=fe80::1%eth0", network},
		{"ALLOW_NETWORKS=10.0.0.1,a,b", `("a", "b")`},
		{"RETENTION=1h", ""},
		{"RETENTION=36500d", ""},
		{"RETENTION=36501d", span},
		{"RETENTION=59m", "is too short"},
		{"RETENTION=0d", "is too short"},
		{"RETENTION=-1d", span},
		{"RETENTION=1d-2h", span},
		{"RETENTION=1d9999999h", span},
		{"RETENTION=d", span},
		{"RETENTION=30", span},
		{"SHUTDOWN_TIMEOUT=1m", ""},
		{"SHUTDOWN_TIMEOUT=-1s", span},
		{"SHUTDOWN_TIMEOUT=soon", span},
		{"LOG_LEVEL=Debug", ""},
		{"LOG_LEVEL=trace", "is not debug, info, warn or error"},
		{"LOG_FORMAT=xml", "is not auto, text or json"},
		{"NODE=a b", "is not 1 to 200 visible ASCII"},
		{"NODE=" + strings.Repeat("n", 201), "is not 1 to 200 visible ASCII"},
		{"TLS_KEY=/k.pem", "only one is set"},
		{"OIDC_ISSUER=http://login.example.com", "http is for localhost only"},
		{"OIDC_ISSUER=login.example.com", "is not an https URL"},
		{"OIDC_ISSUER=https://login.example.com?x", "has a query"},
		{"OIDC_ROLES=admins", "is not VALUE=ROLE pairs"},
		{"OIDC_ROLES=admins=KING", `gives "admins" the role "KING"; the roles are OWNER`},
		{"OIDC_ROLES==ADMIN", "the roles are OWNER"},
		{"OIDC_ROLES=a=ADMIN,a=OWNER", `gives "a" a role twice`},
		{"OIDC_ROLES={\"a\":1}", "is not a JSON object of texts"},
		{"OIDC_ROLES=a=ADMIN", "ROLE_CLAIM: it is not set"},
		{"OIDC_ROLES=*=ADMIN", "set SIGNALBOX_OIDC_DOMAINS"},
		{"OIDC_DOMAINS=@example.com,*.org", `("@example.com", "*.org")`},
		{"OIDC_DOMAINS=examplİ.com", `("examplİ.com")`},
		{"TRUSTED_PROXIES=10.0.0.0/8,proxy", `("proxy")`},
		{"OIDC_DOMAINS=*,example.com", "keep one or the other"},
		{"CONFIG=/nowhere/at/all", "the file cannot be read"},
	}
	for _, tt := range tests {
		t.Run(tt.entry, func(t *testing.T) {
			t.Parallel()
			_, _, err := settings.Load([]string{"SIGNALBOX_" + tt.entry}, nil)
			name, _, _ := strings.Cut(tt.entry, "=")
			switch {
			case tt.message == "" && err != nil:
				t.Errorf("Load refused it: %v", err)
			case tt.message != "" && (err == nil || !strings.Contains(err.Error(), tt.message) || !strings.Contains(err.Error(), name)):
				t.Errorf("error = %v, want one about %s with %q", err, name, tt.message)
			}
		})
	}
}

func TestLoad_SecretsNotRepeated(t *testing.T) {
	t.Parallel()
	const secret = "hunter2 secret"
	path := configFile(t, "SIGNALBOX_BOOTSTRAP_KEY='"+secret+"'\nSIGNALBOX_KEYRING="+secret+"'\n"+secret+"\n")
	environ := []string{"SIGNALBOX_CONFIG=" + path, "SIGNALBOX_DATABASE=postgres://u:" + secret + "%@a/db", "SIGNALBOX_PASSWORD=" + secret}
	_, warnings, err := settings.Load(environ, nil)
	if err == nil || len(warnings) == 0 {
		t.Fatalf("warnings %q, error %v", warnings, err)
	}
	if text := strings.Join(append(warnings, err.Error()), "\n"); strings.Contains(text, "hunter2") {
		t.Error(text)
	}
}

func TestLoad_RetentionSpellings(t *testing.T) {
	t.Parallel()
	tests := map[string]time.Duration{"30d": 720 * time.Hour, "1d2h3m": 26*time.Hour + 3*time.Minute, "90m": 90 * time.Minute}
	for text, want := range tests {
		t.Run(text, func(t *testing.T) {
			if got := load(t, []string{"SIGNALBOX_RETENTION=" + text}, nil).Retention; got != want {
				t.Errorf("%s is %v, want %v", text, got, want)
			}
		})
	}
}

func TestLoad_PendingLimit(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]time.Duration{"": 24 * time.Hour, "1m": time.Minute, "2d": 48 * time.Hour} {
		t.Run(fmt.Sprintf("%q", text), func(t *testing.T) {
			if got := load(t, []string{"SIGNALBOX_PENDING_LIMIT=" + text}, nil).PendingLimit; got != want {
				t.Errorf("%q is %v, want %v", text, got, want)
			}
		})
	}
	for _, text := range []string{"59s", "0", "-1h", "day"} {
		t.Run(text, func(t *testing.T) {
			if _, _, err := settings.Load([]string{"SIGNALBOX_PENDING_LIMIT=" + text}, nil); err == nil {
				t.Errorf("%q is accepted", text)
			}
		})
	}
}

func TestFile_Syntax(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, text, want string }{
		{"plain", "SIGNALBOX_DATA=/d", "/d"},
		{"blank lines, comments, line ends of Windows", "\r\n# SIGNALBOX_DATA=/no\r\n  \r\nSIGNALBOX_DATA=/d\r\n", "/d"},
		{"byte order mark", "\ufeffSIGNALBOX_DATA=/d", "/d"},
		{"export", "export SIGNALBOX_DATA=/d", "/d"},
		{"export and tabs", "\texport\t SIGNALBOX_DATA=/d", "/d"},
		{"double quotes", `SIGNALBOX_DATA="/my data"`, "/my data"},
		{"single quotes", `SIGNALBOX_DATA='/my "data"'`, `/my "data"`},
		{"a comment behind", "SIGNALBOX_DATA=/d # where it lives", "/d"},
		{"a comment behind a tab", "SIGNALBOX_DATA=/d\t# where it lives", "/d"},
		{"a comment behind quotes", "SIGNALBOX_DATA='/d # 1' # where it lives", "/d # 1"},
		{"# inside a word", "SIGNALBOX_DATA=/d#1", "/d#1"},
		{"= inside", "SIGNALBOX_DATA=/a=b", "/a=b"},
		{"no expansion", "SIGNALBOX_DATA=\"$HOME\\n\"", `$HOME\n`},
		{"blanks around", "SIGNALBOX_DATA= /d  ", "/d"},
		{"empty", "SIGNALBOX_DATA=", "./data"},
		{"empty with a comment", "SIGNALBOX_DATA= # later", "./data"},
		{"empty quotes", "SIGNALBOX_DATA=''", "./data"},
		{"names of others", "POSTGRES_PASSWORD=x\nSIGNALBOX_API_KEY=y\nSIGNALBOX_TEST_A=b\nSIGNALBOX_DATA=/d", "/d"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := load(t, []string{"SIGNALBOX_CONFIG=" + configFile(t, tt.text)}, nil).Data; got != tt.want {
				t.Errorf("Data = %q, want %q", got, tt.want)
			}
		})
	}
}

func TestFile_ProblemsNameTheLine(t *testing.T) {
	t.Parallel()
	path := configFile(t, strings.Join([]string{
		"SIGNALBOX_DATA=/d",
		"no assignment",
		"=value",
		"SIGNALBOX DATA=/d",
		"SIGNALBOX_NODE='open",
		"SIGNALBOX_NODE='a'b",
		"SIGNALBOX_DATA=/e",
		"SIGNALBOX_CONFIG=/other",
		"SIGNALBOX_LOGLEVEL=info",
		"exportSIGNALBOX_DATA=/f",
	}, "\n"))
	_, _, err := settings.Load([]string{"SIGNALBOX_CONFIG=" + path}, nil)
	want := []string{
		"signalbox.env line 2: the line is not KEY=VALUE",
		"signalbox.env line 3: the line is not KEY=VALUE",
		"signalbox.env line 4: the line is not KEY=VALUE",
		"signalbox.env line 5: the quotes around the value do not match",
		"signalbox.env line 6: the quotes around the value do not match",
		"signalbox.env line 7: SIGNALBOX_DATA is set a second time; keep one line of it",
		"signalbox.env line 8: SIGNALBOX_CONFIG cannot be set in the file that it names",
		"signalbox.env line 9: SIGNALBOX_LOGLEVEL is not a setting; did you mean SIGNALBOX_LOG_LEVEL?",
	}
	if err == nil {
		t.Fatal("Load accepted it")
	}
	if diff := cmp.Diff(want, strings.Split(err.Error(), "\n")); diff != "" {
		t.Error(diff)
	}
}

func TestFile_EndpointWarns(t *testing.T) {
	t.Parallel()
	path := configFile(t, "OTEL_EXPORTER_OTLP_ENDPOINT=http://collector:4318\n")
	s, warnings, err := settings.Load([]string{"SIGNALBOX_CONFIG=" + path}, nil)
	if err != nil || s.TracesEnabled || len(warnings) != 1 || !strings.Contains(warnings[0], "line 1: OTEL_EXPORTER_OTLP_ENDPOINT is ignored") {
		t.Errorf("TracesEnabled %v, warnings %q, error %v", s.TracesEnabled, warnings, err)
	}
}
