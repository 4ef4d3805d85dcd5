package signalbox_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"testing"

	signalbox "github.com/signalbox/signalbox/client"
	"github.com/signalbox/signalbox/client/flageval"
	"github.com/signalbox/signalbox/client/internal/servertest"
	"github.com/signalbox/signalbox/client/internal/testenv"
	"github.com/signalbox/signalbox/client/jsonlogic"
)

// forGold returns a STRING flag that serves "new" to the plan gold in production.
func forGold() signalbox.FlagDraft {
	return signalbox.FlagDraft{
		Description: new("The way to pay"), Type: flageval.String, Default: json.RawMessage(`"old"`),
		Values: []signalbox.FlagChoice{{Name: "Old", Value: json.RawMessage(`"old"`)}, {Name: "New", Value: json.RawMessage(`"new"`)}},
		Environments: map[string]flageval.Environment{"production": {Enabled: true, Rules: []flageval.Rule{
			{Description: "Alice", Logic: json.RawMessage(`{"==":[{"var":"user.key"},"alice"]}`), Value: json.RawMessage(`"new"`)},
			{Description: "Gold", Logic: json.RawMessage(`{"==":[{"var":"user.plan"},"gold"]}`), Value: json.RawMessage(`"new"`)},
		}}},
	}
}

func TestFlagsAPI_Server(t *testing.T) {
	t.Parallel()
	api, ctx := servertest.Start(t).Client().Flags, t.Context()
	made, err := api.Create(ctx, "checkout-v2", forGold())
	if err != nil || made.ID != "checkout-v2" || made.ETag == "" || made.Name == "" || !made.Managed || made.Type != flageval.String ||
		string(made.Default) != `"old"` || len(made.Values) != 2 || len(made.Environments["production"].Rules) != 2 || made.LastSeen != nil {
		t.Fatalf("made %+v, %v", made, err)
	}
	got, err := api.Get(ctx, made.ID)
	if diff := testenv.Diff(made, got); diff != "" || err != nil {
		t.Error(err, diff)
	}
	if _, err := api.Create(ctx, made.ID, made.Draft()); !signalbox.IsAlreadyExists(err) {
		t.Errorf("got %v", err)
	}
	if _, err := api.Create(ctx, "bad", signalbox.FlagDraft{Type: flageval.Boolean}); !signalbox.IsValidation(err) {
		t.Errorf("got %v", err)
	}
	again, err := api.Replace(ctx, made.ID, made.Draft(), signalbox.IfMatch(made.ETag))
	same(t, made, again, err)

	draft := made.Draft()
	draft.Name, draft.Description, draft.Values = "", nil, nil
	draft.Environments = map[string]flageval.Environment{"production": {Default: json.RawMessage(`"none"`)}}
	changed, err := api.Replace(ctx, made.ID, draft, signalbox.IfMatch(again.ETag))
	if err != nil || changed.Name != made.Name || changed.Description != nil || changed.Values != nil || changed.Environments["production"].Enabled {
		t.Errorf("changed %+v, %v", changed, err)
	}
	if _, err := api.Replace(ctx, made.ID, draft, signalbox.IfMatch(made.ETag)); !signalbox.IsVersionMismatch(err) {
		t.Errorf("got %v", err)
	}
	draft.Managed = new(false)
	if _, err := api.Replace(ctx, made.ID, draft); !signalbox.IsFlagDemotion(err) {
		t.Errorf("got %v", err)
	}
	draft.Managed, draft.Environments = nil, map[string]flageval.Environment{"staging": {Enabled: true}}
	if _, err := api.Replace(ctx, made.ID, draft); !signalbox.IsEnvironmentUnmanaged(err) {
		t.Errorf("got %v", err)
	}
	if err := api.Delete(ctx, made.ID, signalbox.IfMatch(changed.ETag)); err != nil {
		t.Error(err)
	}
	if _, err := api.Get(ctx, made.ID); !signalbox.IsNotFound(err) {
		t.Errorf("got %v", err)
	}
}

