package signalbox

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"
)

func TestRequest_EscapesIDs(t *testing.T) {
	t.Parallel()
	tests := map[string]string{
		"staging":    "staging",
		"user:alice": "user%3Aalice",
		"a/b":        "a%2Fb",
		"a b+c":      "a%20b%2Bc",
		"50%&x=1?#":  "50%25%26x%3D1%3F%23",
		"grün@home":  "gr%C3%BCn%40home",
		"a.b-c_d~e":  "a.b-c_d~e",
		".":          "%2E",
		"..":         "%2E%2E",
		"...":        "...",
		"..%2f..":    "..%252f..",
	}
	server := newStub(t, ok(`{"data":{"id":"x","attributes":{}}}`))
	client, _ := server.client(t)
	for id, want := range tests {
		t.Run(id, func(t *testing.T) {
			if _, err := client.Contexts.Get(t.Context(), id); err != nil {
				t.Fatal(err)
			}
			seen := server.requests()
			if got := seen[len(seen)-1].uri; got != "/api/v1/contexts/"+want {
				t.Errorf("%q was sent as %s", id, got)
			}
			if decoded, err := url.PathUnescape(want); err != nil || decoded != id {
				t.Errorf("%q decodes to %q, %v", want, decoded, err)
			}
		})
	}
}

func TestCall_InvalidArgumentsSendNothing(t *testing.T) {
	t.Parallel()
	server := newStub(t, ok(environmentBody))
	client, _ := server.client(t)
	ctx := t.Context()
	calls := map[string]func() error{
		"an id is empty": func() error { return client.Environments.Delete(ctx, "") },
		"IfMatch needs an ETag": func() error {
			_, err := client.Environments.Replace(ctx, "staging", EnvironmentDraft{Name: "S"}, IfMatch(""))
			return err
		},
		"encoding the request": func() error {
			_, err := client.Contexts.Report(ctx, []ReportedContext{{Type: "t", Key: "k", Attributes: map[string]any{"x": math.Inf(1)}}})
			return err
		},
	}
	for want, call := range calls {
		t.Run(want, func(t *testing.T) {
			if err := call(); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("got %v instead of %q", err, want)
			}
		})
	}
	if seen := server.requests(); len(seen) != 0 {
		t.Errorf("the server was sent %v", seen)
	}
}

func TestCall_UnexpectedBody(t *testing.T) {
	t.Parallel()
	for _, body := range []string{``, `<html>Welcome</html>`, `{}`, `[]`, `null`, `{"data":null}`, `{"data":{"id":7}}`, `{"data":{"id":"s"`} {
		t.Run(fmt.Sprintf("%q", body), func(t *testing.T) {
			server := newStub(t, ok(body))
			client, pauses := server.client(t)
			got, err := client.Environments.Get(t.Context(), "staging")
			if err == nil || !strings.Contains(err.Error(), "signalbox: GET /api/v1/environments/staging: the response") {
				t.Errorf("%s: got %+v, %v", body, got, err)
			}
			if len(pauses.taken) > 0 {
				t.Errorf("%s: it was tried again", body)
			}
		})
	}
}

func TestCall_CompressedResponse(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Accept-Encoding") != "gzip" {
			t.Error("the client does not ask for compression")
		}
		var buffer bytes.Buffer
		writer := gzip.NewWriter(&buffer)
		_, _ = writer.Write([]byte(environmentBody))
		_ = writer.Close()
		w.Header().Set("Content-Encoding", "gzip")
		_, _ = w.Write(buffer.Bytes())
	}))
	t.Cleanup(server.Close)
	client, err := New(server.URL, "k")
	if err != nil {
		t.Fatal(err)
	}
	if got, err := client.Environments.Get(t.Context(), "staging"); err != nil || got.Name != "Staging" {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestGet_ReturnsETag(t *testing.T) {
	t.Parallel()
	tagged := ok(environmentBody)
	tagged.header = map[string]string{"ETag": `"abc"`}
	server := newStub(t, tagged)
	client, _ := server.client(t)
	got, err := client.Environments.Get(t.Context(), "staging")
	if err != nil || got.ETag != `"abc"` || got.ID != "staging" {
		t.Fatalf("got %+v, %v", got, err)
	}
	if at := time.Date(2030, 1, 2, 3, 4, 5, 678901000, time.UTC); !got.CreatedAt.Equal(at) {
		t.Errorf("created at %v", got.CreatedAt)
	}
	text, err := json.Marshal(got) // values that a program logs or stores have attributes only
	if err != nil || strings.Contains(string(text), "abc") {
		t.Errorf("%s, %v", text, err)
	}
}

func TestWithTimeout_EndsAttempt(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-release:
		case <-r.Context().Done():
		}
	}))
	t.Cleanup(server.Close)
	t.Cleanup(func() { close(release) })
	client, err := New(server.URL, "k", WithTimeout(10*time.Millisecond), WithRetry(RetryPolicy{}))
	if err != nil {
		t.Fatal(err)
	}
	_, err = client.Account.Get(t.Context())
	if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "no response within 10ms") {
		t.Errorf("got %v", err)
	}
}

func TestCall_Canceled(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		cancel()
		<-r.Context().Done()
	}))
	t.Cleanup(server.Close)
	client, err := New(server.URL, "k", WithTimeout(0))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.Account.Get(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}
