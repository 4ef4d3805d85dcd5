package api_test

import (
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/signalbox/signalbox/internal/app/apptest"
	"github.com/signalbox/signalbox/internal/jsonapi"
	"github.com/signalbox/signalbox/internal/settings"
	"github.com/signalbox/signalbox/internal/store/storetest"
	"github.com/signalbox/signalbox/internal/suite"
)

// client speaks to one node with one key. Every exchange is checked against
// the interface description; see contract_test.go.
type client struct {
	t    testing.TB
	node *apptest.Node
	http *http.Client
	key  string // empty sends no credential
	// session is the value of the cookie; empty sends none.
	session string
}

// newOwner returns the OWNER of a new account on the SQLite node that the package's tests share.
// Use onBoth for rules that depend on the database.
func newOwner(t testing.TB, plan string) client {
	t.Helper()
	return speakTo(t, apptest.Shared(t, "sqlite")).account(plan)
}

// onBoth runs a test as the OWNER of a new account on the shared node of
// either database.
func onBoth(t *testing.T, plan string, run func(t *testing.T, owner client)) {
	t.Helper()
	onEach(t, []string{"sqlite", "postgres"}, plan, run)
}

// onSQLite runs a test on SQLite only, and on both databases under make soak. It is
// for long tests over every route whose rules do not depend on SQL.
func onSQLite(t *testing.T, plan string, run func(t *testing.T, owner client)) {
	t.Helper()
	onEach(t, suite.Scale([]string{"sqlite"}, []string{"sqlite", "postgres"}), plan, run)
}

func onEach(t *testing.T, kinds []string, plan string, run func(t *testing.T, owner client)) {
	t.Helper()
	for _, kind := range kinds {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			run(t, speakTo(t, apptest.Shared(t, kind)).account(plan))
		})
	}
}

// start runs a node of the test's own and returns a client with the OWNER key
// of its first account. It is for tests that need other settings, several nodes
// or a restart.
func start(t *testing.T, database storetest.Database, change ...func(*settings.Settings)) client {
	t.Helper()
	return speakTo(t, apptest.Start(t, database, change...))
}

