package api_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/internal/jsonapi"
	"github.com/signalbox/signalbox/internal/settings"
	"github.com/signalbox/signalbox/internal/store/storetest"
)

func TestHeaders_Accept(t *testing.T) {
	t.Parallel()
	owner := newOwner(t, "pro")
	for _, accept := range []string{"", "*/*", "text/html", "image/png", "application/json", "application/vnd.api+json;ext=x", "*/*;q=0", "nonsense;;,", "application/xml, */*;q=0.1"} {
		t.Run(fmt.Sprintf("%q", accept), func(t *testing.T) {
			owner := owner.in(t)
			got := owner.get(environmentsPath+"/staging", with("Accept", accept)).want(200)
			if mediaType := got.header.Get("Content-Type"); mediaType != jsonapi.MediaType {
				t.Errorf("Accept %q: got %s", accept, mediaType)
			}
			owner.get(environmentsPath+"/nowhere", with("Accept", accept)).refused(404, problem{code: "not_found"})
		})
	}
}

func TestHeaders_ContentType(t *testing.T) {
	t.Parallel()
	owner := newOwner(t, "pro")
	for _, mediaType := range []string{
		"application/vnd.api+json", "application/json", "application/vnd.api+json; charset=utf-8", `application/vnd.api+json; ext="x y"`,
		"APPLICATION/JSON", "application/json;charset=UTF-8", "",
	} {
		t.Run(fmt.Sprintf("%q", mediaType), func(t *testing.T) {
			got := owner.in(t).post(environmentsPath, envelope("", unique("environment"), attributes{"name": "N"}),
				with("Content-Type", mediaType), offContract)
			got.what += " as " + mediaType
			got.want(201)
		})
	}
	// Without a body its type does not matter.
	revoke := owner.makeKey(nil).path + "/actions/revoke"
	owner.post(revoke, "", with("Content-Type", "text/plain")).want(200)
	owner.post(environmentsPath, "", with("Content-Type", "text/plain")).refused(400, invalid(""))
}

func TestBody_OfActions(t *testing.T) {
	t.Parallel()
	owner := newOwner(t, "pro")
	revoke := owner.makeKey(nil).path + "/actions/revoke"
	for _, body := range []string{"", "{}", " {} ", "\n", `{"data":null}`, `{"anything":[1,2]}`} {
		t.Run(fmt.Sprintf("%q", body), func(t *testing.T) {
			owner.in(t).post(revoke, body, func(r *request) { r.offContract = strings.TrimSpace(body) == "" }).want(200)
		})
	}
	for _, body := range []string{"[]", "null", "5", `"x"`, "{", "\xff"} {
		t.Run(fmt.Sprintf("%q", body), func(t *testing.T) { owner.in(t).post(revoke, body).refused(400, invalid("")) })
	}
	owner.post(revoke, "{}", with("Content-Type", "text/plain")).refused(415, problem{code: "unsupported_media_type"})
	// The limit is not passed by reaching it.
	owner.post(revoke, "{}"+strings.Repeat(" ", jsonapi.MaxBody-2)).want(200)
	owner.post(revoke, "{}"+strings.Repeat(" ", jsonapi.MaxBody-1)).refused(413, problem{code: "payload_too_large"})
}

func TestBody_OfReports(t *testing.T) {
	t.Parallel()
	owner := newOwner(t, "pro")
	for path, member := range map[string]string{contextsPath + "/bulk": "contexts", "/api/v1/metrics/bulk": "data"} {
		t.Run(path, func(t *testing.T) {
			owner := owner.in(t)
			for _, body := range []string{"", "{", "[]", "null", "\xff"} {
				t.Run(fmt.Sprintf("%q", body), func(t *testing.T) {
					owner.in(t).post(path, body).refused(400, invalid(""))
				})
			}
			for _, body := range []string{`{}`, `{"` + member + `":null}`, `{"` + member + `":{}}`, `{"` + member + `":"x"}`, `{"items":[]}`} {
				t.Run(body, func(t *testing.T) {
					owner.in(t).post(path, body).refused(400, invalid("/"+member))
				})
			}
			owner.post(path, `{"`+member+`":[]}`, with("Content-Type", "text/csv")).refused(415, problem{code: "unsupported_media_type"})
			owner.post(path, strings.Repeat(" ", jsonapi.MaxBody+1)).refused(413, problem{code: "payload_too_large"})
		})
	}
}

