package api_test

import (
	"database/sql"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/signalbox/signalbox/internal/api"
	"github.com/signalbox/signalbox/internal/app/apptest"
	"github.com/signalbox/signalbox/internal/store/storetest"
)

// writes returns the routes of the interface that write, with the requests of the
// access table.
func writes() []access {
	return slices.DeleteFunc(accessTable(), func(row access) bool {
		method, path, _ := strings.Cut(row.route, " ")
		return method == http.MethodGet || !strings.HasPrefix(path, "/api/v1/")
	})
}

// hasDryRun reports whether a route has dry runs, as the interface says.
func hasDryRun(route string) bool {
	return route == "DELETE /api/v1/sessions/{id}" || !strings.HasSuffix(route, "/bulk") && !signsIn(route) && (!strings.Contains(route, "/actions/") || strings.HasSuffix(route, "/actions/revert"))
}

// eachDryRun sends a request to every route that has dry runs, on both databases. send must leave
// the database unchanged; it returns the next step of the test.
func eachDryRun(t *testing.T, send func(t *testing.T, owner client, method, path, body string) (next func())) {
	t.Helper()
	storetest.Each(t, func(t *testing.T, database storetest.Database) {
		owner := speakTo(t, apptest.Still(t, database)).account("pro")
		raw := database.Raw(t)
		for _, row := range writes() {
			if !hasDryRun(row.route) {
				continue
			}
			t.Run(row.route, func(t *testing.T) {
				owner := owner.in(t)
				method, _, _ := strings.Cut(row.route, " ")
				path, body := row.target(owner)
				before := dump(t, database.Kind, raw)
				next := send(t, owner, method, path, body)
				if difference := cmp.Diff(before, dump(t, database.Kind, raw)); difference != "" {
					t.Errorf("something was written (-before +after):\n%s", difference)
				}
				next()
			})
		}
	})
}

// TestDryRun_EveryRoute: a dry run answers as the write itself does and leaves
// the database as it was.
func TestDryRun_EveryRoute(t *testing.T) {
	t.Parallel()
	eachDryRun(t, func(t *testing.T, owner client, method, path, body string) func() {
		t.Helper()
		dryRun := owner.send(method, path+"?dry_run=true", body)
		return func() {
			performed := owner.send(method, path, body)
			if dryRun.status != performed.status || performed.status >= 300 {
				t.Errorf("the dry run is a %d, the write a %d: %s", dryRun.status, performed.status, performed.body)
			}
			if number := dryRun.header.Get("Signalbox-Change"); number != "" {
				t.Errorf("the dry run names the change %s", number)
			}
			requireNamedChange(t, owner, method, performed)
			if method == http.MethodDelete {
				return
			}
			if !dryRun.contains(`"meta":{"dry_run":true,"summary":[`) || performed.contains("dry_run") {
				t.Errorf("got %s, then %s", dryRun.body, performed.body)
			}
			answered := regexp.MustCompile(`,"meta":\{"dry_run":true,"summary":\[.*\]\}`).ReplaceAllString(string(dryRun.body), "")
			if difference := cmp.Diff(timeless(string(performed.body)), timeless(answered)); difference != "" {
				t.Errorf("the dry run answers something else (-write +dry run):\n%s", difference)
			}
		}
	})
}

// requireNamedChange checks that the answer to a write names the write's own change: the one that Undo reverts.
func requireNamedChange(t *testing.T, owner client, method string, performed answer) {
	t.Helper()
	number := performed.header.Get("Signalbox-Change")
	change := owner.get(changesPath + "/" + number).want(200).data()
	if method == http.MethodDelete {
		if change.Attributes["action"] != "deleted" {
			t.Errorf("the deletion is the change %s: %v", number, change.Attributes)
		}
		return
	}
	written := performed.data()
	if written.Type != "change" && change.Attributes["kind"] != written.Type || written.Type == "change" && written.ID != number {
		t.Errorf("the write of the %s %s is the change %s: %v", written.Type, written.ID, number, change.Attributes)
	}
}

// timeless returns a body without what differs between two writes of the same.
func timeless(body string) string {
	return regexp.MustCompile(`"\d{4}-\d\d-\d\dT[^"]*"|"[0-9a-f]{8}-[0-9a-f-]{27}"|"sk_api_[^"]*"|"whsec_[^"]*"|"http[^"]*token=[^"]*"`).ReplaceAllString(body, `"…"`)
}

// dump returns every row of every table.
func dump(t *testing.T, kind string, db *sql.DB) (found []string) {
	t.Helper()
	tables, row := `SELECT name FROM sqlite_master WHERE type = 'table'`, "*"
	if kind == "postgres" {
		tables, row = `SELECT tablename FROM pg_tables WHERE schemaname = 'public'`, "t::text"
	}
	var queries []string
	for _, table := range rows(t, db, tables) {
		queries = append(queries, fmt.Sprintf(`SELECT '%s', %s FROM "%[1]s" AS t`, strings.Trim(table, "[]"), row))
	}
	if kind == "postgres" { // one after the other, they would take most of the test's time
		queries = []string{strings.Join(queries, " UNION ALL ")}
	}
	for _, query := range queries {
		found = append(found, rows(t, db, query)...)
	}
	slices.Sort(found)
	return found
}

