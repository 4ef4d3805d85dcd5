package manifest_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	signalbox "github.com/signalbox/signalbox/client"
	"github.com/signalbox/signalbox/internal/cli/manifest"
)

// members are the attributes of a resource.
type members map[string]json.RawMessage

// write is a request that changes a resource.
type write struct {
	Method, Kind, ID string
	DryRun           bool
	Attributes       members
}

// problem is an error entry of a refusal.
type problem struct {
	code            signalbox.Code
	pointer, detail string
}

// server is a server in memory. It stores writes with the test's defaults, and has only the test's rules.
type server struct {
	t      *testing.T
	client *signalbox.Client
	// defaults has the members that a kind, or an object in it, gets when they are not sent, as JSON objects.
	defaults map[string]string
	// refuse returns the problems of a write; it is called while the server is locked.
	refuse func(write) []problem
	// forbid makes the server refuse all writes of the key.
	forbid bool
	// account is the id of the account.
	account string
	// between is called before a resource is written, to simulate another user.
	between func(write)
	// meanwhile is called before settings are written, to simulate another user.
	meanwhile func()

	mu       sync.Mutex
	stored   map[string]members // by kind and id
	settings json.RawMessage
	version  int      // of everything; it is the time, too
	writes   []string // such as "POST flag:checkout"
}

func newServer(t *testing.T) *server {
	t.Helper()
	s := &server{t: t, account: "acme", stored: map[string]members{}, settings: json.RawMessage(`{}`)}
	client, err := signalbox.New("http://signalbox.test", "sk_api_any", signalbox.WithHTTPClient(&http.Client{Transport: s}))
	if err != nil {
		t.Fatal(err)
	}
	s.client = client
	return s
}

