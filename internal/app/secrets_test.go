package app_test

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/signalbox/signalbox/internal/app"
	"github.com/signalbox/signalbox/internal/app/apptest"
	"github.com/signalbox/signalbox/internal/store/storetest"
)

// The canaries are secrets. Each is in a different place of a job.
const (
	headerCanary   = "canary-header-8c1f6d0b"
	oldCanary      = "canary-before-41b7e2aa" // replaced by a later write
	passwordCanary = "canary-password-99d2c3"
	bodyCanary     = "canary-body-5e0a7f31"
	refusedCanary  = "canary-refused-77aa10" // in a write that fails
)

// spellings returns all encodings in which a secret could be stored.
func spellings() map[string][]byte {
	found := map[string][]byte{}
	for _, canary := range []string{headerCanary, oldCanary, passwordCanary, bodyCanary, refusedCanary} {
		found[canary] = []byte(canary)
		found[canary+" in base64"] = []byte(base64.StdEncoding.EncodeToString([]byte(canary))[:20])
		found[canary+" in hex"] = []byte(hex.EncodeToString([]byte(canary)))
	}
	found["the password as it is sent"] = []byte(base64.StdEncoding.EncodeToString([]byte("user:" + passwordCanary)))
	return found
}

// lines is a log that can be read while it is written.
type lines struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Write appends to the log.
func (l *lines) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(line)
}

func (l *lines) read() []byte {
	l.mu.Lock()
	defer l.mu.Unlock()
	return bytes.Clone(l.text.Bytes())
}

func (l *lines) count(text string) int { return bytes.Count(l.read(), []byte(text)) }

func TestSecrets_OfJobsAreNowhere(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, database storetest.Database) {
		logged := &lines{}
		s := apptest.Settings(database)
		s.LogLevel = "debug"
		instance, err := app.New(t.Context(), s, slog.New(slog.NewJSONHandler(logged, &slog.HandlerOptions{Level: slog.LevelDebug})), io.Discard)
		if err != nil {
			t.Fatal(err)
		}
		if err := instance.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		stopped := sync.OnceFunc(func() { stop(t, instance) })
		t.Cleanup(stopped)
		owner := newClient(t, "http://"+instance.Address(), s.BootstrapKey)
		runs := owner.useSecrets(t)

		requireNoSecret(t, "the history", []byte(owner.get(t, "/api/v1/changes?page[size]=1000", http.StatusOK)), "")
		requireNoSecret(t, "the metrics", []byte(owner.get(t, "/metrics", http.StatusOK)), "")
		for _, run := range runs {
			requireNoSecret(t, "a run", []byte(owner.get(t, "/api/v1/runs/"+run, http.StatusOK)), bodyCanary) // people who may read the run may see the body
		}
		requireNoSecretInStore(t, database) // including the write-ahead log
		stopped()
		requireNoSecretInStore(t, database)
		if log := logged.read(); len(log) == 0 {
			t.Error("nothing was logged")
		} else {
			requireNoSecret(t, "the log", log, "")
		}
	})
}

// useSecrets creates, changes, runs and deletes jobs with secrets, with all kinds of
// outcomes, and returns the ids of the runs.
func (c *client) useSecrets(t *testing.T) (runs []string) {
	t.Helper()
	received := make(chan *http.Request, 100)
	sink := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		received <- r
		if r.URL.Path == "/bad" {
			w.WriteHeader(http.StatusTeapot)
		}
	}))
	t.Cleanup(sink.Close)
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	withUser := func(url string) string { return strings.Replace(url, "//", "//user:"+passwordCanary+"@", 1) }
	for id, url := range map[string]string{
		"good": withUser(sink.URL) + "/", "bad": withUser(sink.URL) + "/bad", "gone": withUser(gone.URL) + "/", "blocked": withUser("http://10.0.0.1/"),
		"unknown": withUser("http://no-such-host.invalid/"), "untrusted": withUser(strings.Replace(sink.URL, "http:", "https:", 1)) + "/",
	} {
		c.write(t, http.MethodPost, "/api/v1/jobs", secretJob(id, url, oldCanary), http.StatusCreated)
		runs = append(runs, c.runJob(t, id))
		c.write(t, http.MethodPut, "/api/v1/jobs/"+id, secretJob(id, url, headerCanary), http.StatusOK)
		runs = append(runs, c.runJob(t, id))
		c.write(t, http.MethodPost, "/api/v1/jobs", secretJob(id, url, refusedCanary), http.StatusConflict)
		c.write(t, http.MethodPut, "/api/v1/jobs/"+id, secretJob(id, withUser("ftp://host/"), refusedCanary+"\r\n"), http.StatusBadRequest)
		if text := c.get(t, "/api/v1/jobs/"+id, http.StatusOK); !strings.Contains(text, headerCanary) || !strings.Contains(text, passwordCanary) {
			t.Errorf("the job is not shown as it is: %s", text)
		}
	}
	c.write(t, http.MethodDelete, "/api/v1/jobs/good", "", http.StatusNoContent)
	request := <-received
	if user, password, _ := request.BasicAuth(); user != "user" || password != passwordCanary || !strings.HasPrefix(request.Header.Get("X-Secret"), "canary-") {
		t.Errorf("the secrets were not sent: %v", request.Header)
	}
	return runs
}

