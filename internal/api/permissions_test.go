package api_test

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/internal/accounts"
	"github.com/signalbox/signalbox/internal/api"
)

const (
	permissionsPage = "../../docs/permissions.md"
	// updateVariable makes the test write the table into the page.
	updateVariable = "SIGNALBOX_TEST_UPDATE"
	tableBegins    = "<!-- The table begins: make it with SIGNALBOX_TEST_UPDATE=1 go test -run Permissions ./internal/api -->\n"
	tableEnds      = "<!-- The table ends. -->\n"
)

// action is a row of the page: a description, and its requests.
type action struct {
	words    string
	patterns []string
}

// subject is a group of rows of the page.
type subject struct {
	title   string
	actions []action
}

// subjects returns every route with the words of the page.
func subjects() []subject {
	return []subject{
		{"Flags", []action{
			{"See flags, and which services use them", under("/api/v1/flags", "GET", "GET /{id}", "GET /{id}/sources", "GET ../flag_sources")},
			{"See the value for a context, and why", []string{"POST /api/v1/flags/{id}/actions/evaluate", "POST /api/v1/flags/actions/evaluate"}},
			{"Create and delete flags", under("/api/v1/flags", "POST", "DELETE /{id}")},
			{"Change a flag", []string{"PUT /api/v1/flags/{id}"}},
			{"Evaluate flags over OFREP", append(under("/ofrep/v1/evaluate/flags", "POST", "POST /{key}"), "GET /ofrep/v1/events")},
			{"Load flags with a provider of flagd", []string{"GET /flagd/v1/flags/{environment}"}},
			{"Report flags that a service declares", []string{"POST /api/v1/flags/bulk"}},
		}},
		{"Log levels", []action{
			{"See loggers, levels and groups", slices.Concat(under("/api/v1/loggers", "GET", "GET /{id}", "GET /{id}/sources", "GET ../logger_sources"),
				under("/api/v1/log_groups", "GET", "GET /{id}"))},
			{"Set the level of a logger or group", []string{"PUT /api/v1/loggers/{id}", "PUT /api/v1/log_groups/{id}"}},
			{"Delete loggers; create and delete groups", []string{"DELETE /api/v1/loggers/{id}", "POST /api/v1/log_groups", "DELETE /api/v1/log_groups/{id}"}},
			{"Report loggers of a service", []string{"POST /api/v1/loggers/bulk"}},
			{"Read levels as a file", under("/levels/{token}/{environment}", "GET /logback.properties", "GET /log4j2.xml", "GET /log4j2.json", "GET /levels.json", "GET /python.json")},
		}},
		{"Configs", []action{
			{"See configs, and the values of an environment", under("/api/v1/configs", "GET", "GET /{id}", "GET /{id}/resolved")},
			{"Create and delete configs", under("/api/v1/configs", "POST", "DELETE /{id}")},
			{"Change a config", []string{"PUT /api/v1/configs/{id}"}},
		}},
		{"Jobs", []action{
			{"See jobs, schedules, runs and their outcomes", slices.Concat(under("/api/v1/jobs", "GET", "GET /{id}", "GET /{id}/stats"),
				under("/api/v1/runs", "GET", "GET /{id}", "GET /stats"), []string{"GET /api/v1/schedules/preview"})},
			{"Create, change and delete jobs", under("/api/v1/jobs", "POST", "PUT /{id}", "DELETE /{id}")},
			{"Run a job now; cancel or repeat a run", []string{"POST /api/v1/jobs/{id}/actions/run", "POST /api/v1/runs/{id}/actions/cancel", "POST /api/v1/runs/{id}/actions/rerun"}},
		}},
		{"Environments", []action{
			{"See environments, and which values they have", under("/api/v1/environments", "GET", "GET /{id}", "GET /{id}/usage")},
			{"Create, change, freeze and delete environments", under("/api/v1/environments", "POST", "PUT /{id}", "DELETE /{id}")},
		}},
		{"Services and contexts", []action{
			{"Load a snapshot, follow the event socket", []string{"GET /api/v1/snapshots/{environment}", "GET /api/ws/v1/events"}},
			{"See services, contexts, connections and reported metrics", slices.Concat(under("/api/v1/services", "GET", "GET /{id}"), under("/api/v1/context_types", "GET", "GET /{id}"),
				under("/api/v1/contexts", "GET", "GET /{id}"), []string{"GET /api/v1/connections", "GET /api/v1/metrics"})},
			{"Create, rename and delete services and context types", slices.Concat(under("/api/v1/services", "POST", "PUT /{id}", "DELETE /{id}"),
				under("/api/v1/context_types", "POST", "PUT /{id}", "DELETE /{id}"))},
			{"Rename and delete contexts", under("/api/v1/contexts", "PUT /{id}", "DELETE /{id}")},
			{"Report contexts and metrics", []string{"POST /api/v1/contexts/bulk", "POST /api/v1/metrics/bulk"}},
		}},
		{"History", []action{
			{"See every change", under("/api/v1/changes", "GET", "GET /{seq}")},
			{"Revert a change (if the write that undoes it is allowed)", []string{"POST /api/v1/changes/{seq}/actions/revert"}},
		}},
		{"Keys", []action{
			{"See keys, without their secrets", under("/api/v1/api_keys", "GET", "GET /{id}")},
			{"Create, change, revoke and delete keys with a role up to your own", under("/api/v1/api_keys", "POST", "PUT /{id}", "DELETE /{id}", "POST /{id}/actions/revoke")},
		}},
		{"People", []action{
			{"See people, invitations and links", []string{"GET /api/v1/users", "GET /api/v1/users/{id}", "GET /api/v1/invitations", "GET /api/v1/invitations/{id}", "GET /api/v1/links", "GET /api/v1/links/{id}"}},
			{"Invite, change and remove people with a role up to your own, reset their passwords", []string{"POST /api/v1/invitations", "DELETE /api/v1/invitations/{id}", "PUT /api/v1/users/{id}",
				"DELETE /api/v1/users/{id}", "POST /api/v1/users/{id}/actions/reset_password", "DELETE /api/v1/links/{id}"}},
			{"See and end your own sessions (those of others: ADMIN)", []string{"GET /api/v1/sessions", "DELETE /api/v1/sessions/{id}"}},
			{"See your own user and settings", []string{"GET /api/v1/users/current", "GET /api/v1/users/current/settings"}},
			{"Change your own settings", []string{"PUT /api/v1/users/current/settings"}},
			{"Change your own password", []string{"PUT /api/v1/users/current/password"}},
			{"Sign out; get a code for a terminal", []string{"GET /api/v1/sessions/current", "DELETE /api/v1/sessions/current", "POST /api/v1/sessions/current/codes"}},
		}},
		{"Webhooks", []action{
			{"See webhooks and their deliveries", under("/api/v1/webhooks", "GET", "GET /{id}", "GET /{id}/deliveries")},
			{"Create, change, test and delete webhooks; send again", under("/api/v1/webhooks", "POST", "PUT /{id}", "DELETE /{id}", "POST /{id}/actions/test",
				"POST /{id}/actions/rotate_secret", "POST /{id}/actions/redeliver", "POST /{id}/deliveries/{delivery}/actions/redeliver")},
		}},
		{"The account", []action{
			{"See the account, its settings and its usage", []string{"GET /api/v1/accounts/current", "GET /api/v1/accounts/current/settings", "GET /api/v1/usage"}},
			{"Rename the account, change its settings", []string{"PUT /api/v1/accounts/current", "PUT /api/v1/accounts/current/settings"}},
		}},
		{"Without a key or session", []action{
			{"Probes and the server's metrics", []string{"GET /api/liveness", "GET /api/readiness", "GET /api/serving", "GET /metrics"}},
			{"The description of the interface", []string{"GET /api/openapi.json"}},
			{"Sign in, or use a link", []string{"POST /api/v1/sessions", "POST /api/v1/links/redeem", "GET /auth/methods", "GET /auth/oidc/start", "GET /auth/oidc/callback"}},
			{"Preflights of browsers", []string{"OPTIONS /ofrep/v1/evaluate/flags", "OPTIONS /ofrep/v1/evaluate/flags/{key}", "OPTIONS /ofrep/v1/events"}},
		}},
	}
}