func TestFlagsAPI_ServerFilters(t *testing.T) {
	t.Parallel()
	api, ctx := servertest.Start(t).Client().Flags, t.Context()
	if _, err := api.Create(ctx, "checkout-v2", forGold()); err != nil {
		t.Fatal(err)
	}
	if _, err := api.Create(ctx, "banner", signalbox.FlagDraft{Type: flageval.JSON}); err != nil {
		t.Fatal(err)
	}
	if _, err := api.Report(ctx, []signalbox.ReportedFlag{{ID: "declared", Type: flageval.Boolean, Default: json.RawMessage(`true`)}}); err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct {
		params signalbox.FlagParams
		want   []string
	}{
		"all":               {signalbox.FlagParams{Paging: signalbox.Paging{Size: 1}}, []string{"banner", "checkout-v2", "declared"}},
		"in another order":  {signalbox.FlagParams{Paging: signalbox.Paging{Sort: []string{"-key"}}}, []string{"declared", "checkout-v2", "banner"}},
		"search":            {signalbox.FlagParams{Search: "CHECK"}, []string{"checkout-v2"}},
		"of a type":         {signalbox.FlagParams{Type: flageval.JSON}, []string{"banner"}},
		"managed":           {signalbox.FlagParams{Managed: new(true)}, []string{"banner", "checkout-v2"}},
		"discovered":        {signalbox.FlagParams{Managed: new(false)}, []string{"declared"}},
		"about a context":   {signalbox.FlagParams{ReferencesContext: signalbox.ContextID("user", "alice")}, []string{"checkout-v2"}},
		"about another":     {signalbox.FlagParams{ReferencesContext: signalbox.ContextID("user", "bob")}, nil},
		"about its type":    {signalbox.FlagParams{ReferencesContextType: "user"}, []string{"checkout-v2"}},
		"about no such one": {signalbox.FlagParams{ReferencesContextType: "team"}, nil},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var ids []string
			for _, flag := range collect(t, api.All(ctx, test.params)) {
				ids = append(ids, flag.ID)
			}
			if !slices.Equal(ids, test.want) {
				t.Error(ids)
			}
		})
	}
	if _, err := api.List(ctx, signalbox.FlagParams{Type: "COLOR"}); !signalbox.IsInvalidParameter(err) {
		t.Errorf("got %v", err)
	}
}

func TestFlagsAPI_ServerReport(t *testing.T) {
	t.Parallel()
	api, ctx := servertest.Start(t).Client().Flags, t.Context()
	reported, err := api.Report(ctx, []signalbox.ReportedFlag{
		{ID: "limit", Type: flageval.Numeric, Default: json.RawMessage(`1.50`), Service: "shop", Environment: "production"},
		{ID: "limit", Type: flageval.String, Default: json.RawMessage(`"x"`), Service: "billing", Environment: "production"},
		{ID: "no spaces", Type: flageval.Boolean, Default: json.RawMessage(`true`)},
		{ID: "free", Type: flageval.JSON},
	})
	if err != nil || len(reported.Rejected) != 1 || reported.Rejected[0].Index != 2 || reported.Rejected[0].Detail == "" || reported.Registered == 0 {
		t.Fatalf("reported %+v, %v", reported, err)
	}
	found, err := api.Get(ctx, "limit")
	if err != nil || found.Managed || found.Type != flageval.Numeric || found.LastSeen == nil || len(found.Environments) != 0 {
		t.Fatalf("found %+v, %v", found, err)
	}
	for id, want := range map[string]int{"": 3, "limit": 2, "free": 1} {
		t.Run(fmt.Sprintf("%q", id), func(t *testing.T) {
			if found := collect(t, api.AllSources(ctx, id, signalbox.SourceParams{Paging: signalbox.Paging{Size: 1}})); len(found) != want {
				t.Errorf("%q: %+v", id, found)
			}
		})
	}
	page, err := api.Sources(ctx, "limit", signalbox.SourceParams{Service: "billing", Environment: "production"})
	if err != nil || len(page.Items) != 1 || page.Items[0].Flag != "limit" || page.Items[0].DeclaredType != flageval.String ||
		string(page.Items[0].DeclaredDefault) != `"x"` || page.Items[0].LastSeen.Before(page.Items[0].FirstObserved) {
		t.Errorf("listed %+v, %v", page, err)
	}
	if _, err := api.Sources(ctx, "nothing", signalbox.SourceParams{}); !signalbox.IsNotFound(err) {
		t.Errorf("got %v", err)
	}

	draft := found.Draft()
	draft.Environments = map[string]flageval.Environment{"production": {Enabled: true, Default: json.RawMessage(`2`)}}
	if _, err := api.Replace(ctx, found.ID, draft); !signalbox.IsFlagUnmanaged(err) {
		t.Errorf("got %v", err)
	}
	draft.Managed = new(true)
	if promoted, err := api.Replace(ctx, found.ID, draft, signalbox.IfMatch(found.ETag)); err != nil || !promoted.Managed {
		t.Errorf("promoted %+v, %v", promoted, err)
	}
}

