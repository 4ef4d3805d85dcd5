package api_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/internal/app/apptest"
	"github.com/signalbox/signalbox/internal/store/storetest"
)

// fuzzedPaths are the paths that a fuzzed segment is put into.
var fuzzedPaths = []string{
	"/api/v1/environments", "/api/v1/environments/%", "/api/v1/environments/%/usage", "/api/v1/services", "/api/v1/services/%",
	"/api/v1/context_types", "/api/v1/context_types/%", "/api/v1/contexts", "/api/v1/contexts/%", "/api/v1/contexts/bulk", "/api/v1/metrics", "/api/v1/metrics/bulk",
	"/api/v1/api_keys", "/api/v1/api_keys/%", "/api/v1/api_keys/%/actions/revoke", "/api/v1/changes", "/api/v1/changes/%",
	"/api/v1/accounts/current", "/api/v1/accounts/current/settings", "/api/v1/users/current", "/api/v1/users/current/settings",
	"/api/v1/flags", "/api/v1/flags/%", "/api/v1/flags/bulk", "/api/v1/flags/%/sources", "/api/v1/flags/%/actions/evaluate", "/api/v1/flags/actions/evaluate", "/api/v1/flag_sources",
	"/api/v1/loggers", "/api/v1/loggers/%", "/api/v1/loggers/bulk", "/api/v1/loggers/%/sources", "/api/v1/logger_sources",
	"/api/v1/log_groups", "/api/v1/log_groups/%",
	"/api/v1/configs", "/api/v1/configs/%", "/api/v1/configs/%/resolved",
	"/%", "/api/%", "/api/v1/%", "/api/v1/%/%",
}

var (
	fuzzedMethods      = []string{"GET", "POST", "PUT", "DELETE", "HEAD", "PATCH", "OPTIONS", "TRACE"}
	fuzzedContentTypes = []string{"application/vnd.api+json", "application/json", "", "text/plain", "application/json; charset=utf-8", "multipart/form-data", ";"}
)

// FuzzRequest sends whole requests to a node on SQLite: it never fails inside,
// and every refusal is an error document with a known code.
func FuzzRequest(f *testing.F) {
	for _, seed := range fuzzSeeds() {
		f.Add(seed.method, seed.path, seed.segment, seed.query, []byte(seed.body), seed.contentType)
	}
	node := apptest.Start(f, storetest.New(f, "sqlite"))
	f.Fuzz(func(t *testing.T, method, place uint8, segment, query string, body []byte, contentType uint8) {
		target := strings.ReplaceAll(fuzzedPaths[int(place)%len(fuzzedPaths)], "%", segment)
		sent, ok := fuzzedRequest(fuzzedMethods[int(method)%len(fuzzedMethods)], target, query, string(body))
		if !ok {
			return // the server's own parser would have refused it
		}
		sent.Header.Set("Authorization", "Bearer "+node.Key)
		sent.Header.Set("Content-Type", fuzzedContentTypes[int(contentType)%len(fuzzedContentTypes)])
		recorder := httptest.NewRecorder()
		node.App.Handler().ServeHTTP(recorder, sent)
		requireSane(t, sent, recorder, string(body))
	})
}

// fuzzedRequest makes a request as a server reads it from the wire.
func fuzzedRequest(method, target, query, body string) (*http.Request, bool) {
	if query != "" {
		target += "?" + query
	}
	if strings.ContainsFunc(target, func(c rune) bool { return c <= ' ' || c == 0x7f }) {
		return nil, false
	}
	parsed, err := url.ParseRequestURI(target)
	if err != nil {
		return nil, false
	}
	sent := httptest.NewRequest(method, "/", strings.NewReader(body))
	sent.URL, sent.RequestURI = parsed, target
	return sent, true
}

func requireSane(t *testing.T, sent *http.Request, recorder *httptest.ResponseRecorder, body string) {
	t.Helper()
	status, header, answered := recorder.Code, recorder.Header(), recorder.Body.Bytes()
	if status >= 500 || status < 200 || header.Get("Location") != "" {
		t.Fatalf("%s %s with %q: got %d %s", sent.Method, sent.RequestURI, body, status, answered)
	}
	if sent.Method == http.MethodHead {
		return
	}
	// The whole contract would be asked here as well, if that were not a
	// hundred times slower than the service.
	if status >= 400 {
		if err := checkErrorDocument(status, answered); err != nil {
			t.Fatalf("%s %s with %q: %v in %s", sent.Method, sent.RequestURI, body, err, answered)
		}
	} else if strings.Contains(header.Get("Content-Type"), "json") && !json.Valid(answered) {
		t.Fatalf("%s %s with %q: got %s", sent.Method, sent.RequestURI, body, answered)
	}
}

