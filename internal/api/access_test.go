package api_test

import (
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/signalbox/signalbox/internal/accounts"
	"github.com/signalbox/signalbox/internal/api"
)

// target creates the resource of a request, anew for every request, and returns its path and body.
type target func(owner client) (path, body string)

func at(path string) target { return func(client) (string, string) { return path, "" } }

func sending(path, body string) target {
	return func(client) (string, string) { return path, body }
}

// on returns a request about a resource that the owner creates first.
func on(path func(owner client) string, body string) target {
	return func(owner client) (string, string) { return path(owner), body }
}

func anEnvironment(owner client) string { return owner.makeEnvironment(unique("environment")) }

func aKey(owner client) string { return owner.makeKey(nil).path }

func aService(owner client) string {
	id := unique("service")
	owner.post(servicesPath, envelope("service", id, attributes{})).want(201)
	return servicesPath + "/" + id
}

func aContextType(owner client) string {
	id := unique("type")
	owner.discover(id, "key")
	return typesPath + "/" + id
}

func aContext(owner client) string {
	id := unique("context")
	owner.discover("user", id)
	return contextsPath + "/user%3A" + id
}

// aFlag returns a managed BOOLEAN flag whose default is false.
func aFlag(owner client) string { return owner.makeFlag(unique("flag"), nil) }

// aRevert returns the action that deletes a new flag again.
func aRevert(owner client) string {
	path := aFlag(owner)
	return owner.lastOf("flag:"+path[len(flagsPath)+1:]) + "/actions/revert"
}

// aConfig inherits from common and has one item of each type.
func aConfig(owner client) string { return owner.makeConfig(unique("config"), nil) }

func below(path func(owner client) string, more string) func(owner client) string {
	return func(owner client) string { return path(owner) + more }
}

// creating posts a resource with a new id.
func creating(path, kind string) target {
	return func(client) (string, string) {
		id := unique(kind)
		return path, envelope(kind, id, attributes{"name": id})
	}
}

// access is one line of the table: who may do what.
type access struct {
	route  string
	target target
	// want has the status for each credential, in the order of credentials.
	want string
}

// credentials are the columns of the table.
var credentials = []string{"none", "garbage", "VIEWER", "MEMBER", "ADMIN", "OWNER", "revoked", "expired", "scoped ADMIN"}