func TestHeaders_RequestID(t *testing.T) {
	t.Parallel()
	made := regexp.MustCompile(`^[a-z2-7]{16}-[0-9]+$`)
	owner := newOwner(t, "pro")
	for _, id := range []string{"a", "trace-0123_4.5:6/7+8=9@x", strings.Repeat("x", 128)} {
		t.Run(fmt.Sprintf("%.40q", id), func(t *testing.T) {
			owner := owner.in(t)
			for _, path := range []string{environmentsPath, environmentsPath + "/nowhere", "/nowhere", "/api/liveness", "/metrics"} {
				t.Run(path, func(t *testing.T) {
					if got := owner.in(t).get(path, with("X-Request-Id", id)).header.Get("X-Request-Id"); got != id {
						t.Errorf("sent %q, got %q", id, got)
					}
				})
			}
		})
	}
	seen := map[string]bool{}
	for _, id := range []string{"", "a b", `"quoted"`, "ümlaut", "<x>", strings.Repeat("x", 129), "a\tb", "a,b"} {
		t.Run(fmt.Sprintf("%.40q", id), func(t *testing.T) {
			got := owner.in(t).get(environmentsPath, with("X-Request-Id", id), offContract).header.Get("X-Request-Id")
			if !made.MatchString(got) || seen[got] {
				t.Errorf("sent %q, got %q, want a new one of ours", id, got)
			}
			seen[got] = true
		})
	}
	for _, got := range []answer{
		owner.delete(owner.makeEnvironment(unique("environment"))).want(204),
		owner.get(environmentsPath+"/staging", with("If-None-Match", "*")).want(304),
		owner.as("").get(environmentsPath).want(401),
		owner.post("/api/v1/metrics/bulk", `{"data":[]}`).want(202),
	} {
		if !made.MatchString(got.header.Get("X-Request-Id")) {
			t.Errorf("%s %d: no request id", got.what, got.status)
		}
	}
}

func TestHeaders_ContentEncoding(t *testing.T) {
	t.Parallel()
	owner := newOwner(t, "pro")
	owner.makeFlag("made", nil)
	for path, body := range map[string]string{
		servicesPath: envelope("", "zipped", attributes{}), contextsPath + "/bulk": `{"contexts":[]}`, keysPath: envelope("", "", attributes{"name": "k"}),
	} {
		t.Run(path, func(t *testing.T) {
			owner := owner.in(t)
			for _, encoding := range []string{"gzip", "br", "deflate, gzip"} {
				t.Run(encoding, func(t *testing.T) {
					owner.in(t).post(path, body, with("Content-Encoding", encoding)).refused(415, problem{code: "unsupported_media_type"})
				})
			}
		})
	}
	owner.put(settingsPath, `{}`, with("Content-Encoding", "gzip")).refused(415, problem{code: "unsupported_media_type"})
	owner.ofrep("made", `{}`, with("Content-Encoding", "gzip")).want(415)
	owner.post(servicesPath, envelope("", "plain", attributes{}), with("Content-Encoding", "identity")).want(201)
}

func TestHeaders_Protection(t *testing.T) {
	t.Parallel()
	plain := newOwner(t, "pro")
	secure := start(t, storetest.New(t, "sqlite"), func(s *settings.Settings) { s.PublicURL = "https://box.example.com" })
	for owner, wanted := range map[client]string{plain: "", secure: "max-age=31536000"} {
		for _, got := range []answer{
			owner.get(environmentsPath).want(200), owner.get(environmentsPath+"/staging", with("If-None-Match", "*")).want(304),
			owner.get(environmentsPath + "/nowhere").want(404), owner.get("/nowhere").want(404), owner.as("").get(environmentsPath).want(401),
			owner.get("/api/liveness").want(200), owner.get("/metrics").want(200), owner.ofrep("", `{}`).want(200), owner.send("PATCH", environmentsPath, "").want(405),
			owner.delete(owner.makeEnvironment(unique("environment"))).want(204), owner.post(environmentsPath, "{").want(400),
		} {
			if got.header.Get("X-Content-Type-Options") != "nosniff" || got.header.Get("Strict-Transport-Security") != wanted {
				t.Errorf("%s %d: got %v", got.what, got.status, got.header)
			}
		}
	}
}

// TestHeaders_LengthAndChunks: a request with both may be two requests for a proxy
// before us.
func TestHeaders_LengthAndChunks(t *testing.T) {
	t.Parallel()
	owner := newOwner(t, "pro")
	const chunks = "Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n"
	for name, c := range map[string]struct {
		rest   string
		closed bool
	}{
		"a length":            {"Content-Length: 2\r\n\r\n{}", false},
		"chunks":              {chunks, true},
		"a length and chunks": {"Content-Length: 2\r\n" + chunks, true},
	} {
		t.Run(name, func(t *testing.T) {
			owner := owner.in(t)
			conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", strings.TrimPrefix(owner.node.URL, "http://"))
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = conn.Close() })
			head := "POST /api/v1/services HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + owner.key + "\r\n"
			if _, err := io.WriteString(conn, head+c.rest); err != nil {
				t.Fatal(err)
			}
			reader := bufio.NewReader(conn)
			got, err := http.ReadResponse(reader, nil)
			if err != nil {
				t.Fatal(err)
			}
			readAll(t, got)
			if got.StatusCode != 400 || got.Close != c.closed {
				t.Errorf("got %d, closed %v", got.StatusCode, got.Close)
			}
			if c.closed {
				if _, err := reader.ReadByte(); err != io.EOF {
					t.Errorf("the connection goes on: %v", err)
				}
			}
		})
	}
}
