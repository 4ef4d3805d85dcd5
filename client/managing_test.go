package signalbox_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	signalbox "github.com/signalbox/signalbox/client"
	"github.com/signalbox/signalbox/client/flageval"
	"github.com/signalbox/signalbox/client/internal/servertest"
	"github.com/signalbox/signalbox/client/internal/testenv"
)

func TestEnvironmentsAPI_Server(t *testing.T) {
	t.Parallel()
	server := servertest.Start(t)
	api, ctx := server.Client().Environments, t.Context()

	made, err := api.Create(ctx, "eu.prod-1", signalbox.EnvironmentDraft{Name: "Europe", Color: new("#0a7")})
	if err != nil {
		t.Fatal(err)
	}
	if made.ID != "eu.prod-1" || made.ETag == "" || !made.Managed || made.Classification != signalbox.ClassificationStandard || *made.Color != "#0a7" {
		t.Errorf("made %+v", made)
	}
	got, err := api.Get(ctx, made.ID)
	if diff := testenv.Diff(made, got); diff != "" || err != nil {
		t.Error(err, diff)
	}
	if _, err := api.Create(ctx, made.ID, made.Draft()); !signalbox.IsAlreadyExists(err) {
		t.Errorf("got %v", err)
	}

	draft := made.Draft()
	draft.Name, draft.Color, draft.Classification = "EU", nil, signalbox.ClassificationAdHoc
	changed, err := api.Replace(ctx, made.ID, draft, signalbox.IfMatch(made.ETag))
	if err != nil || changed.Name != "EU" || changed.Color != nil || !changed.Managed || changed.ETag == made.ETag {
		t.Errorf("changed %+v, %v", changed, err)
	}
	if _, err := api.Replace(ctx, made.ID, draft, signalbox.IfMatch(made.ETag)); !signalbox.IsVersionMismatch(err) {
		t.Errorf("got %v", err)
	}
	if err := api.Delete(ctx, made.ID, signalbox.IfMatch(made.ETag)); !signalbox.IsVersionMismatch(err) {
		t.Errorf("got %v", err)
	}

	page, err := api.List(ctx, signalbox.EnvironmentParams{Managed: new(true), Paging: signalbox.Paging{Sort: []string{"-key"}, Size: 1, Total: true}})
	if err != nil || len(page.Items) != 1 || page.Items[0].ID != "production" || page.Items[0].ETag != "" || *page.Total != 2 || *page.TotalPages != 2 || page.Number != 1 || page.Size != 1 {
		t.Errorf("listed %+v, %v", page, err)
	}
	var ids []string
	for _, environment := range collect(t, api.All(ctx, signalbox.EnvironmentParams{Paging: signalbox.Paging{Size: 1, Sort: []string{"key"}}})) {
		ids = append(ids, environment.ID)
	}
	if diff := testenv.Diff([]string{"eu.prod-1", "production", "staging"}, ids); diff != "" {
		t.Error(diff)
	}

	if usage, err := api.Usage(ctx, made.ID); err != nil || usage.ID != made.ID || usage.FlagRules != 0 {
		t.Errorf("usage %+v, %v", usage, err)
	}
	if err := api.Delete(ctx, made.ID, signalbox.IfMatch(changed.ETag)); err != nil {
		t.Error(err)
	}
	if _, err := api.Get(ctx, made.ID); !signalbox.IsNotFound(err) {
		t.Errorf("got %v", err)
	}
	if err := api.DeleteWithValues(ctx, "staging"); err != nil {
		t.Error(err)
	}
	if err := api.Delete(ctx, "production"); !signalbox.IsEnvironmentProtected(err) {
		t.Errorf("got %v", err)
	}
}