// read reads resources from a text.
func read(t *testing.T, text string) []manifest.Resource {
	t.Helper()
	resources, err := manifest.Read([]string{"-"}, strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return resources
}

// try plans, with a variable TOKEN.
func (s *server) try(options manifest.Options, resources ...manifest.Resource) (*manifest.Plan, error) {
	options.Variable = func(name string) string { return map[string]string{"TOKEN": "swordfish"}[name] }
	return manifest.New(s.t.Context(), s.client, resources, options)
}

func (s *server) plan(options manifest.Options, resources ...manifest.Resource) *manifest.Plan {
	s.t.Helper()
	plan, err := s.try(options, resources...)
	if err != nil {
		s.t.Fatal(err)
	}
	return plan
}

func (s *server) apply(options manifest.Options, resources ...manifest.Resource) {
	s.t.Helper()
	if _, err := s.plan(options, resources...).Apply(s.t.Context()); err != nil {
		s.t.Fatal(err)
	}
}

// put stores a resource, as somebody else would.
func (s *server) put(kind, id, attributes string) {
	s.t.Helper()
	var all members
	if err := json.Unmarshal([]byte(attributes), &all); err != nil {
		s.t.Fatal(err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stored[kind+":"+id] = all
}

// done returns the writes since the last call.
func (s *server) done() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	writes := s.writes
	s.writes = nil
	return writes
}

// RoundTrip answers without a network.
func (s *server) RoundTrip(r *http.Request) (*http.Response, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	recorder := httptest.NewRecorder()
	mux := http.NewServeMux()
	mux.HandleFunc("GET /api/v1/accounts/current/settings", s.readSettings)
	mux.HandleFunc("PUT /api/v1/accounts/current/settings", s.writeSettings)
	mux.HandleFunc("GET /api/v1/accounts/current", func(w http.ResponseWriter, _ *http.Request) {
		s.send(w, map[string]any{"data": document{s.account, json.RawMessage(`{}`)}})
	})
	mux.HandleFunc("GET /api/v1/{kinds}", s.list)
	mux.HandleFunc("GET /api/v1/{kinds}/{id}", s.get)
	mux.HandleFunc("POST /api/v1/{kinds}", s.change)
	mux.HandleFunc("PUT /api/v1/{kinds}/{id}", s.change)
	mux.HandleFunc("DELETE /api/v1/{kinds}/{id}", s.change)
	mux.ServeHTTP(recorder, r)
	return recorder.Result(), nil
}

func (s *server) send(w http.ResponseWriter, body any) {
	w.Header().Set("ETag", strconv.Quote(strconv.Itoa(s.version)))
	if err := json.NewEncoder(w).Encode(body); err != nil {
		s.t.Error(err)
	}
}

func (s *server) fail(w http.ResponseWriter, status int, problems ...problem) {
	var entries []any
	for _, each := range problems {
		entry := map[string]any{"status": strconv.Itoa(status), "code": each.code, "detail": each.detail}
		if each.pointer != "" {
			entry["source"] = map[string]string{"pointer": each.pointer}
		}
		entries = append(entries, entry)
	}
	w.WriteHeader(status)
	s.send(w, map[string]any{"errors": entries})
}

func (s *server) readSettings(w http.ResponseWriter, _ *http.Request) {
	s.send(w, map[string]any{"data": map[string]any{"id": "current", "attributes": s.settings}})
}

func (s *server) writeSettings(w http.ResponseWriter, r *http.Request) {
	if s.meanwhile != nil {
		s.meanwhile()
	}
	if r.Header.Get("If-Match") != strconv.Quote(strconv.Itoa(s.version)) {
		s.fail(w, http.StatusPreconditionFailed, problem{code: signalbox.CodeVersionMismatch})
		return
	}
	s.version++
	s.settings = s.body(r).Attributes
	s.writes = append(s.writes, "PUT settings")
	s.readSettings(w, r)
}

type document struct {
	ID         string          `json:"id"`
	Attributes json.RawMessage `json:"attributes"`
}

func (s *server) body(r *http.Request) document {
	var body struct{ Data document }
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
		s.t.Error(err)
	}
	return body.Data
}

// get sends one resource. Its ETag is a hash of its content.
func (s *server) get(w http.ResponseWriter, r *http.Request) {
	kind, id := strings.TrimSuffix(r.PathValue("kinds"), "s"), r.PathValue("id")
	stored, exists := s.stored[kind+":"+id]
	if !exists {
		s.fail(w, http.StatusNotFound, problem{code: signalbox.CodeNotFound})
		return
	}
	w.Header().Set("ETag", s.tag(stored))
	if err := json.NewEncoder(w).Encode(map[string]any{"data": document{id, s.encode(stored)}}); err != nil {
		s.t.Error(err)
	}
}

func (s *server) tag(stored members) string {
	return fmt.Sprintf(`"%x"`, sha256.Sum256(s.encode(stored)))
}

// list sends pages of two.
func (s *server) list(w http.ResponseWriter, r *http.Request) {
	const size = 2
	kind := strings.TrimSuffix(r.PathValue("kinds"), "s")
	number, err := strconv.Atoi(r.FormValue("page[number]"))
	if err != nil {
		s.t.Error(err)
	}
	all := []document{} // an empty list is sent as a list
	for _, name := range slices.Sorted(maps.Keys(s.stored)) {
		if id, is := strings.CutPrefix(name, kind+":"); is {
			all = append(all, document{id, s.encode(s.stored[name])})
		}
	}
	page := all[min(len(all), (number-1)*size):min(len(all), number*size)]
	s.send(w, map[string]any{"data": page, "meta": map[string]any{"pagination": map[string]int{"page": number, "size": size}}})
}

func (s *server) encode(value any) json.RawMessage {
	text, err := json.Marshal(value)
	if err != nil {
		s.t.Error(err)
	}
	return text
}

// change creates, replaces or deletes a resource.
func (s *server) change(w http.ResponseWriter, r *http.Request) {
	asked := write{Method: r.Method, Kind: strings.TrimSuffix(r.PathValue("kinds"), "s"), ID: r.PathValue("id"), DryRun: r.FormValue("dry_run") != ""}
	if r.Method != http.MethodDelete {
		body := s.body(r)
		asked.ID = body.ID
		if err := json.Unmarshal(body.Attributes, &asked.Attributes); err != nil {
			s.t.Error(err)
		}
	}
	name := asked.Kind + ":" + asked.ID
	stored, exists := s.stored[name]
	if s.between != nil && !asked.DryRun {
		s.between(asked)
		stored, exists = s.stored[name]
	}
	switch {
	case s.forbid:
		s.fail(w, http.StatusForbidden, problem{code: signalbox.CodeForbidden, detail: "this key has the role VIEWER"})
		return
	case r.Header.Get("If-Match") != "" && r.Header.Get("If-Match") != s.tag(stored):
		s.fail(w, http.StatusPreconditionFailed, problem{code: signalbox.CodeVersionMismatch})
		return
	case r.Method == http.MethodPost && exists:
		s.fail(w, http.StatusConflict, problem{code: signalbox.CodeAlreadyExists})
		return
	case r.Method != http.MethodPost && !exists && asked.Kind != "logger":
		s.fail(w, http.StatusNotFound, problem{code: signalbox.CodeNotFound})
		return
	}
	if s.refuse != nil {
		if problems := s.refuse(asked); problems != nil {
			s.fail(w, http.StatusBadRequest, problems...)
			return
		}
	}
	s.version++
	after := s.settle(asked)
	if !asked.DryRun {
		s.writes = append(s.writes, r.Method+" "+name)
		if s.stored[name] = after; r.Method == http.MethodDelete {
			delete(s.stored, name)
		}
	}
	s.send(w, map[string]any{"data": document{asked.ID, s.encode(after)}, "meta": map[string]bool{"dry_run": asked.DryRun}})
}

// settle returns the stored result of a write: with defaults, with instants instead of durations,
// and with the time of the write.
func (s *server) settle(asked write) members {
	defaults := members{}
	if text, has := s.defaults[asked.Kind]; has {
		if err := json.Unmarshal([]byte(text), &defaults); err != nil {
			s.t.Error(err)
		}
	}
	after := s.withDefaults(asked.Attributes, defaults)
	settleExpiry(after, "level_ttl_seconds", "level_expires_at")
	var levels map[string]members
	if json.Unmarshal(after["environments"], &levels) == nil && asked.Kind != "config" {
		for _, level := range levels {
			settleExpiry(level, "ttl_seconds", "expires_at")
		}
		after["environments"] = s.encode(levels)
	}
	var values []json.RawMessage
	if json.Unmarshal(after["values"], &values) == nil && values != nil { // each gets a name
		for i, value := range values {
			if bytes.HasPrefix(value, []byte(`{"name":`)) {
				continue
			}
			values[i] = s.encode(map[string]any{"name": string(value), "value": value})
		}
		after["values"] = s.encode(values)
	}
	after["updated_at"] = json.RawMessage(strconv.Itoa(s.version))
	return after
}

// withDefaults returns an object with the defaults of its missing members, also in nested objects.
func (s *server) withDefaults(sent, defaults members) members {
	after := maps.Clone(defaults)
	for name, value := range sent {
		var inner, innerDefaults members
		if json.Unmarshal(value, &inner) == nil && inner != nil && json.Unmarshal(defaults[name], &innerDefaults) == nil {
			value = s.encode(s.withDefaults(inner, innerDefaults))
		}
		after[name] = value
	}
	return after
}

func settleExpiry(level members, short, long string) {
	if seconds, has := level[short]; has {
		delete(level, short)
		level[long] = json.RawMessage(fmt.Sprintf(`"in %s s"`, seconds))
	}
}
