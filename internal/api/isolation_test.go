package api_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
)

// marker is in every name and value of the account that must not be seen.
const marker = "hush-hush"

// neighbor is the content of another account. Its ids carry no marker, because the stranger
// guesses them.
type neighbor struct {
	client
	account, user, key, seq, run             string
	person, invitation, session, link, reset string
	webhook                                  string
}

// fill creates two resources of every kind in an account: "theirs", which the
// stranger asks for, and "both", which the stranger creates too.
func fill(c client) neighbor {
	for _, id := range []string{"theirs", "both"} {
		c.post(environmentsPath, envelope("environment", id, attributes{"name": marker})).want(201)
		c.post(servicesPath, envelope("service", id, attributes{"name": marker})).want(201)
		c.report(attributes{"type": id, "key": "key", "attributes": attributes{marker: marker}}).want(200)
		c.put(typesPath+"/"+id, envelope("", "", attributes{"name": marker, "attributes": attributes{marker: attributes{}}})).want(200)
		c.put(contextsPath+"/"+id+":key", envelope("", "", attributes{"name": marker})).want(200)
		c.makeFlag(id, attributes{"name": marker, "environments": attributes{"theirs": attributes{
			"rules": []attributes{{"logic": attributes{"==": []any{attributes{"var": "theirs.key"}, marker}}, "value": true, "description": marker}}}}})
		c.post(groupsPath, envelope("", id+"-group", attributes{"name": marker, "environments": attributes{"theirs": attributes{"level": "FATAL"}}})).want(201)
		c.observe(attributes{"id": id, "level": "WARN", "service": marker, "environment": "theirs"}).want(200)
		c.put(loggersPath+"/"+id, envelope("", "", attributes{"name": marker, "group": id + "-group", "environments": attributes{"theirs": attributes{"level": "TRACE"}}})).want(200)
		c.makeConfig(id, attributes{"name": marker, "items": attributes{"key": attributes{"value": marker, "description": marker}},
			"environments": attributes{"theirs": attributes{"key": marker + "!"}}})
		c.declare(attributes{"id": id, "type": "BOOLEAN", "default": true, "service": marker, "environment": "theirs"}).want(200)
	}
	run := fillJobs(c)
	c.put(accountPath, envelope("", "", attributes{"name": marker})).want(200)
	for _, path := range []string{settingsPath, ownSettingsPath} {
		c.put(path, envelope("", "", attributes{"environment_order": []string{"theirs", "both"}, "mine": marker})).want(200)
	}
	key := c.makeKey(attributes{"name": marker, "role": "ADMIN"})
	c.post("/api/v1/metrics/bulk", `{"data":[{"attributes":{"name":"both","value":1,"dimensions":{"x":"`+marker+`"}}}]}`).want(202)
	theirs := neighbor{client: c, account: c.get(accountPath).data().ID, user: c.get("/api/v1/users/current").data().ID, key: key.id, run: run}
	fillPeople(c, &theirs)
	theirs.seq = c.latest().ID
	return theirs
}

// fillPeople creates a signed-in person and an invited person.
func fillPeople(c client, theirs *neighbor) {
	person := c.join("ADMIN", marker)
	theirs.person, theirs.session = person.id, person.get(sessionsPath+"/current").want(200).data().ID
	invited := c.invite(unique(marker)+"@example.com", "ADMIN").want(201)
	theirs.invitation, theirs.link = invited.data().ID, invited.text("link")
	theirs.reset = aLink(c)
	theirs.webhook = c.makeWebhook(attributes{"name": marker, "url": "http://10.0.0.1/" + marker, "headers": attributes{"X-Secret": marker}})[len(webhooksPath)+1:]
}

// fillJobs makes jobs that do not fire, and a run that has ended.
func fillJobs(c client) (run string) {
	for _, id := range []string{"theirs", "both"} {
		c.makeJob(id, attributes{"name": marker, "description": marker, "configuration": attributes{"url": "http://10.0.0.1/" + marker,
			"headers": []attributes{{"name": "X-Secret", "value": marker}}, "body": marker}})
	}
	run = c.post(jobsPath+"/theirs/actions/run", "").want(200).data().ID
	c.finished(run)
	return run
}