func speakTo(t testing.TB, node *apptest.Node) client {
	t.Helper()
	// A connection must not be used in the moment in which the server closes it
	// because it was idle: a test that waits for its turn would lose a request.
	transport := &http.Transport{MaxIdleConnsPerHost: 64, IdleConnTimeout: 30 * time.Second}
	t.Cleanup(transport.CloseIdleConnections)
	return client{t: t, node: node, key: node.Key, http: &http.Client{
		Transport:     transport,
		Timeout:       5 * time.Minute, // the race detector on a busy machine
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// account returns a client with the OWNER key of a new account on the same node.
func (c client) account(plan string) client {
	c.t.Helper()
	return c.as(c.node.Account(c.t, "Account", plan))
}

// accountKey returns the account's key, which the command line uses as its name.
func (c client) accountKey() string {
	c.t.Helper()
	return c.get(accountPath).want(200).text("key")
}

// as returns a copy of the client with another key.
func (c client) as(key string) client {
	c.key, c.session = key, ""
	return c
}

// with returns a copy of the client with a session in place of a key.
func (c client) with(session string) client {
	c.key, c.session = "", session
	return c
}

// in returns a copy of the client for a subtest.
func (c client) in(t testing.TB) client {
	c.t = t
	return c
}

// request is a request to send. The path is sent as it is, without further encoding.
type request struct {
	method, path string
	body         string
	header       http.Header
	// offContract says that the request is not meant to be valid, although
	// it is answered as if it were.
	offContract bool
}

// option alters a request.
type option func(*request)

// with sets a header; an empty value sends none.
func with(name, value string) option {
	return func(r *request) {
		if value == "" {
			r.header.Del(name)
			return
		}
		r.header.Set(name, value)
	}
}

// offContract marks a request that the service accepts although its description
// does not allow it.
func offContract(r *request) { r.offContract = true }

func (c client) get(path string, options ...option) answer {
	c.t.Helper()
	return c.send(http.MethodGet, path, "", options...)
}

func (c client) post(path, body string, options ...option) answer {
	c.t.Helper()
	return c.send(http.MethodPost, path, body, options...)
}

func (c client) put(path, body string, options ...option) answer {
	c.t.Helper()
	return c.send(http.MethodPut, path, body, options...)
}

func (c client) delete(path string, options ...option) answer {
	c.t.Helper()
	return c.send(http.MethodDelete, path, "", options...)
}

// send sends a request and checks it and its answer against the description. A body
// is sent as JSON:API unless an option changes that.
func (c client) send(method, path, body string, options ...option) answer {
	c.t.Helper()
	r := request{method: method, path: path, body: body, header: http.Header{}}
	if body != "" {
		r.header.Set("Content-Type", jsonapi.MediaType)
	}
	if c.key != "" {
		r.header.Set("Authorization", "Bearer "+c.key)
	}
	if c.session != "" {
		r.header.Set("Cookie", "signalbox_session="+c.session+"; __Host-signalbox_session="+c.session)
	}
	for _, option := range options {
		option(&r)
	}
	sent, got := c.exchange(r)
	for range 5 { // the other tests overload the node; a refused request has not begun
		if got.status != http.StatusServiceUnavailable || !strings.Contains(string(got.body), "overloaded") {
			break
		}
		sent, got = c.exchange(r)
	}
	checkExchange(c.t, sent, r, got)
	return got
}

// exchange sends a request and reads its answer without checking them.
func (c client) exchange(r request) (*http.Request, answer) {
	c.t.Helper()
	var body io.Reader
	if r.body != "" {
		body = strings.NewReader(r.body)
	}
	sent, err := http.NewRequestWithContext(c.t.Context(), r.method, c.node.URL+r.path, body)
	if err != nil {
		c.t.Fatal(err)
	}
	maps.Copy(sent.Header, r.header)
	received, err := c.http.Do(sent)
	if err != nil {
		c.t.Fatalf("%s %s: %v", r.method, r.path, err)
	}
	defer received.Body.Close()
	text, err := io.ReadAll(received.Body)
	if err != nil {
		c.t.Fatalf("%s %s: reading the answer: %v", r.method, r.path, err)
	}
	return sent, answer{t: c.t, what: r.method + " " + r.path, status: received.StatusCode, header: received.Header, body: text}
}

// answer is the response to a request.
type answer struct {
	t      testing.TB
	what   string
	status int
	header http.Header
	body   []byte
}

// want ends the test unless the answer has a status.
func (a answer) want(status int) answer {
	a.t.Helper()
	if a.status != status {
		a.t.Fatalf("%s: got %d, want %d: %s", a.what, a.status, status, a.body)
	}
	return a
}

// decode reads the whole body.
func (a answer) decode(into any) {
	a.t.Helper()
	if err := json.Unmarshal(a.body, into); err != nil {
		a.t.Fatalf("%s: %v in %s", a.what, err, a.body)
	}
}

// resource is one resource as a client sees it.
type resource struct {
	ID         string         `json:"id"`
	Type       string         `json:"type"`
	Attributes map[string]any `json:"attributes"`
}

// data returns the resource of a document with one.
func (a answer) data() resource {
	a.t.Helper()
	var document struct{ Data resource }
	a.decode(&document)
	return document.Data
}

// attribute returns one attribute of the resource.
func (a answer) attribute(name string) any {
	a.t.Helper()
	value, ok := a.data().Attributes[name]
	if !ok {
		a.t.Fatalf("%s: no attribute %q in %s", a.what, name, a.body)
	}
	return value
}

// text returns an attribute that is a string.
func (a answer) text(name string) string {
	a.t.Helper()
	value, ok := a.attribute(name).(string)
	if !ok {
		a.t.Fatalf("%s: the attribute %q is no string in %s", a.what, name, a.body)
	}
	return value
}

// page is a document with a list.
type page struct {
	Data []resource
	Meta struct {
		Pagination map[string]int
		PageSize   int `json:"page_size"`
	}
	Links struct{ Next *string }
}

func (a answer) page() page {
	a.t.Helper()
	var document page
	a.decode(&document)
	return document
}

// ids returns the ids of a list.
func (a answer) ids() []string {
	a.t.Helper()
	ids := []string{}
	for _, each := range a.page().Data {
		ids = append(ids, each.ID)
	}
	return ids
}

// envelope returns the document of a request; an empty id or type is left out.
func envelope(resourceType, id string, attributes any) string {
	data := map[string]any{"attributes": attributes}
	if resourceType != "" {
		data["type"] = resourceType
	}
	if id != "" {
		data["id"] = id
	}
	text, err := json.Marshal(map[string]any{"data": data})
	if err != nil {
		panic(err) // attributes are literals of tests
	}
	return string(text)
}

// attributes are the attributes of a resource.
type attributes = map[string]any

// eventually waits until a condition holds. The test fails if a check that begins
// after the deadline finds that it does not hold.
func eventually(t testing.TB, deadline time.Duration, what string, yes func() bool) {
	t.Helper()
	ticker := time.NewTicker(20 * time.Millisecond)
	defer ticker.Stop()
	for began := time.Now(); ; <-ticker.C {
		late := time.Since(began) > deadline
		if yes() {
			return
		}
		if late {
			t.Fatalf("not within %s: %s", deadline, what)
		}
	}
}

// contains reports whether a body has a text in it.
func (a answer) contains(text string) bool { return bytes.Contains(a.body, []byte(text)) }

func (a answer) statusText() string { return strconv.Itoa(a.status) }