func TestAPIError_Server(t *testing.T) {
	t.Parallel()
	server := servertest.Start(t)
	api, ctx := server.Client().Environments, t.Context()

	_, err := api.Create(ctx, "no spaces", signalbox.EnvironmentDraft{Color: new("red")})
	refusal, is := errors.AsType[*signalbox.APIError](err)
	if !is || !signalbox.IsValidation(err) || refusal.RequestID == "" || refusal.StatusCode != http.StatusBadRequest {
		t.Fatalf("got %v", err)
	}
	var pointers []string
	for _, entry := range refusal.Errors {
		pointers = append(pointers, *entry.Source.Pointer)
	}
	slices.Sort(pointers)
	if diff := testenv.Diff([]string{"/data/attributes/color", "/data/attributes/name", "/data/id"}, pointers); diff != "" {
		t.Error(diff)
	}
	_, err = api.List(ctx, signalbox.EnvironmentParams{Paging: signalbox.Paging{Size: 1001}})
	if refusal, is = errors.AsType[*signalbox.APIError](err); !is || refusal.Errors[0].Source.Parameter != "page[size]" {
		t.Errorf("got %v", err)
	}
	if _, err := server.ClientOf("sk_api_nobody").Account.Get(ctx); !signalbox.IsUnauthorized(err) {
		t.Errorf("got %v", err)
	}

	poor := server.ClientOf(server.Account("Poor", "free")).Environments
	if _, err := poor.Create(ctx, "two", signalbox.EnvironmentDraft{Name: "Two"}); err != nil {
		t.Fatal(err)
	}
	_, err = poor.Replace(ctx, "staging", signalbox.EnvironmentDraft{Name: "Staging", Managed: new(true)})
	refusal, _ = errors.AsType[*signalbox.APIError](err)
	limit, reached := refusal.Limit()
	want := signalbox.Limit{Key: "platform.managed_environments", Current: 2, Maximum: 2, Plan: "free", Product: "platform"}
	if !reached || limit != want {
		t.Errorf("got %+v, %v", limit, err)
	}
}

func TestAPIError_ServerRateLimit(t *testing.T) {
	t.Parallel()
	client, err := signalbox.New(servertest.Start(t, "SIGNALBOX_RATE_LIMIT=1").URL, ownerKey, signalbox.WithRetry(signalbox.RetryPolicy{}))
	if err != nil {
		t.Fatal(err)
	}
	for range 100 { // two of them come within a second, also on a busy machine
		if _, err = client.Account.Get(t.Context()); err != nil {
			break
		}
	}
	refusal, _ := errors.AsType[*signalbox.APIError](err)
	if !signalbox.IsRateLimited(err) || refusal.RetryAfter != time.Second {
		t.Errorf("got %v", err)
	}
}