func accessTable() []access {
	named := envelope("", "", attributes{"name": "Renamed"})
	settings := envelope("", "", attributes{"environment_order": []string{"staging"}})
	//                                                                            none    VIEWER  ADMIN   revoked scoped
	return []access{ //                                                             garbage MEMBER  OWNER   expired
		{"GET /api/liveness", at("/api/liveness"), "                                200 200 200 200 200 200 200 200 200"},
		{"GET /api/readiness", at("/api/readiness"), "                              200 200 200 200 200 200 200 200 200"},
		{"GET /api/serving", at("/api/serving"), "                                  200 200 200 200 200 200 200 200 200"},
		{"GET /api/openapi.json", at("/api/openapi.json"), "                        200 200 200 200 200 200 200 200 200"},
		{"GET /metrics", at("/metrics"), "                                          200 200 200 200 200 200 200 200 200"},

		{"GET /auth/methods", at("/auth/methods"), "                                200 200 200 200 200 200 200 200 200"},
		{"GET /auth/oidc/start", at("/auth/oidc/start"), "                          404 404 404 404 404 404 404 404 404"},
		{"GET /auth/oidc/callback", at("/auth/oidc/callback"), "                    404 404 404 404 404 404 404 404 404"},

		{"GET /api/v1/accounts/current", at(accountPath), "                         401 401 200 200 200 200 401 401 200"},
		{"PUT /api/v1/accounts/current", sending(accountPath, named), "             401 401 403 403 200 200 401 401 403"},
		{"GET /api/v1/accounts/current/settings", at(settingsPath), "               401 401 200 200 200 200 401 401 200"},
		{"PUT /api/v1/accounts/current/settings", sending(settingsPath, settings), "401 401 403 403 200 200 401 401 403"},
		{"GET /api/v1/users/current", at("/api/v1/users/current"), "                401 401 200 200 200 200 401 401 200"},
		{"GET /api/v1/users/current/settings", at(ownSettingsPath), "               401 401 200 200 200 200 401 401 200"},
		{"PUT /api/v1/users/current/settings", sending(ownSettingsPath, settings), "401 401 403 200 200 200 401 401 403"},

		{"PUT /api/v1/users/current/password", sending(passwordPath, `{"current_password":"x","password":"long enough"}`), "401 401 403 403 403 403 401 401 403"},
		{"GET /api/v1/users", at(usersPath), "                                      401 401 403 403 200 200 401 401 403"},
		{"GET /api/v1/users/{id}", on(aUser, ""), "                                 401 401 403 403 200 200 401 401 403"},
		{"PUT /api/v1/users/{id}", on(aUser, named), "                              401 401 403 403 200 200 401 401 403"},
		{"DELETE /api/v1/users/{id}", on(aUser, ""), "                              401 401 403 403 204 204 401 401 403"},
		{"POST /api/v1/users/{id}/actions/reset_password", on(below(aUser, "/actions/reset_password"), ""), "401 401 403 403 200 200 401 401 403"},

		{"GET /api/v1/invitations", at(invitationsPath), "                          401 401 403 403 200 200 401 401 403"},
		{"POST /api/v1/invitations", inviting, "                                    401 401 403 403 201 201 401 401 403"},
		{"GET /api/v1/invitations/{id}", on(anInvitation, ""), "                    401 401 403 403 200 200 401 401 403"},
		{"DELETE /api/v1/invitations/{id}", on(anInvitation, ""), "                 401 401 403 403 204 204 401 401 403"},
		{"GET /api/v1/links", at(linksPath), "                                      401 401 403 403 200 200 401 401 403"},
		{"GET /api/v1/links/{id}", on(aLink, ""), "                                 401 401 403 403 200 200 401 401 403"},
		{"DELETE /api/v1/links/{id}", on(aLink, ""), "                              401 401 403 403 204 204 401 401 403"},
		{"POST /api/v1/links/redeem", redeeming, "                                  201 201 201 201 201 201 201 201 201"},

		{"GET /api/v1/sessions", at(sessionsPath), "                                401 401 200 200 200 200 401 401 200"},
		{"POST /api/v1/sessions", signingIn, "                                      201 201 201 201 201 201 201 201 201"},
		{"GET /api/v1/sessions/current", at(sessionsPath + "/current"), "           401 401 404 404 404 404 401 401 404"},
		{"DELETE /api/v1/sessions/current", at(sessionsPath + "/current"), "        401 401 404 404 404 404 401 401 404"},
		{"POST /api/v1/sessions/current/codes", at(codesPath), "                    401 401 404 404 404 404 401 401 404"},
		{"DELETE /api/v1/sessions/{id}", on(aSession, ""), "                        401 401 404 404 403 204 401 401 404"},

		{"GET /api/v1/api_keys", at(keysPath), "                                    401 401 200 200 200 200 401 401 200"},
		{"POST /api/v1/api_keys", sending(keysPath, named), "                       401 401 403 403 201 201 401 401 403"},
		{"GET /api/v1/api_keys/{id}", on(aKey, ""), "                               401 401 200 200 200 200 401 401 200"},
		{"PUT /api/v1/api_keys/{id}", on(aKey, named), "                            401 401 403 403 200 200 401 401 403"},
		{"DELETE /api/v1/api_keys/{id}", on(aKey, ""), "                            401 401 403 403 204 204 401 401 403"},
		{"POST /api/v1/api_keys/{id}/actions/revoke", on(below(aKey, "/actions/revoke"), ""), "401 401 403 403 200 200 401 401 403"},

		{"GET /api/v1/environments", at(environmentsPath), "                        401 401 200 200 200 200 401 401 200"},
		{"POST /api/v1/environments", creating(environmentsPath, "environment"), "  401 401 403 403 201 201 401 401 403"},
		{"GET /api/v1/environments/{id}", on(anEnvironment, ""), "                  401 401 200 200 200 200 401 401 200"},
		{"PUT /api/v1/environments/{id}", on(anEnvironment, named), "               401 401 403 403 200 200 401 401 403"},
		{"DELETE /api/v1/environments/{id}", on(anEnvironment, ""), "               401 401 403 403 204 204 401 401 403"},
		{"GET /api/v1/environments/{id}/usage", on(below(anEnvironment, "/usage"), ""), "401 401 200 200 200 200 401 401 200"},

		{"GET /api/v1/services", at(servicesPath), "                                401 401 200 200 200 200 401 401 200"},
		{"POST /api/v1/services", creating(servicesPath, "service"), "              401 401 403 201 201 201 401 401 403"},
		{"POST /api/v1/context_types", creating(typesPath, "context_type"), "       401 401 403 201 201 201 401 401 403"},
		{"GET /api/v1/services/{id}", on(aService, ""), "                           401 401 200 200 200 200 401 401 200"},
		{"PUT /api/v1/services/{id}", on(aService, named), "                        401 401 403 200 200 200 401 401 403"},
		{"DELETE /api/v1/services/{id}", on(aService, ""), "                        401 401 403 204 204 204 401 401 403"},

		{"GET /api/v1/context_types", at(typesPath), "                              401 401 200 200 200 200 401 401 200"},
		{"GET /api/v1/context_types/{id}", on(aContextType, ""), "                  401 401 200 200 200 200 401 401 200"},
		{"PUT /api/v1/context_types/{id}", on(aContextType, named), "               401 401 403 200 200 200 401 401 403"},
		{"DELETE /api/v1/context_types/{id}", on(aContextType, ""), "               401 401 403 204 204 204 401 401 403"},

		{"POST /api/v1/contexts/bulk", sending(contextsPath+"/bulk", `{"contexts":[{"type":"user","key":"a"}]}`), "401 401 200 200 200 200 401 401 200"},
		{"GET /api/v1/contexts", at(contextsPath), "                                401 401 200 200 200 200 401 401 200"},
		{"GET /api/v1/contexts/{id}", on(aContext, ""), "                           401 401 200 200 200 200 401 401 200"},
		{"PUT /api/v1/contexts/{id}", on(aContext, named), "                        401 401 403 200 200 200 401 401 403"},
		{"DELETE /api/v1/contexts/{id}", on(aContext, ""), "                        401 401 403 204 204 204 401 401 403"},

		{"GET /api/v1/metrics", at("/api/v1/metrics?name=m"), "                      401 401 200 200 200 200 401 401 200"},
		{"POST /api/v1/metrics/bulk", sending("/api/v1/metrics/bulk", `{"data":[]}`), "401 401 202 202 202 202 401 401 202"},

		{"GET /api/v1/flags", at(flagsPath), "                                      401 401 200 200 200 200 401 401 200"},
		{"POST /api/v1/flags", creatingFlag, "                                      401 401 403 201 201 201 401 401 403"},
		{"POST /api/v1/flags/bulk", sending(flagsPath+"/bulk", `{"flags":[]}`), "   401 401 200 200 200 200 401 401 200"},
		{"GET /api/v1/flags/{id}", on(aFlag, ""), "                                 401 401 200 200 200 200 401 401 200"},
		{"PUT /api/v1/flags/{id}", on(aFlag, envelope("", "", boolean(true, nil))), "401 401 403 200 200 200 401 401 403"},
		{"DELETE /api/v1/flags/{id}", on(aFlag, ""), "                              401 401 403 204 204 204 401 401 403"},
		{"GET /api/v1/flags/{id}/sources", on(below(aFlag, "/sources"), ""), "      401 401 200 200 200 200 401 401 200"},
		{"POST /api/v1/flags/actions/evaluate", sending(flagsPath+"/actions/evaluate", `{}`), "                401 401 200 200 200 200 401 401 200"},
		{"POST /api/v1/flags/{id}/actions/evaluate", on(below(aFlag, "/actions/evaluate"), `{"environment":"production"}`), "401 401 200 200 200 200 401 401 200"},
		{"GET /api/v1/flag_sources", at(sourcesPath), "                             401 401 200 200 200 200 401 401 200"},

		{"GET /api/v1/loggers", at(loggersPath), "                                  401 401 200 200 200 200 401 401 200"},
		{"POST /api/v1/loggers/bulk", sending(loggersPath+"/bulk", `{"loggers":[{"id":"a"}]}`), "401 401 200 200 200 200 401 401 200"},
		{"GET /api/v1/loggers/{id}", on(aLogger, ""), "                             401 401 200 200 200 200 401 401 200"},
		{"PUT /api/v1/loggers/{id}", on(aLogger, named), "                          401 401 403 200 200 200 401 401 403"},
		{"DELETE /api/v1/loggers/{id}", on(aLogger, ""), "                          401 401 403 204 204 204 401 401 403"},
		{"GET /api/v1/loggers/{id}/sources", on(below(aLogger, "/sources"), ""), "  401 401 200 200 200 200 401 401 200"},
		{"GET /api/v1/logger_sources", at(seenPath), "                              401 401 200 200 200 200 401 401 200"},

		{"GET /api/v1/log_groups", at(groupsPath), "                                401 401 200 200 200 200 401 401 200"},
		{"POST /api/v1/log_groups", creating(groupsPath, "log_group"), "            401 401 403 201 201 201 401 401 403"},
		{"GET /api/v1/log_groups/{id}", on(aGroup, ""), "                           401 401 200 200 200 200 401 401 200"},
		{"PUT /api/v1/log_groups/{id}", on(aGroup, named), "                        401 401 403 200 200 200 401 401 403"},
		{"DELETE /api/v1/log_groups/{id}", on(aGroup, ""), "                        401 401 403 204 204 204 401 401 403"},
		{"GET /api/v1/configs", at(configsPath), "                                  401 401 200 200 200 200 401 401 200"},
		{"POST /api/v1/configs", creating(configsPath, "config"), "                 401 401 403 201 201 201 401 401 403"},
		{"GET /api/v1/configs/{id}", on(aConfig, ""), "                             401 401 200 200 200 200 401 401 200"},
		{"PUT /api/v1/configs/{id}", on(aConfig, named), "                          401 401 403 200 200 200 401 401 403"},
		{"DELETE /api/v1/configs/{id}", on(aConfig, ""), "                          401 401 403 204 204 204 401 401 403"},
		{"GET /api/v1/configs/{id}/resolved", on(below(aConfig, "/resolved"), ""), "401 401 200 200 200 200 401 401 200"},

		{"GET /api/v1/snapshots/{environment}", at(snapshotsPath + "/production"), "  401 401 200 200 200 200 401 401 200"},

		// The key in the path counts, and no other credential.
		{"GET /levels/{token}/{environment}/logback.properties", levelFileOf("logback.properties"), "200 200 200 200 200 200 200 200 200"},
		{"GET /levels/{token}/{environment}/log4j2.xml", levelFileOf("log4j2.xml"), "                200 200 200 200 200 200 200 200 200"},
		{"GET /levels/{token}/{environment}/log4j2.json", levelFileOf("log4j2.json"), "              200 200 200 200 200 200 200 200 200"},
		{"GET /levels/{token}/{environment}/levels.json", levelFileOf("levels.json"), "              200 200 200 200 200 200 200 200 200"},
		{"GET /levels/{token}/{environment}/python.json", levelFileOf("python.json"), "              200 200 200 200 200 200 200 200 200"},

		{"GET /flagd/v1/flags/{environment}", at(flagdPath + "/production"), "      401 401 200 200 200 200 401 401 200"},
		{"POST /ofrep/v1/evaluate/flags", sending(ofrepPath, `{"context":{}}`), "   401 401 200 200 200 200 401 401 200"},
		{"POST /ofrep/v1/evaluate/flags/{key}", on(aFlagOverOFREP, `{"context":{}}`), "401 401 200 200 200 200 401 401 200"},
		{"GET /ofrep/v1/events", at("/ofrep/v1/events"), "                          401 401 401 401 401 401 401 401 401"}, // see event_streams_test.go
		{"OPTIONS /ofrep/v1/events", at("/ofrep/v1/events"), "                      204 204 204 204 204 204 204 204 204"},
		{"OPTIONS /ofrep/v1/evaluate/flags", at(ofrepPath), "                       204 204 204 204 204 204 204 204 204"},
		{"OPTIONS /ofrep/v1/evaluate/flags/{key}", at(ofrepPath + "/x"), "          204 204 204 204 204 204 204 204 204"},

		{"GET /api/ws/v1/events", at("/api/ws/v1/events"), "                        401 401 400 400 400 400 401 401 400"},
		{"GET /api/v1/connections", at("/api/v1/connections"), "                    401 401 200 200 200 200 401 401 200"},
		{"GET /api/v1/jobs", at(jobsPath), "                                        401 401 200 200 200 200 401 401 200"},
		{"POST /api/v1/jobs", creatingJob, "                                        401 401 403 201 201 201 401 401 403"},
		{"GET /api/v1/jobs/{id}", on(aJob, ""), "                                   401 401 200 200 200 200 401 401 200"},
		{"PUT /api/v1/jobs/{id}", on(aJob, envelope("", "", job(nil))), "           401 401 403 200 200 200 401 401 403"},
		{"DELETE /api/v1/jobs/{id}", on(aJob, ""), "                                401 401 403 204 204 204 401 401 403"},
		{"POST /api/v1/jobs/{id}/actions/run", on(below(aJob, "/actions/run"), ""), "401 401 403 200 200 200 401 401 403"},
		{"GET /api/v1/jobs/{id}/stats", on(below(aJob, "/stats"), ""), "            401 401 200 200 200 200 401 401 200"},
		{"GET /api/v1/schedules/preview", at(previewPath + "?schedule=now"), "        401 401 200 200 200 200 401 401 200"},
		{"GET /api/v1/runs", at(runsPath), "                                        401 401 200 200 200 200 401 401 200"},
		{"GET /api/v1/runs/stats", at(runsPath + "/stats"), "                         401 401 200 200 200 200 401 401 200"},
		{"GET /api/v1/runs/{id}", on(aRun, ""), "                                   401 401 200 200 200 200 401 401 200"},
		{"POST /api/v1/runs/{id}/actions/cancel", on(below(aHeldRun, "/actions/cancel"), ""), "401 401 403 200 200 200 401 401 403"},
		{"POST /api/v1/runs/{id}/actions/rerun", on(below(aRun, "/actions/rerun"), ""), "401 401 403 200 200 200 401 401 403"},
		{"GET /api/v1/usage", at(usagePath), "                                      401 401 200 200 200 200 401 401 200"},

		{"GET /api/v1/webhooks", at(webhooksPath), "                                401 401 403 403 200 200 401 401 403"},
		{"POST /api/v1/webhooks", sending(webhooksPath, envelope("", "", hook(nil))), "401 401 403 403 201 201 401 401 403"},
		{"GET /api/v1/webhooks/{id}", on(aWebhook, ""), "                           401 401 403 403 200 200 401 401 403"},
		{"PUT /api/v1/webhooks/{id}", on(aWebhook, envelope("", "", hook(nil))), "  401 401 403 403 200 200 401 401 403"},
		{"DELETE /api/v1/webhooks/{id}", on(aWebhook, ""), "                        401 401 403 403 204 204 401 401 403"},
		{"POST /api/v1/webhooks/{id}/actions/test", on(below(aWebhook, "/actions/test"), ""), "401 401 403 403 200 200 401 401 403"},
		{"POST /api/v1/webhooks/{id}/actions/rotate_secret", on(below(aWebhook, "/actions/rotate_secret"), ""), "401 401 403 403 200 200 401 401 403"},
		{"POST /api/v1/webhooks/{id}/actions/redeliver", on(below(aWebhook, "/actions/redeliver"), lastYear), "401 401 403 403 200 200 401 401 403"},
		{"GET /api/v1/webhooks/{id}/deliveries", on(below(aWebhook, "/deliveries"), ""), "401 401 403 403 200 200 401 401 403"},
		{"POST /api/v1/webhooks/{id}/deliveries/{delivery}/actions/redeliver", on(aRedelivery, ""), "401 401 403 403 200 200 401 401 403"},

		{"GET /api/v1/changes", at(changesPath), "                                  401 401 200 200 200 200 401 401 200"},
		{"GET /api/v1/changes/{seq}", at(changesPath + "/1"), "                     401 401 200 200 200 200 401 401 200"},
		{"POST /api/v1/changes/{seq}/actions/revert", on(aRevert, ""), "            401 401 403 200 200 200 401 401 403"},
	}
}