// rows returns the rows of a query, each as one text.
func rows(t *testing.T, db *sql.DB, query string) []string {
	t.Helper()
	found, err := db.QueryContext(t.Context(), query)
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	defer found.Close()
	columns, err := found.Columns()
	if err != nil {
		t.Fatal(err)
	}
	var texts []string
	for found.Next() {
		values, places := make([]any, len(columns)), make([]any, len(columns))
		for i := range values {
			places[i] = &values[i]
		}
		if err := found.Scan(places...); err != nil {
			t.Fatal(err)
		}
		texts = append(texts, fmt.Sprint(values))
	}
	if err := found.Err(); err != nil {
		t.Fatal(err)
	}
	return texts
}

// TestDryRun_OtherRoutes checks that routes whose effects cannot be rolled back refuse a dry run and do nothing.
func TestDryRun_OtherRoutes(t *testing.T) {
	t.Parallel()
	owner := newOwner(t, "pro")
	before := owner.latest().ID
	count := 0
	for _, route := range api.RoutePatterns() {
		method, path, _ := strings.Cut(route, " ")
		if method != http.MethodPost || !strings.HasPrefix(path, "/api/v1/") || hasDryRun(route) {
			continue
		}
		count++
		path = regexp.MustCompile(`\{\w+\}`).ReplaceAllString(path, "x")
		owner.send(method, path+"?dry_run=true", "{}").refused(400, wrongParameter("dry_run"))
	}
	if count < 8 || owner.latest().ID != before {
		t.Errorf("%d routes were asked, and the last change is %s after %s", count, owner.latest().ID, before)
	}
}

func TestDryRun_Values(t *testing.T) {
	t.Parallel()
	owner := newOwner(t, "pro")
	flag := envelope("flag", "tried", boolean(false, nil))
	for _, value := range []string{"", "1", "yes", "nope"} {
		t.Run(fmt.Sprintf("%q", value), func(t *testing.T) {
			owner.in(t).post(flagsPath+"?dry_run="+value, flag).refused(400, wrongParameter("dry_run"))
		})
	}
	owner.post(flagsPath+"?dry_run=true", flag).want(201)
	owner.get(flagsPath + "/tried").want(404)
	owner.post(flagsPath+"?dry_run=false", flag).want(201)
	owner.post(flagsPath+"?dry_run=true", flag).refused(409, problem{code: "already_exists", source: "pointer /data/id"})
	owner.get(flagsPath+"/tried?dry_run=true", offContract).want(200)
}

// TestDryRun_Limits: a dry run refuses what the plan does not allow, and uses nothing of the plan.
func TestDryRun_Limits(t *testing.T) {
	t.Parallel()
	owner := newOwner(t, "free")
	for i := range 5 {
		id := fmt.Sprint("group-", i)
		status := 201
		if i >= 3 {
			status = 402
		}
		for range 2 {
			owner.post(groupsPath+"?dry_run=true", envelope("", id, attributes{})).want(status)
		}
		owner.post(groupsPath, envelope("", id, attributes{})).want(status)
	}
}

// TestDryRun_WakesNobody: a dry run does not notify other parts of the process, as a write does.
func TestDryRun_WakesNobody(t *testing.T) {
	t.Parallel()
	owner := newOwner(t, "pro")
	owner.post(jobsPath+"?dry_run=true", envelope("job", "soon", job(attributes{"schedule": "now"}))).want(201)
	path := owner.makeFlag("served", nil)
	evaluated := func() any {
		return owner.post(path+"/actions/evaluate", `{"environment":"production"}`).want(200).attribute("value")
	}
	if evaluated() != false {
		t.Fatal("the flag does not serve its default")
	}
	owner.put(path+"?dry_run=true", envelope("", "", boolean(true, nil))).want(200)
	if evaluated() != false {
		t.Error("a dry run changed what the flag serves")
	}
	owner.delete(path + "?dry_run=true").want(204)
	evaluated()
	if runs := owner.get(runsPath).want(200).ids(); len(runs) != 0 {
		t.Errorf("a dry run made the runs %v", runs)
	}
	made := owner.post(keysPath+"?dry_run=true", envelope("", "", attributes{"name": "never"})).want(201)
	owner.as(made.text("key")).get(accountPath).want(401)
}

// TestDryRun_SentTwice: a request that says both is refused, and nothing is written.
func TestDryRun_SentTwice(t *testing.T) {
	t.Parallel()
	eachDryRun(t, func(t *testing.T, owner client, method, path, body string) func() {
		t.Helper()
		got := owner.send(method, path+"?dry_run=false&dry_run=true", body, offContract)
		got.refused(400, wrongParameter("dry_run"))
		if !got.contains("dry_run must be sent once; this request has it 2 times.") {
			t.Errorf("got %s", got.body)
		}
		return func() {}
	})
}
