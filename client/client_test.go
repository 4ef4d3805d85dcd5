package signalbox

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/signalbox/signalbox/client/internal/testenv"
)

func TestNew_InvalidArguments(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ base, key, want string }{
		"no URL":         {"", "k", "not an absolute"},
		"no scheme":      {"localhost:8080", "k", "not an absolute"},
		"another scheme": {"ftp://host", "k", "not an absolute"},
		"no host":        {"http://", "k", "not an absolute"},
		"not a URL":      {"http://[::1", "k", "parsing the base URL"},
		"a user":         {"http://me:secret-word@host", "k", "no user, query or fragment"},
		"a query":        {"http://host?a=b", "k", "no user, query or fragment"},
		"an empty query": {"http://host?", "k", "no user, query or fragment"},
		"a fragment":     {"http://host#a", "k", "no user, query or fragment"},
		"no key":         {"http://host", "", "the API key is empty"},
		"a blank key":    {"http://host", " \n", "the API key is empty"},
		"a split key":    {"http://host", "secret-word\r\nX: y", "visible ASCII"},
		"a foreign key":  {"http://host", "secret-wörd", "visible ASCII"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			client, err := New(test.base, test.key)
			if client != nil || err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, %v", client, err)
			}
			if err != nil && strings.Contains(err.Error(), "secret-w") {
				t.Errorf("the message tells a secret: %v", err)
			}
		})
	}
}

func TestReplace_Request(t *testing.T) {
	t.Parallel()
	server := newStub(t, ok(environmentBody))
	client, err := New(server.URL+"/behind/a/proxy/", "sk_api_secret\n", WithUserAgent("billing/1.4"))
	if err != nil {
		t.Fatal(err)
	}
	draft := EnvironmentDraft{Name: "Staging"}
	if _, err := client.Environments.Replace(t.Context(), "staging", draft, IfMatch(`"tag"`)); err != nil {
		t.Fatal(err)
	}
	got := server.only(t)
	if got.method != http.MethodPut || got.uri != "/behind/a/proxy/api/v1/environments/staging" {
		t.Errorf("%s %s", got.method, got.uri)
	}
	for name, want := range map[string]string{
		"Authorization": "Bearer sk_api_secret", "User-Agent": "billing/1.4 signalbox-go/dev", "If-Match": `"tag"`,
		"Content-Type": mediaType, "Accept": mediaType,
	} {
		t.Run(name, func(t *testing.T) {
			if value := got.header.Get(name); value != want {
				t.Errorf("%q, not %q", value, want)
			}
		})
	}
	want := `{"data":{"id":"staging","type":"environment","attributes":{"name":"Staging","color":null}}}`
	if diff := testenv.Diff(want, got.body); diff != "" {
		t.Error(diff)
	}
}

func TestGet_RequestHasNoBody(t *testing.T) {
	t.Parallel()
	server := newStub(t, ok(environmentBody))
	client, _ := server.client(t)
	if _, err := client.Environments.Get(t.Context(), "staging"); err != nil {
		t.Fatal(err)
	}
	got := server.only(t)
	if got.body != "" || got.header.Get("Content-Type") != "" || got.header.Get("User-Agent") != "signalbox-go/dev" {
		t.Errorf("got %+v", got)
	}
}

func TestWithHTTPClient_NotModified(t *testing.T) {
	t.Parallel()
	server := newStub(t, reply{status: http.StatusFound, header: map[string]string{"Location": "/elsewhere"}}, ok(environmentBody))
	passed := &http.Client{Timeout: time.Minute}
	client, _ := server.client(t, WithHTTPClient(passed))
	_, err := client.Environments.Get(t.Context(), "staging")
	if err == nil || !strings.Contains(err.Error(), "302 Found") {
		t.Errorf("the redirect was followed: %v", err)
	}
	server.only(t)
	if passed.CheckRedirect != nil {
		t.Error("the client that was passed in has another CheckRedirect now")
	}
}

func TestWithHTTPClient_OwnRedirectPolicy(t *testing.T) {
	t.Parallel()
	server := newStub(t, reply{status: http.StatusTemporaryRedirect, header: map[string]string{"Location": "/elsewhere"}}, ok(environmentBody))
	passed := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return nil }}
	client, _ := server.client(t, WithHTTPClient(passed))
	if _, err := client.Environments.Get(t.Context(), "staging"); err != nil {
		t.Error(err)
	}
}
