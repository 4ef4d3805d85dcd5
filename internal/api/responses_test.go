package api_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/internal/api"
)

func readAll(t *testing.T, response *http.Response) []byte {
	t.Helper()
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// tagged returns single resources, by the route that reads them.
func tagged() map[string]func(client) string {
	return map[string]func(client) string{
		"GET /api/v1/accounts/current":          is(accountPath),
		"GET /api/v1/accounts/current/settings": is(settingsPath),
		"GET /api/v1/users/current":             is("/api/v1/users/current"),
		"GET /api/v1/users/current/settings":    is(ownSettingsPath),
		"GET /api/v1/users/{id}":                aUser,
		"GET /api/v1/invitations/{id}":          anInvitation,
		"GET /api/v1/links/{id}":                aLink,
		"GET /api/v1/api_keys/{id}":             aKey,
		"GET /api/v1/webhooks/{id}":             aWebhook,
		"GET /api/v1/environments/{id}":         anEnvironment,
		"GET /api/v1/environments/{id}/usage":   is(environmentsPath + "/staging/usage"),
		"GET /api/v1/services/{id}":             aService,
		"GET /api/v1/context_types/{id}":        aContextType,
		"GET /api/v1/contexts/{id}":             aContext,
		"GET /api/v1/flags/{id}":                aFlag,
		"GET /api/v1/loggers/{id}":              aLogger,
		"GET /api/v1/log_groups/{id}":           aGroup,
		"GET /api/v1/configs/{id}":              aConfig,
		"GET /api/v1/configs/{id}/resolved":     below(aConfig, "/resolved?environment=production"),
		"GET /api/v1/metrics":                   is("/api/v1/metrics?name=m"),
		"GET /api/v1/changes/{seq}":             is(changesPath + "/1"),
	}
}

// observed returns the routes whose response has members that the ETag does not cover: with
// the same ETag, these members may differ.
func observed() []string {
	return []string{
		"GET /api/v1/api_keys/{id}", "GET /api/v1/contexts/{id}", "GET /api/v1/flags/{id}", "GET /api/v1/loggers/{id}",
		"GET /api/v1/log_groups/{id}", "GET /api/v1/jobs/{id}", "GET /api/v1/webhooks/{id}",
	}
}

func TestETag_EveryResource(t *testing.T) {
	t.Parallel()
	first := newOwner(t, "pro")
	for route, make := range tagged() {
		t.Run(route, func(t *testing.T) {
			t.Parallel()
			owner := first.in(t).account("pro")
			path := make(owner)
			tag := owner.get(path).want(200).header.Get("Etag")
			if again := owner.get(path).want(200).header.Get("Etag"); tag == "" || again != tag {
				t.Errorf("the tag changes by itself: %q, %q", tag, again)
			}
			status := 304
			if slices.Contains(observed(), route) {
				status = 200
			}
			for _, header := range []string{tag, `"other", ` + tag, "*", `W/"x",` + tag, "W/" + tag} {
				got := owner.get(path, with("If-None-Match", header)).want(status)
				if (len(got.body) == 0) != (status == 304) || got.header.Get("Etag") != tag {
					t.Errorf("If-None-Match %s: got the body %q and the tag %q", header, got.body, got.header.Get("Etag"))
				}
			}
			for _, header := range []string{`"other"`, strings.Trim(tag, `"`), `""`, "nonsense"} {
				owner.get(path, with("If-None-Match", header)).want(200)
			}
		})
	}
}

func TestETag_FollowsDefinition(t *testing.T) {
	t.Parallel()
	owner := newOwner(t, "pro")
	for _, make := range []func(client) string{is(accountPath), is(settingsPath), is(ownSettingsPath), aKey, anEnvironment, aService, aContextType, aContext, aFlag, aLogger, aGroup, aConfig, aJob} {
		path := make(owner)
		t.Run(path, func(t *testing.T) {
			owner := owner.in(t)
			before := owner.get(path).want(200).header.Get("Etag")
			put := owner.put(path, replacing(path, "Changed")).want(200).header.Get("Etag")
			after := owner.get(path).want(200).header.Get("Etag")
			if before == after || put != after {
				t.Errorf("before %s, PUT %s, after %s", before, put, after)
			}
		})
	}
	for path, body := range map[string]string{
		environmentsPath: envelope("", "tagged", attributes{"name": "N"}), servicesPath: envelope("", "tagged", attributes{}),
		keysPath: envelope("", "", attributes{"name": "N"}),
	} {
		t.Run(path, func(t *testing.T) {
			owner := owner.in(t)
			created := owner.post(path, body).want(201)
			if read := owner.get(path + "/" + created.data().ID).want(200); read.header.Get("Etag") != created.header.Get("Etag") {
				t.Errorf("created with the tag %s, read with %s", created.header.Get("Etag"), read.header.Get("Etag"))
			}
		})
	}
}

// matched returns the routes that obey If-Match.
func matched() map[string]func(client) string {
	return map[string]func(client) string{
		"PUT /api/v1/accounts/current":          is(accountPath),
		"PUT /api/v1/accounts/current/settings": is(settingsPath),
		"PUT /api/v1/users/current/settings":    is(ownSettingsPath),
		"PUT /api/v1/users/{id}":                aUser, "DELETE /api/v1/users/{id}": aUser,
		"PUT /api/v1/api_keys/{id}": aKey, "DELETE /api/v1/api_keys/{id}": aKey,
		"PUT /api/v1/environments/{id}": anEnvironment, "DELETE /api/v1/environments/{id}": anEnvironment,
		"PUT /api/v1/services/{id}": aService, "DELETE /api/v1/services/{id}": aService,
		"PUT /api/v1/context_types/{id}": aContextType, "DELETE /api/v1/context_types/{id}": aContextType,
		"PUT /api/v1/flags/{id}": aFlag, "DELETE /api/v1/flags/{id}": aFlag,
		"PUT /api/v1/loggers/{id}": aLogger, "DELETE /api/v1/loggers/{id}": aLogger,
		"PUT /api/v1/log_groups/{id}": aGroup, "DELETE /api/v1/log_groups/{id}": aGroup,
		"PUT /api/v1/configs/{id}": aConfig, "DELETE /api/v1/configs/{id}": aConfig,
		"PUT /api/v1/jobs/{id}": aJob, "DELETE /api/v1/jobs/{id}": aJob,
		"PUT /api/v1/webhooks/{id}": aWebhook, "DELETE /api/v1/webhooks/{id}": aWebhook,
		"PUT /api/v1/contexts/{id}": aContext, "DELETE /api/v1/contexts/{id}": aContext,
	}
}

func TestIfMatch_EveryRoute(t *testing.T) {
	t.Parallel()
	for _, route := range api.RoutePatterns() {
		_, tested := matched()[route]
		elsewhere := signsIn(route) || strings.Contains(route, "/invitations/") || strings.Contains(route, "/links/") // they have no PUT: TestPeople_IfMatch
		if (strings.HasPrefix(route, "PUT ") || strings.HasPrefix(route, "DELETE ")) && !tested && !elsewhere {
			t.Errorf("If-Match of %s is not tested", route)
		}
	}
	first := newOwner(t, "pro")
	for route, make := range matched() {
		t.Run(route, func(t *testing.T) {
			t.Parallel()
			owner := first.in(t).account("pro")
			method, _, _ := strings.Cut(route, " ")
			path, body := make(owner), ""
			if method == http.MethodPut {
				body = replacing(path, unique("Name"))
			}
			stale := owner.get(path).want(200).header.Get("Etag")
			owner.put(path, replacing(path, unique("Name"))).want(200)
			before := owner.get(path).want(200)
			current := before.header.Get("Etag")
			for _, header := range []string{stale, `"other"`, stale + `, "other"`, "nonsense", `""`, "W/" + current, strings.Trim(current, `"`)} {
				owner.send(method, path, body, with("If-Match", header)).refused(412, problem{code: "version_mismatch"})
			}
			if after := owner.get(path).want(200); string(after.body) != string(before.body) {
				t.Errorf("a refused write left something: %s", after.body)
			}
			fine := []string{current, stale + ", " + current, "*", ""}
			for _, header := range fine {
				if method == http.MethodPut {
					current = owner.send(method, path, body, with("If-Match", strings.ReplaceAll(header, fine[0], current))).want(200).header.Get("Etag")
					continue
				}
				path := make(owner)
				current := owner.get(path).want(200).header.Get("Etag")
				owner.send(method, path, body, with("If-Match", strings.ReplaceAll(header, fine[0], current))).want(204)
				owner.send(method, path, body, with("If-Match", "*")).refused(404, problem{code: "not_found"})
			}
		})
	}
}

// TestIfMatch_RacingWriters: of several writers with one ETag, only one succeeds.
func TestIfMatch_RacingWriters(t *testing.T) {
	t.Parallel()
	onBoth(t, "pro", func(t *testing.T, owner client) {
		path := anEnvironment(owner)
		tag := owner.get(path).want(200).header.Get("Etag")
		results := make(chan int)
		const writers = 8
		for i := range writers {
			go func() {
				results <- owner.put(path, envelope("", "", attributes{"name": "N" + strconv.Itoa(i)}), with("If-Match", tag)).status
			}()
		}
		var statuses []int
		for range writers {
			statuses = append(statuses, <-results)
		}
		slices.Sort(statuses)
		if statuses[0] != 200 || statuses[1] != 412 || statuses[writers-1] != 412 {
			t.Errorf("got %v, want one 200", statuses)
		}
	})
}

func TestResponses_Compression(t *testing.T) {
	t.Parallel()
	owner := newOwner(t, "pro")
	for range 12 {
		owner.makeEnvironment(unique("environment"))
	}
	plain := owner.get(environmentsPath, with("Accept-Encoding", "identity")).want(200)
	if len(plain.body) < 2048 {
		t.Fatalf("the list has only %d bytes", len(plain.body))
	}
	for accept, compressed := range map[string]bool{
		"gzip": true, "gzip, deflate, br": true, "br;q=1.0, gzip;q=0.8": true, "deflate": false, "gzip;q=0": false, "gzip; q=0": false, "": false, "gzip;q=0.0": false, "gzip; q=0.000": false, "GZIP;Q=0.": false,
		"*": true, "*;q=0": false, "gzip;q=0, *": false, "*;q=0, gzip": true, "gzip;q=none": false, "identity": false,
	} {
		t.Run(fmt.Sprintf("%q", accept), func(t *testing.T) {
			owner := owner.in(t)
			got := rawGet(t, owner, environmentsPath, accept)
			text := readAll(t, got)
			if (got.Header.Get("Content-Encoding") == "gzip") != compressed || got.Header.Get("Vary") != "Accept-Encoding" {
				t.Errorf("Accept-Encoding %q: got Content-Encoding %q, Vary %q", accept, got.Header.Get("Content-Encoding"), got.Header.Get("Vary"))
			}
			if got.Header.Get("Content-Length") != strconv.Itoa(len(text)) {
				t.Errorf("Accept-Encoding %q: Content-Length %s for %d bytes", accept, got.Header.Get("Content-Length"), len(text))
			}
			if compressed {
				text = decompress(t, text)
			}
			if !bytes.Equal(text, plain.body) {
				t.Errorf("Accept-Encoding %q: got another document", accept)
			}
		})
	}
	for _, path := range []string{environmentsPath + "/staging", environmentsPath + "/nowhere", "/api/liveness"} {
		t.Run(path, func(t *testing.T) {
			got := rawGet(t, owner.in(t), path, "gzip")
			if text := readAll(t, got); got.Header.Get("Content-Encoding") != "" || len(text) > 2048 || text[0] != '{' {
				t.Errorf("%s is small and was compressed", path)
			}
		})
	}
}

// TestETag_Encodings: a strong tag is of certain bytes, so the compressed and the
// plain body have one each; conditions take either.
func TestETag_Encodings(t *testing.T) {
	t.Parallel()
	owner := newOwner(t, "pro")
	path := owner.makeConfig("large", attributes{"items": attributes{"text": item(strings.Repeat("large ", 1000))}})
	tags := map[string]string{}
	for _, encoding := range []string{"identity", "gzip"} {
		got := rawGet(t, owner, path, encoding)
		readAll(t, got)
		tags[encoding] = got.Header.Get("Etag")
	}
	plain, zipped := tags["identity"], tags["gzip"]
	if plain == "" || strings.TrimSuffix(zipped, `-gzip"`) != strings.TrimSuffix(plain, `"`) {
		t.Fatalf("the tags are %s and %s", plain, zipped)
	}
	for _, accept := range []string{"identity", "gzip"} {
		t.Run(accept, func(t *testing.T) {
			owner := owner.in(t)
			for listed, want := range map[string]string{plain: plain, zipped: zipped, "W/" + zipped: zipped, plain + ", " + zipped: tags[accept], "*": tags[accept]} {
				got := owner.get(path, with("Accept-Encoding", accept), with("If-None-Match", listed)).want(304)
				if got.header.Get("Etag") != want || got.header.Get("Vary") != "Accept-Encoding" {
					t.Errorf("%s for %s: got %v, want the tag %s", listed, accept, got.header, want)
				}
			}
		})
	}
	owner.get(path, with("Accept-Encoding", "identity"), with("If-None-Match", `"other-gzip"`)).want(200)
	body := replacing(path, "Renamed")
	owner.put(path, body, with("If-Match", "W/"+zipped)).refused(412, problem{code: "version_mismatch"})
	owner.put(path, body, with("If-Match", `"other-gzip"`)).refused(412, problem{code: "version_mismatch"})
	owner.put(path, body, with("If-Match", zipped)).want(200)
	owner.put(path, body, with("If-Match", zipped)).refused(412, problem{code: "version_mismatch"})
	owner.put(path, body, with("If-Match", plain)).refused(412, problem{code: "version_mismatch"})
}

// rawGet asks without the transport's own compression.
func rawGet(t *testing.T, c client, path, acceptEncoding string) *http.Response {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, c.node.URL+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+c.key)
	request.Header.Set("Accept-Encoding", acceptEncoding)
	response, err := c.http.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	return response
}

func decompress(t *testing.T, text []byte) []byte {
	t.Helper()
	reader, err := gzip.NewReader(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	plain, err := io.ReadAll(reader)
	if err != nil {
		t.Fatal(err)
	}
	return plain
}