// fuzzSeed is one request to start from: indices into the tables above.
type fuzzSeed struct {
	method, path   uint8
	segment, query string
	body           string
	contentType    uint8
}

func fuzzSeeds() []fuzzSeed {
	const get, post, put, remove = 0, 1, 2, 3
	seeds := []fuzzSeed{
		{post, 0, "", "", `{"data":{"id":"qa","type":"environment","attributes":{"name":"Q","color":"#123","classification":"ad_hoc","managed":false}}}`, 0},
		{put, 1, "staging", "", `{"data":{"attributes":{"name":"S","color":null}}}`, 0},
		{remove, 1, "staging", "cascade=true", "", 0},
		{post, 3, "", "", `{"data":{"id":"a/b","attributes":{}}}`, 1},
		{put, 6, "user", "", `{"data":{"attributes":{"name":"U","attributes":{"a\u0000":1}}}}`, 0},
		{put, 8, "user%3Aalice", "", `{"data":{"attributes":{"name":"A"}}}`, 0},
		{post, 9, "", "", `{"contexts":[{"type":"environment","key":"preview"},{"type":"service","key":"s"},{"type":"user","key":"alice","attributes":{"a":1}},null,{}]}`, 1},
		{post, 10, "", "", `{"data":[{"attributes":{"name":"m","value":1.5,"unit":"ms","dimensions":{"b":1,"a":2},"recorded_at":"2030-01-31T08:00:00Z"}},{}]}`, 1},
		{post, 11, "", "", `{"data":{"attributes":{"name":"k","role":"viewer","scopes":{"environments":["staging"]},"expires_at":"2100-01-01T00:00:00+01:00"}}}`, 0},
		{put, 12, "00000000-0000-0000-0000-000000000000", "", `{"data":{"attributes":{"name":"k","scopes":null}}}`, 0},
		{post, 13, "x", "", "{}", 0},
		{put, 16, "", "", `{"data":{"id":"current","type":"account","attributes":{"name":"A","key":"a","plans":{"jobs":"pro"}}}}`, 0},
		{put, 17, "", "", `{"environment_order":["staging","staging","x"],"a":{"b":[1.0,1e400]},"a":2}`, 1},
		{put, 19, "", "", `{"data":{"type":"user_settings","attributes":{"environment_order":null}}}`, 0},
	}
	for _, segment := range []string{"", "a", "%00", "%ff", "%2F", "%2e%2e", "..", ".", "a/b", "//", "%", "%zz", "user%3Aalice", "1", "0", "-1", "9223372036854775808", "%F0%9F%9A%80", "a%20b", "*", "current"} {
		for _, place := range []uint8{1, 8, 12, 15, 20, 22, 23} {
			seeds = append(seeds, fuzzSeed{get, place, segment, "", "", 0})
		}
	}
	for _, query := range []string{
		"page[number]=0", "page%5Bsize%5D=1001", "sort=-name,key", "sort=;", "filter[search]=%25_%5C", "filter[managed]=x&managed=true", "filter[classification]=ad_hoc",
		"filter[created_at]=[2030-01-01T00:00:00Z,*)", "filter[created_at]=[9999-12-31T23:59:59-01:00,0000-01-01T00:00:00%2B23:59)", "page[after]=1&page[size]=1", "%zz", "a;b", "filter[search]=%00%ff", "meta[total]=true&page[number]=2147483647",
	} {
		for _, place := range []uint8{0, 3, 5, 7, 11, 14} {
			seeds = append(seeds, fuzzSeed{get, place, "", query, "", 0})
		}
	}
	for _, body := range []string{"", "{", "[]", "null", `{"data":null}`, `{"data":{"attributes":[]}}`, `{"data":{"attributes":{"name":1}}}`, "\xff", strings.Repeat(`{"data":`, 10001), `{"data":{"id":"\u0000","type":"\u0000","attributes":{"name":"\u0000\ud800"}}}`} {
		for _, place := range []uint8{0, 1, 3, 9, 10, 11, 16, 17} {
			seeds = append(seeds, fuzzSeed{post, place, "staging", "", body, 0}, fuzzSeed{put, place, "staging", "", body, 1})
		}
	}
	return seeds
}