// under returns the patterns of methods below a path. A tail ../x replaces the last part of the path.
func under(path string, requests ...string) (patterns []string) {
	for _, request := range requests {
		method, tail, _ := strings.Cut(request, " ")
		at := path + tail
		if sibling, is := strings.CutPrefix(tail, "../"); is {
			at = path[:strings.LastIndex(path, "/")+1] + sibling
		}
		patterns = append(patterns, method+" "+at)
	}
	return patterns
}

// permissionsColumns are the columns after the action.
var permissionsColumns = []string{"VIEWER", "MEMBER", "ADMIN", "OWNER", "key for environments", "key for browsers", "key for levels"}

// TestPermissions_Page compares docs/permissions.md with the route table.
func TestPermissions_Page(t *testing.T) {
	t.Parallel()
	var covered []string
	for _, group := range subjects() {
		for _, row := range group.actions {
			covered = append(covered, row.patterns...)
		}
	}
	requireEveryRouteOnce(t, covered)
	text, err := os.ReadFile(permissionsPage)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, begun := strings.Cut(string(text), tableBegins)
	_, after, ended := strings.Cut(rest, tableEnds)
	if !begun || !ended {
		t.Fatalf("%s lacks the lines around its table:\n%s%s", permissionsPage, tableBegins, tableEnds)
	}
	table := permissionsTable(t)
	if want := before + tableBegins + table + tableEnds + after; want != string(text) {
		if os.Getenv(updateVariable) == "" {
			t.Fatalf("%s must have this table (%s=1 writes it):\n%s", permissionsPage, updateVariable, table)
		}
		if err := os.WriteFile(permissionsPage, []byte(want), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// permissionsTable writes the tables of the page: the roles of each action, and then the requests of
// each action.
func permissionsTable(t *testing.T) string {
	t.Helper()
	needs, open, sessions := api.RouteNeeds(), api.OpenRoutes(), sessionRoutes()
	var page, requests strings.Builder
	for _, group := range subjects() {
		if !slices.Contains(open, group.actions[0].patterns[0]) {
			fmt.Fprintf(&page, "\n## %s\n\n| action | %s |\n|---|%s\n", group.title, strings.Join(permissionsColumns, " | "), strings.Repeat("---|", len(permissionsColumns)))
		}
		for _, row := range group.actions {
			found := map[string]bool{}
			for _, pattern := range row.patterns {
				found[strings.Join(permissionsCells(needs[pattern], slices.Contains(open, pattern), slices.Contains(sessions, pattern)), " | ")] = true
			}
			if len(found) != 1 {
				t.Errorf("the requests of %q have different permissions: %v", row.words, slices.Sorted(maps.Keys(found)))
			}
			words := row.words
			if cells := slices.Sorted(maps.Keys(found))[0]; cells != "" {
				fmt.Fprintf(&page, "| %s | %s |\n", words, cells)
			} else {
				words += " (needs no key or session)"
			}
			fmt.Fprintf(&requests, "| %s | `%s` |\n", words, strings.Join(row.patterns, "`, `"))
		}
	}
	return page.String() + "\n## The requests of each action\n\n| action | requests |\n|---|---|\n" + requests.String() + "\n"
}

// permissionsCells returns what each column says about a route; nothing for a route that is open to everybody.
func permissionsCells(needs accounts.Needs, open, session bool) []string {
	if open {
		return nil
	}
	if needs.Levels {
		return append(slices.Repeat([]string{word(false, "")}, len(permissionsColumns)-1), "yes")
	}
	yes := "yes"
	if session {
		yes = "session"
	}
	var cells []string
	for _, role := range []accounts.Role{accounts.Viewer, accounts.Member, accounts.Admin, accounts.Owner} {
		cells = append(cells, word(role.Covers(needs.Role), yes))
	}
	scoped := word(needs.Scoped, "yes")
	switch {
	case session:
		scoped = word(false, "")
	case needs.Scoped && needs.Role != accounts.Viewer:
		scoped = "own values"
	}
	return append(cells, scoped, word(needs.Evaluates, "yes"), word(false, ""))
}

func word(may bool, yes string) string {
	if may {
		return yes
	}
	return "–"
}

// sessionRoutes returns the routes that refuse every key, as TestAccess_EveryRouteAndRole shows.
func sessionRoutes() (found []string) {
	for _, row := range accessTable() {
		statuses := strings.Fields(row.want)
		none, owner := statuses[slices.Index(credentials, "none")], statuses[slices.Index(credentials, "OWNER")]
		if none == "401" && (owner == "403" || owner == "404") {
			found = append(found, row.route)
		}
	}
	return found
}
