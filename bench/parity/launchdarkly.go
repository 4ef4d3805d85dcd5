package main

import (
	"context"
	"encoding/json"

	"github.com/launchdarkly/go-sdk-common/v3/ldcontext"
	"github.com/launchdarkly/go-sdk-common/v3/ldvalue"
	evaluation "github.com/launchdarkly/go-server-sdk-evaluation/v3"
	"github.com/launchdarkly/go-server-sdk-evaluation/v3/ldmodel"
)

// darklyFlags are flags as LaunchDarkly sends them to its SDKs.
type darklyFlags map[string]*ldmodel.FeatureFlag

func (d darklyFlags) GetFeatureFlag(key string) *ldmodel.FeatureFlag { return d[key] }

func (d darklyFlags) GetSegment(string) *ldmodel.Segment { return nil }

// openLaunchDarkly converts the answer of the REST API to the flags that SDKs get: the configuration of one
// environment, with the flag's key and variations.
func openLaunchDarkly(_ context.Context, export []byte) (evaluator, error) {
	var list struct {
		Items []struct {
			Key          string
			Variations   []struct{ Value any }
			Environments map[string]map[string]any
		}
	}
	if err := json.Unmarshal(export, &list); err != nil {
		return nil, err
	}
	flags := darklyFlags{}
	for _, item := range list.Items {
		flag := item.Environments["production"]
		var values []any
		for _, each := range item.Variations {
			values = append(values, each.Value)
		}
		flag["key"], flag["version"], flag["variations"] = item.Key, 1, values
		text, err := json.Marshal(flag)
		if err != nil {
			return nil, err
		}
		made, err := ldmodel.NewJSONDataModelSerialization().UnmarshalFeatureFlag(text)
		if err != nil {
			return nil, err
		}
		flags[item.Key] = &made
	}
	return flags.evaluate(), nil
}

func (d darklyFlags) evaluate() evaluator {
	evaluator := evaluation.NewEvaluator(d)
	return func(user attributes) (map[string]any, error) {
		values := map[string]any{}
		for key, flag := range d {
			result := evaluator.Evaluate(flag, darklyContext(user), nil)
			if !result.Detail.IsDefaultValue() {
				values[key] = result.Detail.Value.AsArbitraryValue()
			}
		}
		return values, nil
	}
}

// darklyContext returns a context with the user and, if there is one, the company.
func darklyContext(user attributes) ldcontext.Context {
	builder := ldcontext.NewBuilder(user["key"].(string))
	for name, value := range user {
		if name != "key" && name != "company" {
			builder.SetValue(name, ldvalue.CopyArbitraryValue(plain(value)))
		}
	}
	company, has := user["company"].(attributes)
	if !has {
		return builder.Build()
	}
	other := ldcontext.NewBuilder(company["key"].(string)).Kind("company")
	for name, value := range company {
		if name != "key" {
			other.SetValue(name, ldvalue.CopyArbitraryValue(plain(value)))
		}
	}
	return ldcontext.NewMulti(builder.Build(), other.Build())
}