// trespass is a request that a stranger makes with ids of the neighbor.
type trespass struct {
	path, body string
	want       int
}

func trespasses(theirs neighbor) map[string]trespass {
	named := envelope("", "", attributes{"name": "Mine"})
	settings := envelope("", "", attributes{"environment_order": []string{"theirs"}})
	scoped := envelope("", "", attributes{"name": "Mine", "scopes": attributes{"environments": []string{"theirs"}}})
	return map[string]trespass{
		"GET /api/liveness":     {"/api/liveness", "", 200},
		"GET /api/readiness":    {"/api/readiness", "", 200},
		"GET /api/serving":      {"/api/serving", "", 200},
		"GET /api/openapi.json": {"/api/openapi.json", "", 200},
		"GET /metrics":          {"/metrics", "", 200},

		"GET /auth/methods":       {"/auth/methods", "", 200},
		"GET /auth/oidc/start":    {"/auth/oidc/start", "", 404}, // see openid_test.go
		"GET /auth/oidc/callback": {"/auth/oidc/callback", "", 404},

		"GET /api/v1/accounts/current":          {accountPath, "", 200},
		"PUT /api/v1/accounts/current":          {accountPath, envelope("account", theirs.account, attributes{"name": "Mine"}), 400},
		"GET /api/v1/accounts/current/settings": {settingsPath, "", 200},
		"PUT /api/v1/accounts/current/settings": {settingsPath, settings, 200},
		"GET /api/v1/users/current":             {"/api/v1/users/current", "", 200},
		"GET /api/v1/users/current/settings":    {ownSettingsPath, "", 200},
		"PUT /api/v1/users/current/settings":    {ownSettingsPath, settings, 200},

		"PUT /api/v1/users/current/password":             {passwordPath, `{"current_password":"x","password":"long enough"}`, 403},
		"GET /api/v1/users":                              {usersPath, "", 200},
		"GET /api/v1/users/{id}":                         {usersPath + "/" + theirs.person, "", 404},
		"PUT /api/v1/users/{id}":                         {usersPath + "/" + theirs.person, named, 404},
		"DELETE /api/v1/users/{id}":                      {usersPath + "/" + theirs.person, "", 404},
		"POST /api/v1/users/{id}/actions/reset_password": {usersPath + "/" + theirs.person + "/actions/reset_password", "", 404},
		"GET /api/v1/invitations":                        {invitationsPath, "", 200},
		"POST /api/v1/invitations":                       {invitationsPath, `{"email":"mine@example.com","role":"KING"}`, 400},
		"GET /api/v1/invitations/{id}":                   {invitationsPath + "/" + theirs.invitation, "", 404},
		"DELETE /api/v1/invitations/{id}":                {invitationsPath + "/" + theirs.invitation, "", 404},
		"GET /api/v1/links":                              {linksPath, "", 200},
		"GET /api/v1/links/{id}":                         {theirs.reset, "", 404},
		"DELETE /api/v1/links/{id}":                      {theirs.reset, "", 404},
		"POST /api/v1/links/redeem":                      {redeemPath, `{"token":"` + theirs.invitation + `","password":"long enough"}`, 404},
		"GET /api/v1/sessions":                           {sessionsPath, "", 200},
		"POST /api/v1/sessions":                          {sessionsPath, `{"email":"owner@` + marker + `","password":"x"}`, 401},
		"GET /api/v1/sessions/current":                   {sessionsPath + "/current", "", 404},
		"DELETE /api/v1/sessions/current":                {sessionsPath + "/current", "", 404},
		"POST /api/v1/sessions/current/codes":            {codesPath, "", 404},
		"DELETE /api/v1/sessions/{id}":                   {sessionsPath + "/" + theirs.session, "", 404},

		"GET /api/v1/api_keys":                      {keysPath, "", 200},
		"POST /api/v1/api_keys":                     {keysPath, scoped, 400},
		"GET /api/v1/api_keys/{id}":                 {keysPath + "/" + theirs.key, "", 404},
		"PUT /api/v1/api_keys/{id}":                 {keysPath + "/" + theirs.key, named, 404},
		"DELETE /api/v1/api_keys/{id}":              {keysPath + "/" + theirs.key, "", 404},
		"POST /api/v1/api_keys/{id}/actions/revoke": {keysPath + "/" + theirs.key + "/actions/revoke", "", 404},

		"GET /api/v1/environments":            {environmentsPath, "", 200},
		"POST /api/v1/environments":           {environmentsPath, envelope("", "both", attributes{"name": "Mine"}), 201},
		"GET /api/v1/environments/{id}":       {environmentsPath + "/theirs", "", 404},
		"PUT /api/v1/environments/{id}":       {environmentsPath + "/theirs", named, 404},
		"DELETE /api/v1/environments/{id}":    {environmentsPath + "/theirs?cascade=true", "", 404},
		"GET /api/v1/environments/{id}/usage": {environmentsPath + "/theirs/usage", "", 404},

		"GET /api/v1/services":         {servicesPath, "", 200},
		"POST /api/v1/services":        {servicesPath, envelope("", "both", attributes{"name": "Mine"}), 201},
		"POST /api/v1/context_types":   {typesPath, envelope("", "both", attributes{"name": "Mine"}), 201},
		"GET /api/v1/services/{id}":    {servicesPath + "/theirs", "", 404},
		"PUT /api/v1/services/{id}":    {servicesPath + "/theirs", named, 404},
		"DELETE /api/v1/services/{id}": {servicesPath + "/theirs", "", 404},

		"GET /api/v1/context_types":         {typesPath, "", 200},
		"GET /api/v1/context_types/{id}":    {typesPath + "/theirs", "", 404},
		"PUT /api/v1/context_types/{id}":    {typesPath + "/theirs", named, 404},
		"DELETE /api/v1/context_types/{id}": {typesPath + "/theirs", "", 404},

		"POST /api/v1/contexts/bulk":   {contextsPath + "/bulk", `{"contexts":[{"type":"both","key":"key","attributes":{"mine":1}}]}`, 200},
		"GET /api/v1/contexts":         {contextsPath, "", 200},
		"GET /api/v1/contexts/{id}":    {contextsPath + "/theirs%3Akey", "", 404},
		"PUT /api/v1/contexts/{id}":    {contextsPath + "/theirs%3Akey", named, 404},
		"DELETE /api/v1/contexts/{id}": {contextsPath + "/theirs%3Akey", "", 404},

		"GET /api/v1/metrics":       {"/api/v1/metrics?name=both&by=x", "", 200},
		"POST /api/v1/metrics/bulk": {"/api/v1/metrics/bulk", `{"data":[{"attributes":{"name":"mine","value":1}}]}`, 202},

		"GET /api/v1/flags":                                    {flagsPath, "", 200},
		"POST /api/v1/flags":                                   {flagsPath, envelope("", "both", boolean(false, nil)), 201},
		"POST /api/v1/flags/bulk":                              {flagsPath + "/bulk", `{"flags":[{"id":"both","type":"STRING","default":"mine"}]}`, 200},
		"GET /api/v1/flags/{id}":                               {flagsPath + "/theirs", "", 404},
		"PUT /api/v1/flags/{id}":                               {flagsPath + "/theirs", envelope("", "", boolean(false, nil)), 404},
		"DELETE /api/v1/flags/{id}":                            {flagsPath + "/theirs", "", 404},
		"GET /api/v1/flags/{id}/sources":                       {flagsPath + "/theirs/sources", "", 404},
		"POST /api/v1/flags/actions/evaluate":                  {flagsPath + "/actions/evaluate", `{"environments":["theirs"]}`, 400},
		"POST /api/v1/flags/{id}/actions/evaluate":             {flagsPath + "/theirs/actions/evaluate", `{"environment":"theirs"}`, 404},
		"GET /api/v1/flag_sources":                             {sourcesPath, "", 200},
		"GET /api/v1/configs":                                  {configsPath, "", 200},
		"POST /api/v1/configs":                                 {configsPath, envelope("", "both", attributes{"parent": "theirs"}), 400},
		"GET /api/v1/configs/{id}":                             {configsPath + "/theirs", "", 404},
		"PUT /api/v1/configs/{id}":                             {configsPath + "/theirs", named, 404},
		"DELETE /api/v1/configs/{id}":                          {configsPath + "/theirs", "", 404},
		"GET /api/v1/configs/{id}/resolved":                    {configsPath + "/theirs/resolved?environment=theirs", "", 404},
		"GET /flagd/v1/flags/{environment}":                    {flagdPath + "/production", "", 200},
		"GET /levels/{token}/{environment}/logback.properties": {"/levels/theirs/production/logback.properties", "", 401},
		"GET /levels/{token}/{environment}/log4j2.xml":         {"/levels/theirs/production/log4j2.xml", "", 401},
		"GET /levels/{token}/{environment}/log4j2.json":        {"/levels/theirs/production/log4j2.json", "", 401},
		"GET /levels/{token}/{environment}/levels.json":        {"/levels/theirs/production/levels.json", "", 401},
		"GET /levels/{token}/{environment}/python.json":        {"/levels/theirs/production/python.json", "", 401},
		"POST /ofrep/v1/evaluate/flags":                        {ofrepPath, `{"context":{}}`, 200},
		"POST /ofrep/v1/evaluate/flags/{key}":                  {ofrepPath + "/theirs", `{"context":{}}`, 404},
		"GET /ofrep/v1/events":                                 {"/ofrep/v1/events?token=theirs", "", 401},
		"OPTIONS /ofrep/v1/events":                             {"/ofrep/v1/events", "", 204},
		"OPTIONS /ofrep/v1/evaluate/flags":                     {ofrepPath, "", 204},
		"OPTIONS /ofrep/v1/evaluate/flags/{key}":               {ofrepPath + "/theirs", "", 204},

		"GET /api/v1/loggers":              {loggersPath, "", 200},
		"POST /api/v1/loggers/bulk":        {loggersPath + "/bulk", `{"loggers":[{"id":"both","level":"ERROR"}]}`, 200},
		"GET /api/v1/loggers/{id}":         {loggersPath + "/theirs", "", 404},
		"PUT /api/v1/loggers/{id}":         {loggersPath + "/both", envelope("", "", attributes{"group": "theirs-group"}), 400},
		"DELETE /api/v1/loggers/{id}":      {loggersPath + "/theirs", "", 404},
		"GET /api/v1/loggers/{id}/sources": {loggersPath + "/theirs/sources", "", 404},
		"GET /api/v1/logger_sources":       {seenPath, "", 200},
		"GET /api/v1/log_groups":           {groupsPath, "", 200},
		"POST /api/v1/log_groups":          {groupsPath, envelope("", "both-group", attributes{}), 201},
		"GET /api/v1/log_groups/{id}":      {groupsPath + "/theirs-group", "", 404},
		"PUT /api/v1/log_groups/{id}":      {groupsPath + "/theirs-group", named, 404},
		"DELETE /api/v1/log_groups/{id}":   {groupsPath + "/theirs-group", "", 404},

		"GET /api/v1/snapshots/{environment}":   {snapshotsPath + "/production", "", 200},
		"GET /api/v1/connections":               {"/api/v1/connections", "", 200},       // see package stream
		"GET /api/ws/v1/events":                 {"/api/ws/v1/events?since=1", "", 400}, // sockets themselves: see package stream
		"GET /api/v1/jobs":                      {jobsPath, "", 200},
		"POST /api/v1/jobs":                     {jobsPath, envelope("", "both", job(nil)), 201},
		"GET /api/v1/jobs/{id}":                 {jobsPath + "/theirs", "", 404},
		"PUT /api/v1/jobs/{id}":                 {jobsPath + "/theirs", envelope("", "", job(nil)), 404},
		"DELETE /api/v1/jobs/{id}":              {jobsPath + "/theirs", "", 404},
		"POST /api/v1/jobs/{id}/actions/run":    {jobsPath + "/theirs/actions/run", "", 404},
		"GET /api/v1/jobs/{id}/stats":           {jobsPath + "/theirs/stats", "", 404},
		"GET /api/v1/schedules/preview":         {previewPath + "?schedule=now", "", 200},
		"GET /api/v1/runs":                      {runsPath, "", 200},
		"GET /api/v1/runs/stats":                {runsPath + "/stats", "", 200},
		"GET /api/v1/runs/{id}":                 {runsPath + "/" + theirs.run, "", 404},
		"POST /api/v1/runs/{id}/actions/cancel": {runsPath + "/" + theirs.run + "/actions/cancel", "", 404},
		"POST /api/v1/runs/{id}/actions/rerun":  {runsPath + "/" + theirs.run + "/actions/rerun", "", 404},
		"GET /api/v1/usage":                     {usagePath, "", 200},

		"GET /api/v1/webhooks":                                               {webhooksPath, "", 200},
		"POST /api/v1/webhooks":                                              {webhooksPath, envelope("", "", hook(nil)), 201},
		"GET /api/v1/webhooks/{id}":                                          {webhooksPath + "/" + theirs.webhook, "", 404},
		"PUT /api/v1/webhooks/{id}":                                          {webhooksPath + "/" + theirs.webhook, envelope("", "", hook(nil)), 404},
		"DELETE /api/v1/webhooks/{id}":                                       {webhooksPath + "/" + theirs.webhook, "", 404},
		"POST /api/v1/webhooks/{id}/actions/test":                            {webhooksPath + "/" + theirs.webhook + "/actions/test", "", 404},
		"POST /api/v1/webhooks/{id}/actions/rotate_secret":                   {webhooksPath + "/" + theirs.webhook + "/actions/rotate_secret", "", 404},
		"POST /api/v1/webhooks/{id}/actions/redeliver":                       {webhooksPath + "/" + theirs.webhook + "/actions/redeliver", lastYear, 404},
		"GET /api/v1/webhooks/{id}/deliveries":                               {webhooksPath + "/" + theirs.webhook + "/deliveries", "", 404},
		"POST /api/v1/webhooks/{id}/deliveries/{delivery}/actions/redeliver": {webhooksPath + "/" + theirs.webhook + "/deliveries/" + theirs.run + "/actions/redeliver", "", 404},

		"GET /api/v1/changes":                       {changesPath, "", 200},
		"GET /api/v1/changes/{seq}":                 {changesPath + "/" + theirs.seq, "", 404},
		"POST /api/v1/changes/{seq}/actions/revert": {changesPath + "/" + theirs.seq + "/actions/revert", "", 404},
	}
}

