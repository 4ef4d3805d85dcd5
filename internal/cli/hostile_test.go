package cli_test

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	_ "github.com/signalbox/signalbox/internal/store" // the driver
)

// hostileName writes to the clipboard of the terminal that prints it, and shows the text after it from
// right to left.
const (
	hostileName = "Eve\x1b]52;c;cm0gLXJm\x07\u009b1A\u202egnp"
	shownName   = "Eve␛]52;c;cm0gLXJm␇<U+009B>1A<U+202E>gnp"
)

// quoted returns a text as a JSON string.
func quoted(text string) string {
	encoded, err := json.Marshal(text)
	if err != nil {
		panic(err) // a text always encodes
	}
	return string(encoded)
}

// requireHarmless fails if the output has characters that a terminal interprets.
func requireHarmless(t *testing.T, args []string, printed string) {
	t.Helper()
	if strings.ContainsAny(printed, "\x1b\x07\u009b\u202e") {
		t.Errorf("%q printed %q", args, printed)
	}
}

// TestPrint_HostileNames: names that were stored before the server refused them cannot control a
// terminal.
func TestPrint_HostileNames(t *testing.T) {
	t.Parallel()
	change := `{"id":"7","type":"change","attributes":{"kind":"flag","key":"f","action":"updated","actor":{"type":"user","id":"u","name":` + quoted(hostileName) + `},` +
		`"before":null,"after":null,"diff":[{"op":"add","path":"/name","value":` + quoted(hostileName) + `}],"reverts":null,"created_at":"2026-01-02T03:04:05Z"}}`
	flag := `{"id":"f","type":"flag","attributes":{"name":` + quoted(hostileName) + `,"description":` + quoted(hostileName) + `,"type":"BOOLEAN","default":true,"managed":true,` +
		`"created_at":"2026-01-02T03:04:05Z","updated_at":"2026-01-02T03:04:05Z","values":null,"environments":{}}}`
	meta := `"meta":{"pagination":{"page":1,"size":1000},"page_size":50},"links":{"next":null}`
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/vnd.api+json")
		switch r.URL.Path {
		case "/api/v1/changes":
			fmt.Fprintf(w, `{"data":[%s],%s}`, change, meta)
		case "/api/v1/changes/7":
			fmt.Fprintf(w, `{"data":%s}`, change)
		case "/api/v1/flags":
			fmt.Fprintf(w, `{"data":[%s],%s}`, flag, meta)
		case "/api/v1/flags/f":
			fmt.Fprintf(w, `{"data":%s}`, flag)
		default:
			w.WriteHeader(http.StatusNotFound)
			fmt.Fprintf(w, `{"errors":[{"status":"404","code":"not_found","title":"Not found","detail":%s}]}`, quoted("There is no "+hostileName))
		}
	}))
	t.Cleanup(server.Close)
	term := newTerminal(t, "SIGNALBOX_URL="+server.URL, "SIGNALBOX_API_KEY=sk_api_x")
	for _, test := range []struct {
		args  []string
		shows string
	}{
		{[]string{"changes", "list"}, shownName},
		{[]string{"changes", "list", "-o", "wide"}, shownName},
		{[]string{"changes", "show", "7"}, shownName},
		{[]string{"changes", "show", "7", "-o", "json"}, `\u001b`},
		{[]string{"changes", "revert", "7"}, shownName},
		{[]string{"flags", "list", "-o", "wide"}, shownName},
		{[]string{"flags", "list", "-o", "json"}, `\u202e`},
		{[]string{"flags", "list", "-o", "yaml"}, `\u202E`},
		{[]string{"flags", "get", "f", "-o", "json"}, `\u009b`},
		{[]string{"configs", "get", "c"}, shownName},
	} {
		t.Run(strings.Join(test.args, " "), func(t *testing.T) {
			got := term.in(t).run(test.args...)
			requireHarmless(t, test.args, got.stdout+got.stderr)
			if !strings.Contains(got.stdout+got.stderr, test.shows) {
				t.Errorf("%q: exit code %d, %q, %q", test.args, got.code, got.stdout, got.stderr)
			}
		})
	}
}

// TestAdmin_HostileNames: the same for the commands that read the store.
func TestAdmin_HostileNames(t *testing.T) {
	t.Parallel()
	term := newTerminal(t)
	term.must("admin", "accounts", "create", "Acme")
	folder, _ := strings.CutPrefix(term.environ[0], "SIGNALBOX_DATA=")
	db, err := sql.Open("sqlite", "file:"+filepath.Join(folder, "signalbox.db"))
	if err != nil {
		t.Fatal(err)
	}
	for _, table := range []string{"users", "api_keys", "accounts"} {
		if _, err := db.ExecContext(t.Context(), "UPDATE "+table+" SET name = $1", hostileName); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"admin", "users", "list", "--account", "acme"}, {"admin", "keys", "list", "--account", "acme"}, {"admin", "accounts", "list"}} {
		t.Run(strings.Join(args, " "), func(t *testing.T) {
			term := term.in(t)
			printed := term.must(args...)
			if requireHarmless(t, args, printed); !strings.Contains(printed, shownName) {
				t.Errorf("%q printed %q", args, printed)
			}
			printed = term.must(append(args, "--json")...)
			if requireHarmless(t, args, printed); !strings.Contains(printed, `Eve\u001b]52;c;cm0gLXJm\u0007\u009b1A\u202egnp`) {
				t.Errorf("%q printed %q", args, printed)
			}
		})
	}
	refused := term.run("admin", "accounts", "create", hostileName)
	if requireHarmless(t, nil, refused.stderr); refused.code != 1 || !strings.Contains(refused.stderr, "name must not contain U+001B, a control character.") {
		t.Errorf("got %+v", refused)
	}
}
