package app_test

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"io"
	"io/fs"
	"log/slog"
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
	for table, text := range dump(t, database) {
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
	if err := tables.Err(); err != nil || len(texts["job_requests"]) == 0 || len(texts["runs"]) == 0 {
		t.Errorf("the dump is empty: %v", err)
	}
	return texts
}

// TestSecrets_KeysInPaths: the key in the path of a level file, or of a request that was meant to be one, is in no log,
// metric or change.
func TestSecrets_KeysInPaths(t *testing.T) {
	t.Parallel()
	c, logged := startLogged(t, storetest.New(t, "sqlite"))
	_, text, err := c.call(t.Context(), http.MethodPost, "/api/v1/api_keys",
		`{"data":{"type":"api_key","attributes":{"name":"Logback","access":"levels","scopes":{"environments":["production"]}}}}`)
	_, after, _ := strings.Cut(text, `"key":"`)
	key, _, found := strings.Cut(after, `"`)
	if err != nil || !found || !strings.HasPrefix(key, "sk_api_") {
		t.Fatalf("got %v, %s", err, text)
	}
	reader := newClient(t, c.url, "")
	for _, prefix := range []string{"/levels/", "/%6cevels/", "/x/../levels/", "//levels/", "/levels/%73k_api_/../", "/Levels/"} {
		for _, rest := range []string{"/production/levels.json", "/production/levels.json?service=%00", "/staging/python.json", "/production/nothing", "/", ""} {
			reader.status(t, prefix+key+rest)
		}
	}
	reader.status(t, "/levels/%73"+strings.TrimPrefix(key, "s")+"/production/levels.json")
	if logged.count("/levels/<redacted>/production/levels.json") == 0 {
		t.Error("the requests are not logged")
	}
	for where, text := range map[string]string{"log": string(logged.read()), "metrics": c.get(t, "/metrics", http.StatusOK), "history": c.get(t, "/api/v1/changes", http.StatusOK)} {
		if secret := strings.TrimPrefix(key, "sk_api_"); strings.Contains(text, secret) {
			t.Errorf("the %s has the key", where)
		}
	}
}