func TestKeysAPI_Server(t *testing.T) {
	t.Parallel()
	server := servertest.Start(t)
	api, ctx := server.Client().Keys, t.Context()
	expiry := time.Now().Add(time.Hour).UTC().Truncate(time.Microsecond)
	made, err := api.Create(ctx, signalbox.KeyDraft{Name: "Reader", Role: signalbox.RoleViewer,
		Scopes: &signalbox.KeyScopes{Environments: []string{"staging"}}, ExpiresAt: &expiry})
	if err != nil || !strings.HasPrefix(made.Secret, "sk_api_") || made.Status != signalbox.KeyActive || !made.ExpiresAt.Equal(expiry) {
		t.Fatalf("made %+v, %v", made, err)
	}
	reader := server.ClientOf(made.Secret)
	if _, err := reader.Services.Create(ctx, "s", signalbox.ServiceDraft{}); !signalbox.IsForbidden(err) {
		t.Errorf("got %v", err)
	}

	got, err := api.Get(ctx, made.ID)
	if err != nil || got.Secret != "" || got.ETag != made.ETag || !slices.Equal(got.Scopes.Environments, []string{"staging"}) {
		t.Errorf("got %+v, %v", got, err)
	}
	renamed, err := api.Replace(ctx, made.ID, signalbox.KeyDraft{Name: "Renamed"}, signalbox.IfMatch(got.ETag))
	if err != nil || renamed.Name != "Renamed" || renamed.Role != signalbox.RoleViewer || renamed.Scopes.Environments == nil || renamed.ExpiresAt == nil {
		t.Errorf("to rename a key changed more: %+v, %v", renamed, err)
	}
	widened, err := api.Replace(ctx, made.ID, signalbox.KeyDraft{Name: "Wide", Scopes: &signalbox.KeyScopes{}, ExpiresAt: &time.Time{}})
	if err != nil || widened.Scopes.Environments != nil || widened.ExpiresAt != nil {
		t.Errorf("got %+v, %v", widened, err)
	}

	if found := collect(t, api.All(ctx, signalbox.KeyParams{})); len(found) != 2 {
		t.Errorf("%d keys", len(found))
	}
	for range 2 { // the second changes nothing
		if revoked, err := api.Revoke(ctx, made.ID); err != nil || revoked.Status != signalbox.KeyRevoked {
			t.Errorf("got %+v, %v", revoked, err)
		}
	}
	if _, err := reader.Account.Get(ctx); !signalbox.IsUnauthorized(err) {
		t.Errorf("a revoked key gets %v", err)
	}
	if err := api.Delete(ctx, made.ID); err != nil {
		t.Error(err)
	}
	if _, err := api.Get(ctx, made.ID); !signalbox.IsNotFound(err) {
		t.Errorf("got %v", err)
	}
}

func TestAccountAPI_Server(t *testing.T) {
	t.Parallel()
	client, ctx := servertest.Start(t).Client(), t.Context()
	account, err := client.Account.Get(ctx)
	if err != nil || account.Key != "default" || account.Plans["jobs"] != "pro" {
		t.Fatalf("got %+v, %v", account, err)
	}
	draft := account.Draft()
	draft.Name = "Acme"
	if account, err = client.Account.Replace(ctx, draft, signalbox.IfMatch(account.ETag)); err != nil || account.Name != "Acme" || account.Key != "default" {
		t.Errorf("got %+v, %v", account, err)
	}
	user, err := client.User.Get(ctx)
	if err != nil || user.Role != signalbox.RoleOwner || user.ID == "" {
		t.Errorf("got %+v, %v", user, err)
	}

	settings, err := client.Account.Settings(ctx)
	if err != nil || !slices.Equal(settings.EnvironmentOrder, []string{"staging", "production"}) || settings.ETag == "" {
		t.Fatalf("got %+v, %v", settings, err)
	}
	other := settings.Draft()
	other.EnvironmentOrder = []string{"production", "nowhere", "staging", "production"}
	other.Other = map[string]json.RawMessage{"theme": []byte(`{"z":1,"a":[2.50]}`)}
	replaced, err := client.Account.ReplaceSettings(ctx, other, signalbox.IfMatch(settings.ETag))
	if err != nil || !slices.Equal(replaced.EnvironmentOrder, []string{"production", "staging"}) || string(replaced.Other["theme"]) != `{"z":1,"a":[2.50]}` {
		t.Errorf("got %+v, %v", replaced, err)
	}

	own, err := client.User.ReplaceSettings(ctx, signalbox.SettingsDraft{EnvironmentOrder: []string{"staging"}})
	if err != nil || !slices.Equal(own.EnvironmentOrder, []string{"staging"}) || len(own.Other) != 0 {
		t.Errorf("got %+v, %v", own, err)
	}
	if _, err = client.User.ReplaceSettings(ctx, signalbox.SettingsDraft{}, signalbox.IfMatch(own.ETag)); err != nil {
		t.Error(err)
	}
	if own, err = client.User.Settings(ctx); err != nil || !slices.Equal(own.EnvironmentOrder, []string{"production", "staging"}) {
		t.Errorf("a user without an order does not follow the account: %+v, %v", own, err)
	}
}

