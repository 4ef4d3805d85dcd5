package api_test

import (
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

func TestPaths_Unknown(t *testing.T) {
	t.Parallel()
	owner := newOwner(t, "pro")
	for _, path := range []string{
		"/api", "/api/", "/api/v1", "/api/v1/", "/api/v2/environments", "/favicon.ico", "/metrics/", "/api/liveness/",
		"//api/v1/environments", "/api//v1/environments", "/api/v1//environments", "/api/v1/environments//staging",
		"/./api/v1/environments", "/api/v1/./environments", "/api/v1/services/../environments", "/../api/v1/environments",
		"/api/v1/environments/", "/api/v1/environments/staging/", "/api/v1/environments/staging/.", "/api/v1/environments/staging/usage/",
		"/API/v1/environments", "/api/v1/Environments", "/api%2Fv1/environments", "/api/v1/environments%2Fstaging",
		"/api/v1/environments/a/b", "/api/v1/api_keys/x/actions/forget", "/api/v1/accounts/other", "/api/v1/accounts/current/",
	} {
		t.Run(path, func(t *testing.T) {
			owner := owner.in(t)
			for _, method := range []string{http.MethodGet, http.MethodPut, http.MethodDelete, http.MethodOptions} {
				got := owner.send(method, path, "")
				got.refused(404, problem{code: "not_found"})
				if got.header.Get("Location") != "" {
					t.Errorf("%s %s leads to %s", method, path, got.header.Get("Location"))
				}
			}
			owner.as("").get(path).refused(404, problem{code: "not_found"})
		})
	}
}

// TestPaths_MethodNotAllowed takes the paths and methods from
// the interface description.
func TestPaths_MethodNotAllowed(t *testing.T) {
	t.Parallel()
	methods := []string{"GET", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "PROPFIND", "get"}
	owner := newOwner(t, "pro")
	for template := range contract().Paths.Map() {
		t.Run(template, func(t *testing.T) {
			owner := owner.in(t)
			path := strings.NewReplacer("{id}", "x", "{key}", "x", "{seq}", "1").Replace(template)
			var has []string
			for _, method := range methods {
				if route, _ := operation(method, &url.URL{Path: path}); route != nil && method != "get" {
					has = append(has, method)
				}
			}
			for _, method := range methods {
				if slices.Contains(has, method) {
					continue
				}
				for _, key := range []string{owner.key, ""}[:1+len(method)%2] { // the caller makes no difference
					got := owner.as(key).send(method, path, "")
					if strings.HasPrefix(path, "/ofrep/") {
						got.want(405) // see TestOFREP_NoRoute
					} else {
						got.refused(405, problem{code: "method_not_allowed"})
					}
					if allow := got.header.Get("Allow"); allow != strings.Join(has, ", ") {
						t.Errorf("%s %s: Allow is %q, want %q", method, path, allow, strings.Join(has, ", "))
					}
				}
			}
		})
	}
}

func TestPaths_Head(t *testing.T) {
	t.Parallel()
	owner := newOwner(t, "pro")
	for _, path := range []string{environmentsPath, environmentsPath + "/staging", environmentsPath + "/nowhere", "/api/liveness", "/metrics"} {
		t.Run(path, func(t *testing.T) {
			owner := owner.in(t)
			get, head := owner.get(path), owner.send(http.MethodHead, path, "")
			if head.status != get.status || len(head.body) != 0 {
				t.Errorf("HEAD %s: got %d and %d bytes, want %d and none", path, head.status, len(head.body), get.status)
			}
			for _, name := range []string{"Content-Type", "Etag"} {
				if head.header.Get(name) != get.header.Get(name) {
					t.Errorf("HEAD %s: %s is %q, of GET %q", path, name, head.header.Get(name), get.header.Get(name))
				}
			}
		})
	}
}

// encodeAll returns an id as the strictest clients send it, with every character encoded.
func encodeAll(id string) string {
	var text strings.Builder
	for i := range len(id) {
		fmt.Fprintf(&text, "%%%02X", id[i])
	}
	return text.String()
}

func TestIDs_AnyEncoding(t *testing.T) {
	t.Parallel()
	owner := newOwner(t, "pro")
	for _, id := range []string{
		"plain", "user:alice", "a/b", "a/../b", "//", "...", "100%", "%2F", "%00", "a b", "a+b", "a?b#c", "a&b=c", "ä-ö-ü", "日本", "🚀",
		`"quoted"`, `back\slash`, "[brackets]", "semi;colon", "comma,dot.", "UPPER", "upper", "~", "*", "'", "<script>",
	} {
		t.Run(id, func(t *testing.T) {
			t.Parallel()
			owner := owner.in(t)
			owner.post(servicesPath, envelope("service", id, attributes{})).want(201)
			for _, encoded := range []string{encodeAll(id), strings.ToLower(encodeAll(id))} {
				got := owner.get(servicesPath + "/" + encoded).want(200)
				if got.data().ID != id || got.text("name") != id {
					t.Errorf("asked for %q, got %s", id, got.body)
				}
			}
			owner.put(servicesPath+"/"+encodeAll(id), envelope("service", id, attributes{"name": "N"})).want(200)
			owner.put(servicesPath+"/"+encodeAll(id), envelope("service", id+"x", attributes{"name": "N"})).refused(400, invalid("/data/id"))
			owner.delete(servicesPath + "/" + encodeAll(id)).want(204)
			owner.get(servicesPath+"/"+encodeAll(id)).refused(404, problem{code: "not_found"})
		})
	}
}

// TestIDs_UnnameableInPath: an id that no path can name is refused, because its resource
// could not be read, changed or deleted.
func TestIDs_UnnameableInPath(t *testing.T) {
	t.Parallel()
	owner := newOwner(t, "pro")
	for _, id := range []string{"/", ".", ".."} {
		t.Run(id, func(t *testing.T) {
			owner := owner.in(t)
			owner.post(servicesPath, envelope("service", id, attributes{}), offContract).refused(400, invalid("/data/id"))
			owner.post(groupsPath, envelope("log_group", id, attributes{}), offContract).refused(400, invalid("/data/id"))
			for _, got := range []outcome{
				owner.report(attributes{"type": "service", "key": id}, attributes{"type": id, "key": "a"}, attributes{"type": "user", "key": id}).outcome(),
				owner.observe(attributes{"id": id}, attributes{"id": id + "/"}, attributes{"id": "a" + id}).outcome(),
			} {
				rejected := got.rejected()
				if len(rejected) == 0 || rejected[0] != 0 || !strings.Contains(got.Meta.Rejected[0].Detail, "which no path can name") {
					t.Errorf("got %+v", got)
				}
			}
			owner.get(contextsPath + "/" + encodeAll("user:"+id)).want(200)
		})
	}
	owner.put(loggersPath+"/%2E", envelope("logger", "", attributes{}), offContract).refused(400, invalid("/data/id"))
	owner.put(loggersPath+"/%3A%2E", envelope("logger", "", attributes{}), offContract).refused(400, invalid("/data/id"))
	owner.put(loggersPath+"/%2F", envelope("logger", "", attributes{}), offContract).refused(404, problem{code: "not_found"})
	for _, key := range append(owner.get(loggersPath).want(200).ids(), owner.get(typesPath).want(200).ids()...) {
		if key == "." || key == ".." || key == "/" {
			t.Errorf("%q was made", key)
		}
	}
}

func TestIDs_OfContexts(t *testing.T) {
	t.Parallel()
	owner := newOwner(t, "pro")
	for _, c := range []struct{ kind, key string }{{"user", "alice"}, {"user", "a:b:c"}, {"user", ":"}, {"a/b", "c/d"}, {"tenant", "ä%20"}} {
		t.Run(c.kind+" "+c.key, func(t *testing.T) {
			owner := owner.in(t)
			owner.discover(c.kind, c.key)
			id := c.kind + ":" + c.key
			for _, encoded := range []string{encodeAll(id), url.PathEscape(id)} {
				got := owner.get(contextsPath + "/" + encoded).want(200)
				if got.data().ID != id || got.text("context_type") != c.kind || got.text("key") != c.key {
					t.Errorf("asked for %q, got %s", id, got.body)
				}
			}
		})
	}
	for _, id := range []string{"user", ":alice", "user:", "alice:user", "USER:alice"} {
		t.Run(id, func(t *testing.T) {
			owner.in(t).get(contextsPath+"/"+encodeAll(id)).refused(404, problem{code: "not_found"})
		})
	}
}

func TestIDs_ImpossibleAreNotFound(t *testing.T) {
	t.Parallel()
	ids := []string{"%00", "a%00b", "%ff", "%c3%28", "user%3A%00", "user%3A%ff", "%ED%A0%80", "nowhere", "00000000-0000-0000-0000-000000000000", "%0A", strings.Repeat("x", 5000)}
	onBoth(t, "pro", func(_ *testing.T, owner client) {
		for template, item := range contract().Paths.Map() {
			if !strings.Contains(template, "{") || strings.HasPrefix(template, "/ofrep/") { // see TestOFREP_UnknownFlag
				continue
			}
			if strings.HasSuffix(template, "/{environment}") {
				continue // which serves names that are no environment yet
			}
			if strings.HasPrefix(template, "/levels/") {
				continue // where a token that is not known is a 401
			}
			for method := range item.Operations() {
				for _, id := range ids {
					if method == http.MethodPut && template == loggersPath+"/{id}" {
						continue // creates the resource
					}
					body := ""
					if method == http.MethodPut {
						body = replacing(template, "N")
					}
					if strings.HasSuffix(template, "/evaluate") {
						body = `{"environment":"production"}`
					}
					if template == webhooksPath+"/{id}/actions/redeliver" {
						body = lastYear
					}
					path := strings.NewReplacer("{id}", id, "{seq}", id).Replace(template)
					owner.send(method, path, body).refused(404, problem{code: "not_found"})
				}
			}
		}
		for _, id := range ids[:7] { // values that are not texts
			owner.put(loggersPath+"/"+id, envelope("", "", attributes{})).refused(404, problem{code: "not_found"})
		}
		for _, seq := range []string{"0", "-1", "+1", "01", "1.0", "1e0", "0x1", "９", "9223372036854775808", "18446744073709551617"} {
			t.Run(seq, func(t *testing.T) {
				owner.in(t).get(changesPath+"/"+url.PathEscape(seq)).refused(404, problem{code: "not_found"})
			})
		}
	})
}

func TestPaths_HostIsIgnored(t *testing.T) {
	t.Parallel()
	owner := newOwner(t, "pro")
	for _, host := range []string{"flags.localhost:8080", "app.example.com", "localhost"} {
		t.Run(host, func(t *testing.T) {
			owner := owner.in(t)
			request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, owner.node.URL+environmentsPath, nil)
			if err != nil {
				t.Fatal(err)
			}
			request.Host = host
			request.Header.Set("Authorization", "Bearer "+owner.key)
			response, err := owner.http.Do(request)
			if err != nil {
				t.Fatal(err)
			}
			response.Body.Close()
			if response.StatusCode != http.StatusOK {
				t.Errorf("for the host %s: got %d, want 200", host, response.StatusCode)
			}
		})
	}
}

