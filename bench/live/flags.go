package live

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/launchdarkly/go-sdk-common/v3/ldcontext"
	"github.com/launchdarkly/go-sdk-common/v3/ldlog"
	"github.com/launchdarkly/go-sdk-common/v3/ldvalue"
	"github.com/launchdarkly/go-server-sdk-evaluation/v3/ldbuilders"
	"github.com/launchdarkly/go-server-sdk-evaluation/v3/ldmodel"
	ld "github.com/launchdarkly/go-server-sdk/v7"
	"github.com/launchdarkly/go-server-sdk/v7/ldcomponents"
	"github.com/launchdarkly/go-server-sdk/v7/testhelpers/ldtestdata"
	"github.com/open-feature/go-sdk/openfeature"
	"github.com/open-feature/go-sdk/openfeature/memprovider"

	"github.com/signalbox/signalbox/bench/compare"
	signalbox "github.com/signalbox/signalbox/client"
	"github.com/signalbox/signalbox/client/flageval"
	"github.com/signalbox/signalbox/client/jsonlogic"
	"github.com/signalbox/signalbox/client/live"
)

const (
	key       = "checkout-v2"
	threeRule = `{"and": [{"==": [{"var": "user.plan"}, "pro"]}, {">=": [{"var": "user.age"}, 18]},
		{"in": [{"var": "user.country"}, ["DE", "FR", "BE", "AT", "NL"]]}]}`
)

func countries() []string { return []string{"DE", "FR", "BE", "AT", "NL"} }

// snapshot returns a thousand flags with the rule. Snapshots with different versions differ in every flag.
func snapshot(version int) signalbox.Snapshot {
	s := signalbox.Snapshot{Resource: signalbox.Resource{ID: "production"}}
	for i := range 1000 {
		name := fmt.Sprint("flag-", i)
		if i == 500 {
			name = key
		}
		s.Flags = append(s.Flags, signalbox.Flag{Resource: signalbox.Resource{ID: name}, Type: flageval.Boolean, Default: []byte("false"),
			Environments: map[string]flageval.Environment{"production": {Enabled: true, Rules: []flageval.Rule{
				{Description: fmt.Sprint(version), Logic: []byte(threeRule), Value: []byte("true")}}}}})
	}
	return s
}

// request returns a context for which the rule matches.
func request() context.Context {
	return live.WithContext(context.Background(), live.User("u-1234", live.Attr("email", "ada@example.com"), live.Attr("plan", "pro"),
		live.Attr("age", 36), live.Attr("country", "NL")))
}

// Flags writes the cost of reading a flag with three conditions.
func Flags(_ context.Context, w io.Writer) error {
	rule, err := bareRule()
	if err != nil {
		return err
	}
	launchDarkly, stop, err := launchDarklyRead()
	if err != nil {
		return err
	}
	defer stop()
	inMemory, err := inMemoryRead()
	if err != nil {
		return err
	}
	list := []struct {
		name string
		read func() bool
	}{
		{"signalbox, the bare rule", rule}, {"signalbox live, Get", boxRead(request())}, {"signalbox live, WithContext and Get", boxPrepare()},
		{"LaunchDarkly, BoolVariation", launchDarkly}, {"OpenFeature in-memory", inMemory},
	}
	var contenders []compare.Contender
	for _, each := range list {
		if !each.read() {
			return errors.New(each.name + " does not match")
		}
		contenders = append(contenders, compare.Contender{Name: each.name, Call: func() { each.read() }})
	}
	return compare.Report(w, "a flag of three conditions", compare.Measure(contenders))
}

func bareRule() (func() bool, error) {
	rule, err := jsonlogic.Compile([]byte(threeRule), jsonlogic.FlagKey(key))
	if err != nil {
		return nil, err
	}
	data, err := jsonlogic.Parse([]byte(`{"user":{"email":"ada@example.com","plan":"pro","age":36,"country":"NL","key":"u-1234"},"service":{"key":"checkout"}}`))
	return func() bool { return rule.Decide(data).Matched }, err
}

func boxRead(ctx context.Context) func() bool {
	box, _ := live.Static(snapshot(0))
	flag := box.Bool(key, false)
	return func() bool { return flag.Get(ctx) }
}

// boxPrepare returns a request that reads one flag.
func boxPrepare() func() bool {
	box, _ := live.Static(snapshot(0))
	flag := box.Bool(key, false)
	return func() bool { return flag.Get(request()) }
}

// launchDarklyRead returns a read with LaunchDarkly's client. Its data is in memory, and it sends no events, which would cost more.
func launchDarklyRead() (read func() bool, stop func(), err error) {
	clause := func(attribute string, operator ldmodel.Operator, values ...ldvalue.Value) ldmodel.Clause {
		return ldbuilders.Clause(attribute, operator, values...)
	}
	var listed []ldvalue.Value
	for _, each := range countries() {
		listed = append(listed, ldvalue.String(each))
	}
	flag := ldbuilders.NewFlagBuilder(key).On(true).Variations(ldvalue.Bool(false), ldvalue.Bool(true)).OffVariation(0).FallthroughVariation(0).
		AddRule(ldbuilders.NewRuleBuilder().ID("r").Variation(1).Clauses(clause("plan", ldmodel.OperatorIn, ldvalue.String("pro")),
			clause("age", ldmodel.OperatorGreaterThanOrEqual, ldvalue.Int(18)), clause("country", ldmodel.OperatorIn, listed...))).Build()
	data := ldtestdata.DataSource()
	data.UsePreconfiguredFlag(flag)
	client, err := ld.MakeCustomClient("sdk-key", ld.Config{DataSource: data, Events: ldcomponents.NoEvents(),
		Logging: ldcomponents.Logging().MinLevel(ldlog.None), DiagnosticOptOut: true}, 0)
	if err != nil && client == nil {
		return nil, nil, err
	}
	who := ldcontext.NewBuilder("u-1234").SetString("email", "ada@example.com").SetString("plan", "pro").SetInt("age", 36).SetString("country", "NL").Build()
	read = func() bool {
		value, _ := client.BoolVariation(key, who, false)
		return value
	}
	return read, func() { _ = client.Close() }, nil
}

// inMemoryRead returns a read through OpenFeature's client and its provider for tests, whose rule is Go code.
func inMemoryRead() (func() bool, error) {
	decide := func(flag memprovider.InMemoryFlag, c openfeature.FlattenedContext) (any, openfeature.ProviderResolutionDetail) {
		plan, _ := c["plan"].(string)
		age, _ := c["age"].(int)
		country, _ := c["country"].(string)
		variant := flag.DefaultVariant
		if plan == "pro" && age >= 18 && slices.Contains(countries(), country) {
			variant = "on"
		}
		return flag.Variants[variant], openfeature.ProviderResolutionDetail{Reason: openfeature.TargetingMatchReason, Variant: variant}
	}
	provider := memprovider.NewInMemoryProvider(map[string]memprovider.InMemoryFlag{key: {Key: key, State: memprovider.Enabled, DefaultVariant: "off",
		Variants: map[string]any{"on": true, "off": false}, ContextEvaluator: &decide}})
	if err := openfeature.SetNamedProviderAndWait("bench", provider); err != nil {
		return nil, err
	}
	client := openfeature.NewClient("bench")
	who := openfeature.NewEvaluationContext("u-1234", map[string]any{"email": "ada@example.com", "plan": "pro", "age": 36, "country": "NL"})
	ctx := context.Background()
	return func() bool { return client.Boolean(ctx, key, false, who) }, nil
}