func TestIsolation_EveryRoute(t *testing.T) {
	t.Parallel()
	onBoth(t, "pro", func(t *testing.T, owner client) {
		theirs := fill(owner)
		stranger := owner.account("pro")
		before := everythingOf(theirs.client)
		table := trespasses(theirs)
		for _, route := range slices.Sorted(maps.Keys(table)) {
			t.Run(route, func(t *testing.T) {
				stranger := stranger.in(t)
				try := table[route]
				method, _, _ := strings.Cut(route, " ")
				got := stranger.send(method, try.path, try.body, inProduction(try.path))
				if got.status != try.want {
					t.Errorf("got %d, want %d: %s", got.status, try.want, got.body)
				}
				if route != "GET /metrics" { // the operator's, who sees all accounts
					requireNothingOf(t, theirs, got)
				}
				if got.status == 404 && strings.Contains(route, "{") {
					requireLikeNothing(t, stranger, method, try, got)
				}
			})
		}
		for _, path := range []string{
			changesPath + "?filter[actor]=" + theirs.key, changesPath + "?filter[resource]=environment:theirs",
			environmentsPath + "?filter[search]=hush", servicesPath + "?filter[search]=hush", contextsPath + "?filter[context_type]=theirs",
			flagsPath + "?filter[search]=hush", flagsPath + "?filter[references_context_type]=theirs", sourcesPath + "?filter[service]=" + marker,
			loggersPath + "?filter[search]=hush", loggersPath + "?filter[service]=" + marker, loggersPath + "?filter[group]=theirs-group",
			groupsPath + "?filter[search]=hush", seenPath + "?filter[service]=" + marker,
			configsPath + "?filter[search]=hush", configsPath + "?filter[parent]=theirs",
			webhooksPath + "?filter[search]=hush", usersPath + "?filter[search]=hush", invitationsPath + "?filter[search]=hush", sessionsPath + "?filter[user]=" + theirs.person,
			jobsPath + "?filter[search]=hush", jobsPath + "?filter[last_status]=FAILED", runsPath + "?filter[job]=theirs",
		} {
			t.Run(path, func(t *testing.T) {
				if got := stranger.in(t).get(path).want(200); len(got.page().Data) != 0 {
					t.Errorf("got %s, want nothing", got.body)
				}
			})
		}
		if difference := cmp.Diff(before, everythingOf(theirs.client)); difference != "" {
			t.Errorf("a stranger changed something:\n%s", difference)
		}
	})
}

