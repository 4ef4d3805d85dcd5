package api_test

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/signalbox/signalbox/internal/api"
)

// recorded is a write and the change that it records.
type recorded struct {
	// prepare returns the path of the resource to write, which may not exist yet.
	prepare      func(owner client) string
	body         string
	kind, action string
}

// recordedWrites returns a write for every route that writes, except reports (see TestChanges_OfReports) and the
// revert (see TestRevert).
func recordedWrites() map[string]recorded {
	named := envelope("", "", attributes{"name": "Renamed"})
	ordered := envelope("", "", attributes{"environment_order": []string{"production"}, "theme": "dark"})
	return map[string]recorded{
		"PUT /api/v1/accounts/current":                   {is(accountPath), named, "account", "updated"},
		"PUT /api/v1/accounts/current/settings":          {is(settingsPath), ordered, "account_settings", "updated"},
		"PUT /api/v1/users/current/settings":             {is(ownSettingsPath), ordered, "user_settings", "updated"},
		"PUT /api/v1/users/{id}":                         {aUser, named, "user", "updated"},
		"DELETE /api/v1/users/{id}":                      {aUser, "", "user", "deleted"},
		"POST /api/v1/users/{id}/actions/reset_password": {below(aUser, "/actions/reset_password"), "", "user", "reset_requested"},
		"POST /api/v1/invitations":                       {is(invitationsPath), `{"email":"` + unique("invited") + `@example.com"}`, "invitation", "created"},
		"DELETE /api/v1/invitations/{id}":                {anInvitation, "", "invitation", "deleted"},
		"DELETE /api/v1/links/{id}":                      {aLink, "", "link", "deleted"},

		"POST /api/v1/api_keys":                            {is(keysPath), named, "api_key", "created"},
		"PUT /api/v1/api_keys/{id}":                        {aKey, named, "api_key", "updated"},
		"DELETE /api/v1/api_keys/{id}":                     {aKey, "", "api_key", "deleted"},
		"POST /api/v1/api_keys/{id}/actions/revoke":        {below(aKey, "/actions/revoke"), "", "api_key", "revoked"},
		"POST /api/v1/environments":                        {is(environmentsPath), envelope("", "made", attributes{"name": "N"}), "environment", "created"},
		"PUT /api/v1/environments/{id}":                    {anEnvironment, envelope("", "", attributes{"name": "N", "classification": "AD_HOC", "managed": false}), "environment", "updated"},
		"DELETE /api/v1/environments/{id}":                 {anEnvironment, "", "environment", "deleted"},
		"POST /api/v1/services":                            {is(servicesPath), envelope("", "made", attributes{"name": "N"}), "service", "created"},
		"POST /api/v1/context_types":                       {is(typesPath), envelope("", "made", attributes{"name": "N"}), "context_type", "created"},
		"PUT /api/v1/services/{id}":                        {aService, named, "service", "updated"},
		"DELETE /api/v1/services/{id}":                     {aService, "", "service", "deleted"},
		"POST /api/v1/flags":                               {is(flagsPath), envelope("", "made", boolean(true, nil)), "flag", "created"},
		"PUT /api/v1/flags/{id}":                           {aFlag, envelope("", "", boolean(true, attributes{"name": "Renamed"})), "flag", "updated"},
		"DELETE /api/v1/flags/{id}":                        {aFlag, "", "flag", "deleted"},
		"POST /api/v1/configs":                             {is(configsPath), envelope("", "made", attributes{"items": attributes{"a": attributes{"value": 1}}}), "config", "created"},
		"PUT /api/v1/configs/{id}":                         {aConfig, named, "config", "updated"},
		"DELETE /api/v1/configs/{id}":                      {aConfig, "", "config", "deleted"},
		"POST /api/v1/jobs":                                {is(jobsPath), envelope("", "made", job(nil)), "job", "created"},
		"PUT /api/v1/jobs/{id}":                            {aJob, envelope("", "", job(attributes{"name": "Renamed"})), "job", "updated"},
		"DELETE /api/v1/jobs/{id}":                         {aJob, "", "job", "deleted"},
		"POST /api/v1/webhooks":                            {is(webhooksPath), envelope("", "", hook(nil)), "webhook", "created"},
		"PUT /api/v1/webhooks/{id}":                        {aWebhook, envelope("", "", hook(attributes{"name": "Renamed"})), "webhook", "updated"},
		"DELETE /api/v1/webhooks/{id}":                     {aWebhook, "", "webhook", "deleted"},
		"POST /api/v1/webhooks/{id}/actions/rotate_secret": {below(aWebhook, "/actions/rotate_secret"), "", "webhook", "updated"},
		"PUT /api/v1/loggers/{id}":                         {aLogger, named, "logger", "updated"},
		"DELETE /api/v1/loggers/{id}":                      {aLogger, "", "logger", "deleted"},
		"POST /api/v1/log_groups":                          {is(groupsPath), envelope("", "made", attributes{"level": "WARN"}), "log_group", "created"},
		"PUT /api/v1/log_groups/{id}":                      {aGroup, named, "log_group", "updated"},
		"DELETE /api/v1/log_groups/{id}":                   {aGroup, "", "log_group", "deleted"},
		"PUT /api/v1/context_types/{id}":                   {aContextType, named, "context_type", "updated"},
		"DELETE /api/v1/context_types/{id}":                {aContextType, "", "context_type", "deleted"},
		"PUT /api/v1/contexts/{id}":                        {aContext, named, "context", "updated"},
		"DELETE /api/v1/contexts/{id}":                     {aContext, "", "context", "deleted"},
	}
}