func TestFlagsAPI_ServerEvaluate(t *testing.T) {
	t.Parallel()
	api, ctx := servertest.Start(t).Client().Flags, t.Context()
	made, err := api.Create(ctx, "checkout-v2", forGold())
	if err != nil {
		t.Fatal(err)
	}
	gold := map[string]any{"user": map[string]any{"key": "bob", "plan": "gold"}}
	decided, err := api.Evaluate(ctx, made.ID, "production", gold)
	if err != nil || decided.ID != made.ID || decided.Environment != "production" || string(decided.Value) != `"new"` ||
		decided.Reason != flageval.TargetingMatch || decided.Rule == nil || *decided.Rule != 1 {
		t.Fatalf("decided %+v, %v", decided, err)
	}
	rules := decided.Explanation.Rules
	if len(rules) != 2 || rules[0].Matched || !rules[0].Evaluated || !rules[1].Matched || rules[1].Description != "Gold" ||
		rules[1].Logic.Operator != "==" || rules[1].Logic.Arguments[0].Result.String() != "gold" {
		t.Errorf("explained %+v", decided.Explanation)
	}
	for environment, want := range map[string]flageval.Reason{"production": flageval.Default, "staging": flageval.Static} {
		t.Run(environment, func(t *testing.T) {
			decided, err := api.Evaluate(ctx, made.ID, environment, nil)
			if err != nil || string(decided.Value) != `"old"` || decided.Reason != want || decided.Rule != nil {
				t.Errorf("%+v, %v", decided, err)
			}
		})
	}
	nobody, err := api.Evaluate(ctx, made.ID, "production", map[string]any{})
	if err != nil {
		t.Fatal(err)
	}
	if missing := nobody.Explanation.Rules[0].Logic.Arguments[0].Result; missing.Kind() != jsonlogic.KindNull {
		t.Errorf("what the context lacks is %v", missing)
	}
	if _, err := api.Evaluate(ctx, made.ID, "nowhere", nil); !signalbox.IsValidation(err) {
		t.Errorf("got %v", err)
	}
	if _, err := api.Evaluate(ctx, "nothing", "production", nil); !signalbox.IsNotFound(err) {
		t.Errorf("got %v", err)
	}

	// Local evaluation has the same result.
	context, err := jsonlogic.Parse([]byte(`{"user":{"key":"bob","plan":"gold"}}`))
	if err != nil {
		t.Fatal(err)
	}
	local, explanation := flageval.Compile(made.Definition()).Explain("production", context)
	if string(local.Raw()) != string(decided.Value) || local.Reason != decided.Reason || local.Rule != *decided.Rule {
		t.Errorf("decided %+v here and %+v there", local, decided)
	}
	here, err := json.Marshal(explanation)
	if err != nil {
		t.Fatal(err)
	}
	if there, err := json.Marshal(decided.Explanation); err != nil || string(here) != string(there) {
		t.Errorf("explained by %s here and by %s there, %v", here, there, err)
	}
}

func TestFlagsAPI_ServerRuleLimit(t *testing.T) {
	t.Parallel()
	server := servertest.Start(t)
	api := server.ClientOf(server.Account("Poor", "free")).Flags
	draft := forGold()
	production := draft.Environments["production"]
	production.Rules = slices.Repeat(production.Rules, 3)
	draft.Environments["production"] = production
	_, err := api.Create(t.Context(), "checkout-v2", draft)
	refusal, _ := errors.AsType[*signalbox.APIError](err)
	if !signalbox.IsLimitReached(err) {
		t.Fatalf("got %v", err)
	}
	if limit, _ := refusal.Limit(); limit != (signalbox.Limit{Key: "flags.rules", Current: 6, Maximum: 5, Plan: "free"}) {
		t.Errorf("got %+v", limit)
	}
}