// everythingOf reads all there is of an account. When keys were used is left
// out: it changes with every reading.
func everythingOf(c client) map[string]any {
	everything := map[string]any{}
	for _, path := range []string{
		accountPath, settingsPath, "/api/v1/users/current", ownSettingsPath, usersPath, invitationsPath, linksPath,
		environmentsPath, servicesPath, typesPath, contextsPath, flagsPath, sourcesPath, loggersPath, seenPath, groupsPath,
		configsPath, configsPath + "/common/resolved", webhooksPath, jobsPath, runsPath, usagePath, changesPath + "?page[size]=1000",
	} {
		var document any
		c.get(path).want(200).decode(&document)
		everything[path] = document
	}
	keys := c.get(keysPath).want(200).page().Data
	for _, key := range keys {
		delete(key.Attributes, "last_used_at")
	}
	everything[keysPath] = keys
	return everything
}

func requireNothingOf(t *testing.T, theirs neighbor, got answer) {
	t.Helper()
	secrets := []string{marker}
	if got.status < 400 { // a refusal repeats the requested id
		secrets = append(secrets, theirs.account, theirs.user, theirs.key, theirs.run, `"theirs"`)
	}
	for _, secret := range secrets {
		if got.contains(secret) {
			t.Errorf("%s: shows %q of another account: %s", got.what, secret, got.body)
		}
	}
}

