package api

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/signalbox/signalbox/client/flageval"
	"github.com/signalbox/signalbox/client/jsonlogic"
	"github.com/signalbox/signalbox/internal/fault"
	"github.com/signalbox/signalbox/internal/flags"
	"github.com/signalbox/signalbox/internal/jsonapi"
	"github.com/signalbox/signalbox/internal/observations"
	"github.com/signalbox/signalbox/internal/optional"
	"github.com/signalbox/signalbox/internal/page"
)

func flagResource() resource[flags.Flag, flags.Draft, flags.Filter] {
	return describe(flags.Kind, func(flag flags.Flag) (string, any) { return flag.Key, flag }, flagFilter, flagDraft)
}

func flagSourceResource() resource[flags.Source, none, flags.SourceFilter] {
	return describe(flags.KindSource, func(source flags.Source) (string, any) { return source.ID, source }, flagSourceFilter, noDraft)
}

func flagSourceFilter(c *call) flags.SourceFilter {
	return flags.SourceFilter{Flag: c.id, Service: c.query.Filter("service").Or(""), Environment: c.query.Filter("environment").Or("")}
}

func flagFilter(c *call) flags.Filter {
	return flags.Filter{
		Search:     c.query.Search(),
		Type:       string(oneOf(c, "type", flageval.Boolean, flageval.String, flageval.Numeric, flageval.JSON)),
		Managed:    c.query.FilterBool("managed"),
		References: flagReferences(c),
		Stale:      c.query.FilterBool("stale"),
	}
}

// flagReferences reads the filters by references of rules; a flag must match all.
func flagReferences(c *call) []flags.Reference {
	var wanted []flags.Reference
	if contextType, sent := c.query.Filter("references_context_type").Get(); sent {
		wanted = append(wanted, flags.Reference{ContextType: contextType})
	}
	if reference, sent := c.query.Filter("references_context").Get(); sent {
		contextType, key, _ := strings.Cut(reference, ":")
		if contextType == "" || key == "" {
			c.query.Refuse("references_context", "must be type:key, such as user:alice")
		}
		wanted = append(wanted, flags.Reference{ContextType: contextType, ContextKey: key})
	}
	return wanted
}

func flagDraft(envelope *jsonapi.Envelope) flags.Draft {
	attributes := envelope.Attributes
	draft := flags.Draft{
		Key:          envelope.ID,
		Name:         attributes.String("name"),
		Description:  attributes.String("description"),
		Type:         attributes.String("type"),
		Default:      attributes.Raw("default"),
		Values:       flagValues(attributes),
		Managed:      attributes.Bool("managed"),
		Environments: flagEnvironments(attributes),
		Restores:     envelope.Restores,
	}
	draft.Problems = envelope.Done()
	return draft
}

// flagValues reads the choices. An object with exactly name and value is a
// labeled choice; anything else is a bare value, named by its JSON text.
func flagValues(attributes *jsonapi.Object) optional.Value[[]flags.Choice] {
	items, sent := attributes.Array("values").Get()
	if !sent {
		return optional.Value[[]flags.Choice]{}
	}
	choices := make([]flags.Choice, len(items))
	for i, item := range items {
		choices[i] = flagChoice(item)
		if rule := jsonapi.BrokenDepth(choices[i].Value); rule != "" {
			attributes.Problems().Attribute("values/"+strconv.Itoa(i), "%s", rule)
		}
	}
	return optional.Of(choices)
}

func flagChoice(item json.RawMessage) flags.Choice {
	if object, isObject := jsonapi.ParseItem(item); isObject && len(object.Names()) == 2 {
		name, named := object.String("name").Get()
		value, valued := object.RawOrNull("value")
		if named && valued {
			return flags.Choice{Name: name, Value: value}
		}
	}
	return flags.Choice{Name: string(item), Value: item}
}

func flagEnvironments(attributes *jsonapi.Object) map[string]flags.Environment {
	environments := map[string]flags.Environment{}
	eachObject(attributes, "environments", `{"enabled": true, "rules": []}`, func(key string, entry *jsonapi.Object) {
		environments[key] = flags.Environment{
			Enabled: entry.Bool("enabled").Or(true),
			Default: entry.Raw("default").Or(nil),
			Rules:   flagRules(entry),
		}
	})
	return environments
}

// exampleLogic is the example of a rule in error texts.
const exampleLogic = `{"==": [{"var": "user.plan"}, "pro"]}`

func flagRules(entry *jsonapi.Object) []flags.Rule {
	rules := []flags.Rule{}
	for _, rule := range entry.Items("rules", `{"logic": `+exampleLogic+`, "value": true}`) {
		value, valued := rule.RawOrNull("value")
		if !valued {
			rule.Refuse("value", "is required")
		}
		logic, present := rule.DeepObject("logic", exampleLogic).Get()
		if !present {
			rule.Refuse("logic", "is required and must be a JSON Logic expression such as "+exampleLogic)
		}
		rules = append(rules, flags.Rule{Description: rule.String("description").Or(""), Logic: logic, Value: value})
	}
	return rules
}

func flagDeclaration(item *jsonapi.Object) flags.Declaration {
	return flags.Declaration{
		Key:         item.String("id").Or(""),
		Type:        item.String("type").Or(""),
		Default:     item.Raw("default").Or(nil),
		Service:     item.String("service").Or(observations.Unknown),
		Environment: item.String("environment").Or(observations.Unknown),
	}
}

