package rules

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"

	diego "github.com/diegoholiveira/jsonlogic/v3"
	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/vm"
	growthbook "github.com/growthbook/growthbook-golang"
	"github.com/launchdarkly/go-sdk-common/v3/ldcontext"
	"github.com/launchdarkly/go-sdk-common/v3/ldvalue"
	ldeval "github.com/launchdarkly/go-server-sdk-evaluation/v3"
	"github.com/launchdarkly/go-server-sdk-evaluation/v3/ldbuilders"
	"github.com/launchdarkly/go-server-sdk-evaluation/v3/ldmodel"

	signalbox "github.com/signalbox/signalbox/client"
	"github.com/signalbox/signalbox/client/flageval"
	"github.com/signalbox/signalbox/client/jsonlogic"
	"github.com/signalbox/signalbox/client/live"
)

// contender prepares a scenario. It returns a function that decides once and reports whether the rule matched.
type contender struct {
	name    string
	prepare func(scenario, User) (func() bool, error)
}

// The names of Signalbox's two rows. All others are compared with the first.
const (
	ours  = "signalbox rule"
	typed = "signalbox typed read"
)

func contenders() []contender {
	return []contender{
		{ours, prepareRule},
		{typed, prepareTypedRead},
		{"diegoholiveira/jsonlogic", prepareDiego},
		{"LaunchDarkly evaluator", prepareLaunchDarkly},
		{"GrowthBook SDK", prepareGrowthBook},
		{"expr", prepareExpr},
	}
}

func prepareRule(s scenario, u User) (func() bool, error) {
	rule, err := jsonlogic.Compile([]byte(s.logic), jsonlogic.FlagKey("flag"))
	if err != nil {
		return nil, err
	}
	data, err := jsonlogic.Parse(contextJSON(u))
	return func() bool { return rule.Decide(data).Matched }, err
}

// prepareTypedRead reads a flag as an application does: from a box with a thousand flags, for the contexts of a request.
func prepareTypedRead(s scenario, u User) (func() bool, error) {
	const environment = "production"
	snapshot := signalbox.Snapshot{Resource: signalbox.Resource{ID: environment}}
	for i := range 1000 {
		snapshot.Flags = append(snapshot.Flags, signalbox.Flag{
			Resource: signalbox.Resource{ID: fmt.Sprintf("flag-%d", i)}, Type: flageval.Boolean, Default: json.RawMessage("false"),
			Environments: map[string]flageval.Environment{environment: {
				Enabled: true,
				Rules:   []flageval.Rule{{Logic: json.RawMessage(s.logic), Value: json.RawMessage("true")}},
			}},
		})
	}
	box, _ := live.Static(snapshot)
	flag := box.Bool("flag-500", false)
	request := live.WithContext(context.Background(), live.User(u.Key, live.Attr("email", u.Email), live.Attr("plan", u.Plan),
		live.Attr("age", u.Age), live.Attr("country", u.Country)))
	return func() bool { return flag.Get(request) }, nil
}

func prepareDiego(s scenario, u User) (func() bool, error) {
	var rule, data any
	if err := json.Unmarshal([]byte(s.logic), &rule); err != nil {
		return nil, err
	}
	if err := json.Unmarshal(contextJSON(u), &data); err != nil {
		return nil, err
	}
	return func() bool {
		result, err := diego.ApplyInterface(rule, data) //nolint:staticcheck // it takes data that is decoded already, which is the fairer comparison
		return err == nil && result != nil && result != false
	}, nil
}

// noData returns no prerequisites and no segments, because these flags have none.
type noData struct{}

func (noData) GetFeatureFlag(string) *ldmodel.FeatureFlag { return nil }
func (noData) GetSegment(string) *ldmodel.Segment         { return nil }

func prepareLaunchDarkly(s scenario, u User) (func() bool, error) {
	flag := ldbuilders.NewFlagBuilder("flag").On(true).Version(1).
		Variations(ldvalue.Bool(false), ldvalue.Bool(true)).OffVariation(0).FallthroughVariation(0)
	for i, conditions := range s.rules {
		var clauses []ldmodel.Clause
		for _, c := range conditions {
			clauses = append(clauses, launchDarklyClause(c))
		}
		flag.AddRule(ldbuilders.NewRuleBuilder().ID(fmt.Sprint(i)).Variation(1).Clauses(clauses...))
	}
	built := flag.Build()
	who := ldcontext.NewBuilder(u.Key).SetString("email", u.Email).SetString("plan", u.Plan).
		SetFloat64("age", u.Age).SetString("country", u.Country).Build()
	evaluator := ldeval.NewEvaluator(noData{})
	return func() bool { return evaluator.Evaluate(&built, who, nil).Detail.Value.BoolValue() }, who.Err()
}

func launchDarklyClause(c condition) ldmodel.Clause {
	operator := ldmodel.OperatorIn
	if c.operator == atLeast {
		operator = ldmodel.OperatorGreaterThanOrEqual
	}
	values := make([]ldvalue.Value, len(c.values))
	for i, v := range c.values {
		values[i] = ldvalue.CopyArbitraryValue(v)
	}
	return ldbuilders.Clause(c.attribute, operator, values...)
}

func prepareGrowthBook(s scenario, u User) (func() bool, error) {
	var rules []any
	for _, conditions := range s.rules {
		all := map[string]any{}
		for _, c := range conditions {
			all[c.attribute] = growthBookCondition(c)
		}
		rules = append(rules, map[string]any{"condition": all, "force": true})
	}
	features, err := json.Marshal(map[string]any{"flag": map[string]any{"defaultValue": false, "rules": rules}})
	if err != nil {
		return nil, err
	}
	attributes := growthbook.Attributes{"id": u.Key, "email": u.Email, "plan": u.Plan, "age": u.Age, "country": u.Country}
	ctx := context.Background()
	client, err := growthbook.NewClient(ctx, growthbook.WithAttributes(attributes), growthbook.WithLogger(slog.New(slog.DiscardHandler)))
	if err != nil {
		return nil, err
	}
	return func() bool { return client.EvalFeature(ctx, "flag").On }, client.SetJSONFeatures(string(features))
}

func growthBookCondition(c condition) any {
	switch {
	case c.operator == atLeast:
		return map[string]any{"$gte": c.values[0]}
	case len(c.values) == 1:
		return c.values[0]
	}
	return map[string]any{"$in": c.values}
}

func prepareExpr(s scenario, u User) (func() bool, error) {
	program, err := expr.Compile(s.expr, expr.Env(Env{}))
	if err != nil {
		return nil, err
	}
	data := any(Env{User: u})
	machine := new(vm.VM)
	return func() bool {
		result, err := machine.Run(program, data)
		return err == nil && result != nil && result != false && result != ""
	}, nil
}