// TestIDs_UUIDsInAnyCase sends each request of the access table whose path has UUIDs with those in upper case.
func TestIDs_UUIDsInAnyCase(t *testing.T) {
	t.Parallel()
	owner, ids := newOwner(t, "pro"), regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`)
	for _, row := range accessTable() {
		path, body := row.target(owner)
		upper := ids.ReplaceAllStringFunc(path, strings.ToUpper)
		if upper == path {
			continue
		}
		t.Run(row.route, func(t *testing.T) {
			method, _, _ := strings.Cut(row.route, " ")
			want, _ := strconv.Atoi(strings.Fields(row.want)[slices.Index(credentials, "OWNER")])
			got := owner.in(t).send(method, upper, body).want(want)
			if id := ids.FindString(path); method == http.MethodGet && strings.HasSuffix(path, id) && got.data().ID != id {
				t.Errorf("got %s", got.body)
			}
		})
	}
	path := aWebhook(owner)
	id := strings.ToUpper(strings.TrimPrefix(path, webhooksPath+"/"))
	owner.put(webhooksPath+"/"+id, envelope("webhook", id, hook(nil))).want(200)
	owner.put(path, envelope("webhook", id, hook(nil))).want(200)

	chosen := "01928C3E-7B1A-7C55-B2A4-9A3A4F6D2F10"
	owner.put(owner.makeJob(chosen, nil), envelope("job", chosen, job(nil))).want(200)
	owner.get(jobsPath+"/"+strings.ToLower(chosen)).refused(404, problem{code: "not_found"})
}