// outcome is the value that a flag serves and the reason.
type outcome struct {
	Value  json.RawMessage `json:"value"`
	Reason flageval.Reason `json:"reason"`
	Rule   *int            `json:"rule"`
}

func outcomeOf(decided flageval.Evaluation) outcome {
	made := outcome{Value: decided.Raw(), Reason: decided.Reason}
	if decided.Rule != flageval.NoRule {
		made.Rule = &decided.Rule
	}
	return made
}

// evaluation is the outcome of one flag in one environment, explained.
type evaluation struct {
	Environment string `json:"environment"`
	outcome
	Explanation *flageval.Explanation `json:"explanation"`
}

// evaluations are the outcomes of one flag by environment.
type evaluations struct {
	Environments map[string]outcome `json:"environments"`
}

func (a *API) evaluateFlag(c *call) (reply, error) {
	body, err := c.evaluationRequest()
	if err != nil {
		return reply{}, err
	}
	environment, context := body.String("environment").Or(""), evaluatedContext(body)
	if environment == "" {
		body.Refuse("environment", "is required")
	}
	if problems := c.done(); problems.Err() != nil {
		return reply{}, problems.Err()
	}
	snapshot, err := a.FlagSnapshots.Get(c.ctx(), c.caller.Account, c.caller.Version)
	if err != nil {
		return reply{}, err
	}
	flag, found := snapshot.Flag(c.id)
	if !found {
		return reply{}, fault.Missing("flag", c.id)
	}
	if missing := snapshot.MissingEnvironment(environment); missing != nil {
		return reply{}, missing.At(body.Place("environment"))
	}
	decided, explanation := flag.ExplainWithin(jsonlogic.NewSteps(flags.RequestSteps), environment, context)
	if decided.Code == flageval.General {
		return reply{}, errTooManySteps()
	}
	answer := evaluation{Environment: environment, outcome: outcomeOf(decided), Explanation: explanation}
	return one(http.StatusOK, jsonapi.Resource{ID: c.id, Type: "evaluation", Attributes: answer}, nil)
}

// evaluateFlags evaluates every flag for one context, in some environments or in all.
func (a *API) evaluateFlags(c *call) (reply, error) {
	request := c.query.Page()
	if err := c.query.Err(); err != nil {
		return reply{}, err
	}
	body, err := c.evaluationRequest()
	if err != nil {
		return reply{}, err
	}
	wanted, context := body.Strings("environments"), evaluatedContext(body)
	if problems := c.done(); problems.Err() != nil {
		return reply{}, problems.Err()
	}
	snapshot, err := a.FlagSnapshots.Get(c.ctx(), c.caller.Account, c.caller.Version)
	if err != nil {
		return reply{}, err
	}
	environments := slices.Compact(slices.Sorted(slices.Values(wanted.Or(snapshot.Environments()))))
	for _, environment := range environments {
		if missing := snapshot.MissingEnvironment(environment); missing != nil {
			return reply{}, missing.At(body.Place("environments"))
		}
	}
	steps, exhausted := jsonlogic.NewSteps(flags.RequestSteps), false
	answer := jsonapi.NewCollection(cutPage(snapshot.Keys(), request), request, func(key string) jsonapi.Resource {
		if exhausted || c.ctx().Err() != nil { // the answer is not sent
			return jsonapi.Resource{}
		}
		made := evaluations{make(map[string]outcome, len(environments))}
		for _, environment := range environments {
			decided := snapshot.Evaluate(steps, environment, key, context)
			exhausted = exhausted || decided.Code == flageval.General
			made.Environments[environment] = outcomeOf(decided)
		}
		return jsonapi.Resource{ID: key, Type: "evaluation", Attributes: made}
	})
	if exhausted {
		return reply{}, errTooManySteps()
	}
	if err := c.ctx().Err(); err != nil {
		return reply{}, err
	}
	return ok(answer)
}

// errTooManySteps refuses an evaluation whose rules take too long.
func errTooManySteps() error { return fault.New(fault.Validation, "%s", tooManySteps) }

// cutPage returns a page of a list that is in memory.
func cutPage[T any](items []T, request page.Request) page.List[T] {
	first := min(request.Offset(), len(items))
	return page.List[T]{Items: items[first:min(first+request.Size, len(items))], Total: len(items)}
}

// evaluationRequest returns the object with {environment, context}: the body, or
// the attributes of its envelope.
func (c *call) evaluationRequest() (*jsonapi.Object, error) {
	body, err := c.objectOrNothing()
	if err != nil {
		return nil, err
	}
	if data, sent := body.Object("data", `{"attributes": {}}`).Get(); sent {
		return data.Object("attributes", `{"environment": "production"}`).Or(body), nil
	}
	return body, nil
}

func evaluatedContext(body *jsonapi.Object) jsonlogic.Value {
	text := body.RawObject("context", `{"user": {"key": "alice"}}`).Or(json.RawMessage(`{}`))
	if len(text) > maxContext {
		body.Refuse("context", fmt.Sprintf("must have at most %d bytes", maxContext))
		return jsonlogic.Value{}
	}
	context, err := jsonlogic.Parse(text)
	if err != nil {
		body.Refuse("context", "cannot be read: "+err.Error())
	}
	return context
}