func TestChanges_OnePerWrite(t *testing.T) {
	t.Parallel()
	onBoth(t, "pro", func(t *testing.T, first client) {
		for route, write := range recordedWrites() {
			t.Run(route, func(t *testing.T) {
				t.Parallel()
				owner := first.in(t).account("pro")
				key := owner.makeKey(attributes{"role": "OWNER", "name": "the actor"})
				path := write.prepare(owner)
				resourcePath, _, _ := strings.Cut(path, "/actions/")
				method, _, _ := strings.Cut(route, " ")

				before := owner.get(resourcePath).want(200)
				seq := owner.seq()
				written := owner.as(key.secret).send(method, path, write.body)
				if written.status >= 300 {
					t.Fatalf("%s: got %d: %s", route, written.status, written.body)
				}
				if owner.seq() != seq+1 {
					t.Fatalf("%s left %d changes, want one", route, owner.seq()-seq)
				}
				change := owner.latest()
				got := change.Attributes
				actor := map[string]any{"type": "api_key", "id": key.id, "name": "the actor"}
				if difference := cmp.Diff([]any{write.kind, write.action, actor}, []any{got["kind"], got["action"], got["actor"]}); difference != "" {
					t.Errorf("want (-), got (+):\n%s", difference)
				}
				if write.action == "created" || write.action == "deleted" {
					requireEnds(t, got, write.action)
				}
				if write.action != "created" {
					requireDocument(t, "before", got["before"], before.data().Attributes)
				}
				if write.action != "deleted" {
					requireDocument(t, "after", got["after"], written.data().Attributes)
				}
				if want := keyOf(owner, write, before, written); got["key"] != want {
					t.Errorf("the change is of %q, want %q", got["key"], want)
				}
				same := owner.get(changesPath + "/" + change.ID).want(200).data()
				requireDiff(t, same.Attributes)
				delete(same.Attributes, "diff")
				if difference := cmp.Diff(change, same); difference != "" {
					t.Errorf("the list and the single change differ:\n%s", difference)
				}
			})
		}
	})
}

// seq returns the number of the account's last change.
func (c client) seq() int {
	c.t.Helper()
	seq, err := strconv.Atoi(c.latest().ID)
	if err != nil {
		c.t.Fatal(err)
	}
	return seq
}

// keyOf returns the id of a resource in the history.
func keyOf(c client, write recorded, before, written answer) string {
	switch {
	case write.action == "created":
		return written.data().ID
	case write.kind == "user_settings":
		return c.get("/api/v1/users/current").data().ID
	}
	return before.data().ID
}