func TestAccess_EveryRouteAndRole(t *testing.T) {
	t.Parallel()
	onSQLite(t, "pro", func(t *testing.T, owner client) {
		keys, sessions := everyCredential(owner), everySession(owner)
		for _, row := range accessTable() {
			t.Run(row.route, func(t *testing.T) {
				t.Parallel()
				statuses := strings.Fields(row.want)
				if len(statuses) != len(credentials) {
					t.Fatalf("the row has %d statuses for %d credentials", len(statuses), len(credentials))
				}
				for i, credential := range credentials {
					path, body := row.target(owner.in(t))
					method, _, _ := strings.Cut(row.route, " ")
					got := owner.in(t).as(keys[credential]).send(method, path, body, inProduction(path))
					if want := statuses[i]; strconv.Itoa(got.status) != want {
						t.Errorf("%s: got %d, want %s: %s", credential, got.status, want, got.body)
					}
				}
				requireSameForSessions(t, owner.in(t), row, sessions)
			})
		}
	})
}

// everyCredential creates one key for each column of the table.
func everyCredential(owner client) map[string]string {
	revoked := owner.makeKey(attributes{"role": "OWNER"})
	owner.post(revoked.path+"/actions/revoke", "").want(200)
	user, past := owner.get("/api/v1/users/current").want(200).data().ID, time.Now().Add(-time.Minute)
	return map[string]string{
		"none": "", "garbage": "sk_api_garbage", "revoked": revoked.secret, "OWNER": owner.key,
		"VIEWER": owner.withRole("VIEWER").key, "MEMBER": owner.withRole("MEMBER").key, "ADMIN": owner.withRole("ADMIN").key,
		"scoped ADMIN": owner.makeKey(attributes{"role": "ADMIN", "scopes": attributes{"environments": []string{"staging"}}}).secret,
		"expired": plantKey(owner, accounts.Key{Account: owner.get(accountPath).data().ID, Name: "expired",
			Role: accounts.Owner, CreatedBy: user, ExpiresAt: &past}),
	}
}

func TestAccess_TableHasEveryRoute(t *testing.T) {
	t.Parallel()
	var covered []string
	for _, row := range accessTable() {
		covered = append(covered, row.route)
	}
	requireEveryRouteOnce(t, covered)
}

// requireEveryRouteOnce fails the test when a route has no row, or a row no route.
func requireEveryRouteOnce(t *testing.T, covered []string) {
	t.Helper()
	served := api.RoutePatterns()
	for _, route := range served {
		if !slices.Contains(covered, route) {
			t.Errorf("no row for the route %s", route)
		}
	}
	seen := map[string]bool{}
	for _, route := range covered {
		if !slices.Contains(served, route) || seen[route] {
			t.Errorf("the row %s is for no route, or twice", route)
		}
		seen[route] = true
	}
}