// requireLikeNothing checks that a resource of another account looks like a resource that does not
// exist.
func requireLikeNothing(t *testing.T, stranger client, method string, try trespass, got answer) {
	t.Helper()
	asked := strings.Split(strings.TrimPrefix(strings.TrimPrefix(strings.ReplaceAll(try.path, "%3A", ":"), "/ofrep/v1/evaluate/"), "/api/v1/"), "/")[1]
	asked, _, _ = strings.Cut(asked, "?")
	nobodys := uuid.NewString() + asked[strings.IndexByte(asked+":", ':'):]
	if strings.HasPrefix(try.path, changesPath) {
		nobodys = "999999999"
	}
	encode := func(id string) string { return strings.ReplaceAll(id, ":", "%3A") }
	path := strings.Replace(try.path, encode(asked), encode(nobodys), 1)
	nothing := stranger.send(method, path, try.body, inProduction(path)).want(404)
	if want := strings.ReplaceAll(string(nothing.body), nobodys, asked); string(got.body) != want {
		t.Errorf("%s %s: another account's looks different from nobody's:\n%s\n%s", method, try.path, got.body, want)
	}
}

func TestIsolation_TableHasEveryRoute(t *testing.T) {
	t.Parallel()
	requireEveryRouteOnce(t, slices.Collect(maps.Keys(trespasses(neighbor{}))))
}