func requireEnds(t *testing.T, change map[string]any, action string) {
	t.Helper()
	if (change["before"] == nil) != (action == "created") || (change["after"] == nil) != (action == "deleted") {
		t.Errorf("%s from %v to %v", action, change["before"], change["after"])
	}
}

// requireDocument compares a document of the history with the resource as the
// API showed it: all but the plaintext, and when a key was used.
func requireDocument(t *testing.T, which string, got any, want map[string]any) {
	t.Helper()
	document, ok := got.(map[string]any)
	if !ok {
		t.Errorf("%s is %v", which, got)
		return
	}
	document, want = maps.Clone(document), maps.Clone(want)
	for _, derived := range []string{"resolved", "sources", "effective_levels", "last_run", "skipped_at", "health", "limits", "last_delivery", "secret"} {
		delete(want, derived)
	}
	for _, name := range []string{"key", "last_used_at"} {
		if _, isKey := want["scopes"]; isKey {
			delete(want, name)
			if name == "last_used_at" {
				delete(document, name)
			}
		}
	}
	for _, name := range []string{"link", "link_expires_at"} { // shown once
		delete(want, name)
	}
	for _, name := range []string{"last_seen", "last_evaluated"} { // of flags: observed, and not in the history
		delete(want, name)
	}
	if _, isWebhook := document["secret_created_at"]; isWebhook { // of the URL, the history has the host
		delete(document, "secret_created_at")
		want["url"] = strings.TrimSuffix(want["url"].(string), "/")
	}
	for _, each := range []map[string]any{document, want} {
		if configuration, isJob := each["configuration"].(map[string]any); isJob {
			each["configuration"] = withoutBody(configuration)
			delete(each, "configuration_id")
		}
	}
	if difference := cmp.Diff(want, document); difference != "" {
		t.Errorf("%s: want (-), got (+):\n%s", which, difference)
	}
}

// requireDiff checks that the diff of a change names what differs in its documents:
// which members, or all of it when there is only one document.
func requireDiff(t *testing.T, change map[string]any) {
	t.Helper()
	got, want := map[string]bool{}, map[string]bool{}
	for _, operation := range change["diff"].([]any) {
		path := operation.(map[string]any)["path"].(string)
		first, _, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
		got[first] = true
	}
	before, existed := change["before"].(map[string]any)
	after, exists := change["after"].(map[string]any)
	if !existed || !exists {
		want[""] = true
	}
	for _, name := range slices.Concat(slices.Collect(maps.Keys(before)), slices.Collect(maps.Keys(after))) {
		if existed && exists && !cmp.Equal(before[name], after[name]) {
			want[name] = true
		}
	}
	if difference := cmp.Diff(want, got); difference != "" {
		t.Errorf("the diff is of others: want (-), got (+):\n%s", difference)
	}
}

// withoutBody returns a job's configuration without the body, of which the history
// has only the size.
func withoutBody(configuration map[string]any) map[string]any {
	rest := maps.Clone(configuration)
	for _, name := range []string{"body", "body_bytes"} {
		delete(rest, name)
	}
	return rest
}

func TestChanges_TableHasEveryWrite(t *testing.T) {
	t.Parallel()
	covered := slices.Collect(maps.Keys(recordedWrites()))
	for _, route := range api.RoutePatterns() {
		if !strings.HasPrefix(route, "GET ") && !strings.HasPrefix(route, "OPTIONS ") && !signsIn(route) && !strings.Contains(route, "/evaluate") && !strings.HasSuffix(route, "/bulk") && !makesRun(route) && !strings.Contains(route, "redeliver") && !strings.HasSuffix(route, "/actions/test") && !strings.HasSuffix(route, "/actions/revert") && !slices.Contains(covered, route) {
			t.Errorf("the change of %s is not tested", route)
		}
	}
}

// signsIn reports whether a route is about sessions or passwords, whose history has its
// own tests.
func signsIn(route string) bool {
	return strings.Contains(route, "/sessions") || strings.HasSuffix(route, "/redeem") || strings.HasSuffix(route, "/password")
}