func secretJob(id, url, header string) string {
	text, _ := json.Marshal(map[string]any{"data": map[string]any{"id": id, "attributes": map[string]any{
		"name": id, "schedule": "0 0 1 1 *", "configuration": map[string]any{"url": url, "body": bodyCanary,
			"headers": []map[string]string{{"name": "X-Secret", "value": header}, {"name": "X-Also", "value": "Bearer " + header}}}}}})
	return string(text)
}

func (c *client) write(t *testing.T, method, path, body string, want int) string {
	t.Helper()
	status, text, err := c.call(t.Context(), method, path, body)
	if err != nil || status != want {
		t.Fatalf("%s %s got %d, %v: %s", method, path, status, err, text)
	}
	return text
}

// runJob runs a job and waits until the run has ended.
func (c *client) runJob(t *testing.T, id string) string {
	t.Helper()
	var document struct {
		Data struct {
			ID         string
			Attributes struct {
				FinishedAt *time.Time `json:"finished_at"`
			}
		}
	}
	read := func(text string) {
		if err := json.Unmarshal([]byte(text), &document); err != nil {
			t.Fatal(err)
		}
	}
	read(c.write(t, http.MethodPost, "/api/v1/jobs/"+id+"/actions/run", "", http.StatusOK))
	storetest.Wait(t, 2*soon, "the run ends", func() bool { // an unknown host name may take as long as the timeout of the job
		read(c.get(t, "/api/v1/runs/"+document.Data.ID, http.StatusOK))
		return document.Data.Attributes.FinishedAt != nil
	})
	return document.Data.ID
}

// requireNoSecret fails if a text contains a canary, except the allowed one.
func requireNoSecret(t *testing.T, where string, text []byte, allowed string) {
	t.Helper()
	for what, spelling := range spellings() {
		if what != allowed && bytes.Contains(text, spelling) {
			at := bytes.Index(text, spelling)
			t.Errorf("%s shows %s: …%s…", where, what, text[max(0, at-100):min(len(text), at+100)])
		}
	}
}

// requireNoSecretInStore checks all bytes that a database stores: SQLite's files, or
// every row of every table of PostgreSQL.
func requireNoSecretInStore(t *testing.T, database storetest.Database) {
	t.Helper()
	if database.Kind == "sqlite" {
		files := 0
		err := filepath.WalkDir(database.Dir, func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() {
				return err
			}
			text, err := os.ReadFile(path)
			requireNoSecret(t, filepath.Base(path), text, "")
			files++
			return err
		})
		if err != nil || files < 2 {
			t.Errorf("%d files were read: %v", files, err)
		}
		return
	}
	texts := dump(t, database)
	if len(texts["job_requests"]) == 0 || len(texts["runs"]) == 0 {
		t.Error("the dump has no jobs or runs")
	}
	for table, text := range texts {
		requireNoSecret(t, table, text, "")
	}
}