// odd returns valid names of services with characters that are special in paths, queries or terminals.
func odd() []string {
	return []string{"a/b", "a b", "a+b", "100%", "%2F", "a?b#c", "a&b=c;d", "grün", "日本", `"q"\`, "...", ".a", "~", "a:b:c", "*", "<x>", "'"}
}

func TestServicesAPI_Server(t *testing.T) {
	t.Parallel()
	api, ctx := servertest.Start(t).Client().Services, t.Context()
	for _, id := range odd() {
		t.Run(id, func(t *testing.T) {
			made, err := api.Create(ctx, id, signalbox.ServiceDraft{})
			if err != nil || made.ID != id || made.Name != id {
				t.Errorf("made %+v, %v", made, err)
				return
			}
			if got, err := api.Get(ctx, id); err != nil || got != made {
				t.Errorf("got %+v, %v", got, err)
			}
			named, err := api.Replace(ctx, id, signalbox.ServiceDraft{Name: "Named"}, signalbox.IfMatch(made.ETag))
			if err != nil || named.Name != "Named" {
				t.Errorf("replaced by %+v, %v", named, err)
			}
			if page, err := api.List(ctx, signalbox.ServiceParams{Search: id}); err != nil || len(page.Items) == 0 {
				t.Errorf("found %+v, %v", page, err)
			}
			if err := api.Delete(ctx, id, signalbox.IfMatch(named.ETag)); err != nil {
				t.Error(err)
			}
		})
	}
	for service, err := range api.All(ctx, signalbox.ServiceParams{}) {
		t.Errorf("left %+v, %v", service, err)
	}
}

func TestContextsAPI_Server(t *testing.T) {
	t.Parallel()
	client, ctx := servertest.Start(t).Client(), t.Context()
	reported, err := client.Contexts.Report(ctx, []signalbox.ReportedContext{
		{Type: "user", Key: "alice", Attributes: map[string]any{"plan": "gold", "age": 42}},
		{Type: "user", Key: "a/b:c"},
		{Type: "", Key: "nobody"},
		{Type: "service", Key: "billing"},
		{Type: "environment", Key: "preview-7"},
		{Type: "user", Key: "alice", Attributes: map[string]any{"plan": "gold"}},
	})
	if err != nil || reported.Registered != 4 || len(reported.Rejected) != 1 || reported.Rejected[0].Index != 2 || reported.Rejected[0].Detail == "" {
		t.Fatalf("reported %+v, %v", reported, err)
	}
	if environment, err := client.Environments.Get(ctx, "preview-7"); err != nil || environment.Managed || environment.Classification != signalbox.ClassificationAdHoc {
		t.Errorf("got %+v, %v", environment, err)
	}
	if _, err := client.Services.Get(ctx, "billing"); err != nil {
		t.Error(err)
	}

	odd, err := client.Contexts.Get(ctx, signalbox.ContextID("user", "a/b:c"))
	if err != nil || odd.Type != "user" || odd.Key != "a/b:c" || odd.Attributes == nil {
		t.Errorf("got %+v, %v", odd, err)
	}
	alice, err := client.Contexts.Get(ctx, "user:alice")
	if err != nil || string(alice.Attributes["plan"]) != `"gold"` {
		t.Errorf("got %+v, %v", alice, err)
	}
	draft := alice.Draft()
	draft.Name = "Alice"
	if alice, err = client.Contexts.Replace(ctx, alice.ID, draft, signalbox.IfMatch(alice.ETag)); err != nil || alice.Name != "Alice" {
		t.Errorf("got %+v, %v", alice, err)
	}
	if found := collect(t, client.Contexts.All(ctx, signalbox.ContextParams{Type: "user", Search: "ALI"})); len(found) != 1 {
		t.Errorf("found %+v", found)
	}

	kind, err := client.ContextTypes.Get(ctx, "user")
	if err != nil || kind.Attributes["plan"] == nil {
		t.Errorf("got %+v, %v", kind, err)
	}
	kind, err = client.ContextTypes.Replace(ctx, "user", signalbox.ContextTypeDraft{Name: "People"}, signalbox.IfMatch(kind.ETag))
	if err != nil || kind.Name != "People" || len(kind.Attributes) != 0 {
		t.Errorf("got %+v, %v", kind, err)
	}
	if found := collect(t, client.ContextTypes.All(ctx, signalbox.ContextTypeParams{Search: "peop"})); len(found) != 1 || found[0].ID != "user" {
		t.Errorf("found %+v", found)
	}
	if err := client.Contexts.Delete(ctx, alice.ID); err != nil {
		t.Error(err)
	}
	if err := client.ContextTypes.Delete(ctx, "user"); err != nil {
		t.Error(err)
	}
	if _, err := client.Contexts.Get(ctx, odd.ID); !signalbox.IsNotFound(err) {
		t.Errorf("a context outlives its type: %v", err)
	}
}

func TestChangesAPI_Server(t *testing.T) {
	t.Parallel()
	client, ctx := servertest.Start(t, "SIGNALBOX_PUBLIC_URL=https://signalbox.example.com/base").Client(), t.Context()
	for i := range 5 {
		if _, err := client.Services.Create(ctx, fmt.Sprintf("s%d", i), signalbox.ServiceDraft{}); err != nil {
			t.Fatal(err)
		}
	}
	var numbers []int64
	for change, err := range client.Changes.All(ctx, signalbox.ChangeParams{Size: 2}) {
		if err != nil {
			t.Fatal(err)
		}
		number, err := strconv.ParseInt(change.ID, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		numbers = append(numbers, number)
	}
	if len(numbers) < 6 || numbers[len(numbers)-1] != 1 {
		t.Fatalf("got %v", numbers)
	}
	for i := range numbers[1:] {
		if numbers[i+1] != numbers[i]-1 {
			t.Errorf("a change is missing or out of order: %v", numbers)
		}
	}
	last, err := client.Changes.Get(ctx, numbers[0])
	if err != nil || last.Kind != "service" || last.Key != "s4" || last.Action != "created" || last.Actor.Type != "api_key" || string(last.Before) != "null" {
		t.Errorf("got %+v, %v", last, err)
	}
	page, err := client.Changes.List(ctx, signalbox.ChangeParams{Resource: "service:s3", Actor: last.Actor.ID, From: last.CreatedAt.Add(-time.Hour), To: last.CreatedAt})
	if err != nil || len(page.Items) != 1 || page.Items[0].Key != "s3" || page.Next != "" || page.Size != 50 {
		t.Errorf("got %+v, %v", page, err)
	}
	if _, err := client.Changes.Get(ctx, 1<<40); !signalbox.IsNotFound(err) {
		t.Errorf("got %v", err)
	}
	reverted, err := client.Changes.Revert(ctx, numbers[0])
	if err != nil || reverted.Action != "deleted" || *reverted.Reverts != numbers[0] || len(reverted.Diff) != 1 || reverted.Diff[0].Op != "replace" {
		t.Errorf("got %+v, %v", reverted, err)
	}
	if _, err := client.Changes.Revert(ctx, numbers[0]); !signalbox.IsChangedSince(err) {
		t.Errorf("got %v", err)
	}
	if _, err := client.Changes.ForceRevert(ctx, numbers[0]); !signalbox.IsNotFound(err) { // there is nothing to delete
		t.Errorf("got %v", err)
	}
	if _, err := client.Changes.Revert(ctx, 1); !signalbox.IsNotRevertible(err) {
		t.Errorf("got %v", err)
	}
}

func TestDraft_ServerKeepsResource(t *testing.T) {
	t.Parallel()
	client, ctx := servertest.Start(t).Client(), t.Context()
	expiry := time.Now().Add(time.Hour).UTC().Truncate(time.Microsecond)
	key, err := client.Keys.Create(ctx, signalbox.KeyDraft{Name: "K", Scopes: &signalbox.KeyScopes{Environments: []string{"staging"}}, ExpiresAt: &expiry})
	if err != nil {
		t.Fatal(err)
	}
	key.Secret = ""
	service, err := client.Services.Create(ctx, "s", signalbox.ServiceDraft{Name: "S"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.Contexts.Report(ctx, []signalbox.ReportedContext{{Type: "user", Key: "a", Attributes: map[string]any{"plan": 1}}}); err != nil {
		t.Fatal(err)
	}
	kind, err := client.ContextTypes.Get(ctx, "user")
	if err != nil {
		t.Fatal(err)
	}
	user, err := client.Contexts.Get(ctx, "user:a")
	if err != nil {
		t.Fatal(err)
	}
	staging, err := client.Environments.Get(ctx, "staging")
	if err != nil {
		t.Fatal(err)
	}

	sameKey, err := client.Keys.Replace(ctx, key.ID, key.Draft())
	same(t, key, sameKey, err)
	sameService, err := client.Services.Replace(ctx, "s", service.Draft())
	same(t, service, sameService, err)
	sameKind, err := client.ContextTypes.Replace(ctx, "user", kind.Draft())
	same(t, kind, sameKind, err)
	sameUser, err := client.Contexts.Replace(ctx, "user:a", user.Draft())
	same(t, user, sameUser, err)
	sameStaging, err := client.Environments.Replace(ctx, "staging", staging.Draft())
	same(t, staging, sameStaging, err)
}

// same compares resources, ignoring what every write changes.
func same[T any](t *testing.T, before, after T, err error) {
	t.Helper()
	for _, each := range []reflect.Value{reflect.ValueOf(&before).Elem(), reflect.ValueOf(&after).Elem()} {
		each.FieldByName("ETag").SetZero()
		each.FieldByName("UpdatedAt").SetZero()
	}
	if diff := testenv.Diff(before, after); diff != "" || err != nil {
		t.Error(err, diff)
	}
}

func TestMetricsAPI_Server(t *testing.T) {
	t.Parallel()
	client := servertest.Start(t).Client()
	if err := client.Metrics.Report(t.Context(), []signalbox.Metric{
		{Name: "flags.evaluations", Value: 17, Unit: "1", Period: time.Minute, Dimensions: map[string]string{"flag": "x"}, RecordedAt: time.Now()},
		{Name: "flags.evaluations", Value: 3},
	}); err != nil {
		t.Error(err)
	}
}

func TestEventsAPI_Server(t *testing.T) {
	t.Parallel()
	server := servertest.Start(t)
	client, ctx := server.Client(), t.Context()
	declare := func(id string) {
		if _, err := client.Flags.Report(ctx, []signalbox.ReportedFlag{{ID: id, Type: flageval.Boolean, Default: []byte("true")}}); err != nil {
			t.Fatal(err)
		}
	}
	var since int64
	for event, err := range client.Events.Follow(ctx, signalbox.EventParams{}) {
		if err != nil {
			t.Fatal(err)
		}
		if event.Name == signalbox.EventConnected {
			declare("first")
			continue
		}
		if event.Name != signalbox.EventFlagsChanged || event.Seq == 0 {
			t.Errorf("got %+v", event)
		}
		since = event.Seq
		break
	}
	declare("second")
	var names []string
	for event, err := range client.Events.Follow(ctx, signalbox.EventParams{Since: &since}) {
		if err != nil {
			t.Fatal(err)
		}
		if names = append(names, event.Name+" "+strconv.FormatBool(event.Resumed)); len(names) == 2 {
			break
		}
	}
	if diff := testenv.Diff([]string{"connected true", "flags_changed false"}, names); diff != "" {
		t.Error(diff)
	}
	for _, err := range server.ClientOf("sk_api_nobody").Events.Follow(ctx, signalbox.EventParams{}) {
		if !signalbox.IsUnauthorized(err) {
			t.Errorf("got %v", err)
		}
	}
}