// makesRun reports whether a route starts or ends runs, which are their own history.
func makesRun(route string) bool {
	return strings.HasSuffix(route, "/actions/run") || strings.Contains(route, "/runs/")
}

func TestChanges_OfReports(t *testing.T) {
	t.Parallel()
	owner := newOwner(t, "pro")
	report := []attributes{
		{"type": "environment", "key": "preview"}, {"type": "service", "key": "checkout"},
		{"type": "user", "key": "alice", "attributes": attributes{"plan": "pro"}}, {"type": "user", "key": "bob"},
	}
	for _, c := range []struct {
		what  string
		items []attributes
		want  []string
	}{
		{"the first report", report, []string{"created environment preview", "created service checkout", "created context_type user"}},
		{"the same again", report, nil},
		{"another context of a known type", []attributes{{"type": "user", "key": "carol"}}, nil},
		{"a new attribute", []attributes{{"type": "user", "key": "bob", "attributes": attributes{"age": 1}}}, []string{"updated context_type user"}},
	} {
		t.Run(c.what, func(t *testing.T) {
			owner := owner.in(t)
			seq := owner.seq()
			owner.report(c.items...).want(200)
			var got []string
			for number := seq + 1; number <= owner.seq(); number++ {
				change := owner.get(changesPath + "/" + strconv.Itoa(number)).want(200).data().Attributes
				got = append(got, change["action"].(string)+" "+change["kind"].(string)+" "+change["key"].(string))
			}
			if difference := cmp.Diff(c.want, got); difference != "" {
				t.Errorf("want (-), got (+):\n%s", difference)
			}
		})
	}
	seq := owner.seq()
	owner.measure(metric("m", 1, nil)).want(202)
	if owner.seq() != seq {
		t.Error("a measurement is in the history")
	}
}

func TestChanges_NoneForReadsAndRefusals(t *testing.T) {
	t.Parallel()
	first := newOwner(t, "pro")
	owner := first.account("free")
	owner.makeEnvironment("second")
	key := owner.makeKey(nil)
	owner.get(configsPath).want(200) // the first read of configs makes the common one
	seq := owner.seq()
	named := envelope("", "", attributes{"name": "N"})
	for status, got := range map[int]answer{
		400: owner.put(environmentsPath+"/staging", envelope("", "", attributes{"name": ""})),
		401: owner.as("").put(environmentsPath+"/staging", named),
		402: owner.post(environmentsPath, envelope("", "third", attributes{"name": "N"})),
		403: owner.as(key.secret).put(environmentsPath+"/staging", named),
		404: owner.put(environmentsPath+"/nowhere", named),
		409: owner.delete(environmentsPath + "/production"),
		412: owner.put(environmentsPath+"/staging", named, with("If-Match", `"other"`)),
		415: owner.put(environmentsPath+"/staging", named, with("Content-Type", "text/plain")),
	} {
		if got.status != status {
			t.Errorf("%s: got %d, want %d", got.what, got.status, status)
		}
	}
	everythingOf(owner)
	if owner.seq() != seq {
		t.Errorf("there are %d changes more", owner.seq()-seq)
	}
}

func TestChanges_OfNewAccount(t *testing.T) {
	t.Parallel()
	first := newOwner(t, "pro")
	owner := first.account("free")
	var got []string
	for _, change := range slices.Backward(owner.get(changesPath).want(200).page().Data) {
		actor := change.Attributes["actor"].(map[string]any)
		got = append(got, change.ID+" "+actor["type"].(string)+" "+change.Attributes["action"].(string)+" "+change.Attributes["kind"].(string))
	}
	want := []string{"1 operator created account", "2 operator created api_key", "3 operator created environment", "4 operator created environment"}
	if difference := cmp.Diff(want, got); difference != "" {
		t.Errorf("want (-), got (+):\n%s", difference)
	}
	for _, got := range []answer{owner.get(changesPath), first.get(changesPath)} {
		for _, secret := range []string{owner.key, hashOf(owner.key), first.key, hashOf(first.key), "sk_api_"} {
			if got.contains(secret) {
				t.Errorf("the history shows a secret: %s", got.body)
			}
		}
	}
}