// dump returns every row of every table as text.
func dump(t *testing.T, database storetest.Database) map[string][]byte {
	t.Helper()
	raw := database.Raw(t)
	texts := map[string][]byte{}
	tables, err := raw.QueryContext(t.Context(), `SELECT table_name FROM information_schema.tables WHERE table_schema = 'public'`)
	if err != nil {
		t.Fatal(err)
	}
	defer tables.Close()
	for tables.Next() {
		var table string
		var text []byte
		if err := tables.Scan(&table); err != nil {
			t.Fatal(err)
		}
		row := raw.QueryRowContext(t.Context(), `SELECT COALESCE(string_agg(CAST(each AS text), E'\n'), '') FROM "`+table+`" AS each`)
		if err := row.Scan(&text); err != nil {
			t.Fatal(err)
		}
		texts[table] = text
	}
	if err := tables.Err(); err != nil || len(texts["accounts"]) == 0 {
		t.Errorf("the dump is empty: %v", err)
	}
	return texts
}

// spans is a collector of traces that keeps what it receives.
type spans struct {
	lines
	*httptest.Server
}

// collectSpans lets all nodes that the test starts send their traces to a collector.
func collectSpans(t *testing.T) *spans {
	t.Helper()
	s := &spans{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if body, err := io.ReadAll(r.Body); err == nil {
			_, _ = s.Write(body) // it takes everything
		}
	}))
	t.Cleanup(s.Close)
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", s.URL)
	t.Setenv("OTEL_EXPORTER_OTLP_COMPRESSION", "none")
	return s
}

// startTraced starts a node that logs and traces everything. stopped ends it, and delivers the last spans.
func startTraced(t *testing.T, database storetest.Database) (owner *client, logged *lines, stopped func()) {
	t.Helper()
	logged = &lines{}
	s := apptest.Settings(database)
	s.LogLevel, s.TracesEnabled = "debug", true
	instance, err := app.New(t.Context(), s, slog.New(slog.NewJSONHandler(logged, &slog.HandlerOptions{Level: slog.LevelDebug})), io.Discard, apptest.Quick)
	if err != nil {
		t.Fatal(err)
	}
	if err := instance.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	stopped = sync.OnceFunc(func() { stop(t, instance) })
	t.Cleanup(stopped)
	return newClient(t, "http://"+instance.Address(), s.BootstrapKey), logged, stopped
}

// TestSecrets_OfReaders: a key in the path of a level file or in flagd's selector, and the token of an event stream, are in no log, trace,
// metric or change, and nowhere in the database, whether or not the request was right.
//
// It is not parallel, because it sets the environment.
func TestSecrets_OfReaders(t *testing.T) {
	for _, kind := range []string{"sqlite", "postgres"} {
		t.Run(kind, func(t *testing.T) {
			database, traced := storetest.New(t, kind), collectSpans(t)
			owner, logged, stopped := startTraced(t, database)
			secrets := map[string]string{"the key of level files": owner.readLevelFiles(t)}
			secrets["the key that evaluates"], secrets["the token"] = owner.followFlags(t)
			shown := map[string]string{}
			for _, path := range []string{"/metrics", "/api/v1/changes", "/api/v1/api_keys", "/api/v1/connections", "/api/v1/services"} {
				shown[path] = owner.get(t, path, http.StatusOK)
			}
			stopped()
			shown["the log"], shown["the traces"] = string(logged.read()), string(traced.read())
			for _, where := range []string{"the log", "the traces"} {
				for _, text := range []string{"/levels/<redacted>/production/levels.json", "/ofrep/v1/events", "/flagd.sync.v1.FlagSyncService/FetchAllFlags"} {
					if !strings.Contains(shown[where], text) {
						t.Errorf("%s does not have %s", where, text)
					}
				}
			}
			maps.Copy(shown, stored(t, database))
			for where, text := range shown {
				for what, secret := range secrets {
					for part := range strings.SplitSeq(strings.TrimPrefix(secret, "sk_api_"), ".") {
						if strings.Contains(text, part) {
							t.Errorf("%s has %s", where, what)
						}
					}
				}
			}
		})
	}
}

// stored returns everything that a database stores.
func stored(t *testing.T, database storetest.Database) map[string]string {
	t.Helper()
	texts := map[string]string{}
	if database.Kind == "postgres" {
		for table, text := range dump(t, database) {
			texts[table] = string(text)
		}
		return texts
	}
	files, err := filepath.Glob(filepath.Join(database.Dir, "signalbox.db*"))
	for _, file := range files {
		text, failed := os.ReadFile(file)
		err = errors.Join(err, failed)
		texts[filepath.Base(file)] = string(text)
	}
	if err != nil || len(texts) == 0 {
		t.Errorf("%d files were read: %v", len(texts), err)
	}
	return texts
}

// makeKey creates a key for production.
func (c *client) makeKey(t *testing.T, access string) string {
	t.Helper()
	text := c.write(t, http.MethodPost, "/api/v1/api_keys",
		`{"data":{"type":"api_key","attributes":{"name":"Reader","access":"`+access+`","scopes":{"environments":["production"]}}}}`, http.StatusCreated)
	_, after, _ := strings.Cut(text, `"key":"`)
	key, _, found := strings.Cut(after, `"`)
	if !found || !strings.HasPrefix(key, "sk_api_") {
		t.Fatalf("got %s", text)
	}
	return key
}

// readLevelFiles reads level files in right and wrong ways, and returns the key.
func (c *client) readLevelFiles(t *testing.T) string {
	t.Helper()
	key, reader := c.makeKey(t, "levels"), newClient(t, c.url, "")
	for _, prefix := range []string{"/levels/", "/%6cevels/", "/x/../levels/", "//levels/", "/levels/%73k_api_/../", "/Levels/", "/api/v1/flags/", "/?key="} {
		for _, rest := range []string{"/production/levels.json", "/production/levels.json?service=%00", "/staging/python.json", "/production/nothing", "/", ""} {
			reader.status(t, prefix+key+rest)
		}
	}
	reader.status(t, "/levels/%73"+strings.TrimPrefix(key, "s")+"/production/levels.json")
	reader.get(t, "/levels/"+key+"/production/levels.json?service=shop", http.StatusOK)
	reader.key = key
	reader.get(t, "/api/v1/flags", http.StatusForbidden)
	return key
}

// followFlags uses flagd's methods and an event stream in right and wrong ways, and returns the key and the token.
func (c *client) followFlags(t *testing.T) (key, token string) {
	t.Helper()
	key = c.makeKey(t, "evaluate")
	page := newClient(t, c.url, key)
	text := page.write(t, http.MethodPost, "/ofrep/v1/evaluate/flags", `{}`, http.StatusOK)
	_, after, _ := strings.Cut(text, "/ofrep/v1/events?token=")
	token, _, found := strings.Cut(after, `"`)
	if !found {
		t.Fatalf("got %s", text)
	}
	page.key = ""
	for _, wrong := range []string{"/ofrep/v1/events?token=x" + token, "/ofrep/v1/events/" + token, "/ofrep/v1/events?key=" + key, "/api/ws/v1/events?api_key=" + key, "/ofrep/v1/evaluate/flags?token=" + token} {
		if status := page.status(t, wrong); status < http.StatusBadRequest {
			t.Errorf("%s got %d", wrong, status)
		}
	}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, c.url+"/ofrep/v1/events?token="+token, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	stream, err := page.http.Do(request)
	if err != nil || stream.StatusCode != http.StatusOK {
		t.Fatalf("the stream got %v, %v", stream, err)
	}
	defer stream.Body.Close()
	if first, err := bufio.NewReader(stream.Body).ReadString('\n'); err != nil {
		t.Errorf("the stream begins with %q, %v", first, err)
	}
	for _, selector := range []string{"key=" + key, "key=" + key + ",environment=staging", "key=" + key + ",other=x", key, "environment=" + key, "key=x" + key} {
		c.fetchFlags(t, selector)
	}
	return key, token
}

// fetchFlags calls a method of flagd with a selector, whatever the answer is.
func (c *client) fetchFlags(t *testing.T, selector string) {
	t.Helper()
	var protocols http.Protocols
	protocols.SetUnencryptedHTTP2(true)
	transport := &http.Transport{Protocols: &protocols}
	defer transport.CloseIdleConnections()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, c.url+"/flagd.sync.v1.FlagSyncService/FetchAllFlags", strings.NewReader("\x00\x00\x00\x00\x00"))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/grpc")
	request.Header.Set("Flagd-Selector", selector)
	answer, err := transport.RoundTrip(request)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if _, err := io.Copy(io.Discard, answer.Body); err != nil {
		t.Error(err)
	}
}
