package api

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/signalbox/signalbox/client/flageval"
	"github.com/signalbox/signalbox/client/jsonlogic"
	"github.com/signalbox/signalbox/internal/bulk"
	"github.com/signalbox/signalbox/internal/fault"
	"github.com/signalbox/signalbox/internal/flags"
	"github.com/signalbox/signalbox/internal/jsonapi"
	"github.com/signalbox/signalbox/internal/optional"
)

func flagResource(f flags.Flag) jsonapi.Resource {
	return jsonapi.Resource{ID: f.Key, Type: flags.Kind, Attributes: f}
}

func flagSourceResource(s flags.Source) jsonapi.Resource {
	return jsonapi.Resource{ID: s.ID, Type: flags.KindSource, Attributes: s}
}

func (a *API) flags(c *call) (reply, error) {
	filter := flags.Filter{
		Search:     c.query.Search(),
		Type:       c.flagType(),
		Managed:    c.query.FilterBool("managed"),
		References: c.flagReferences(),
	}
	request := c.query.Page()
	if err := c.query.Err(); err != nil {
		return failed(err)
	}
	list, err := a.Flags.Flags(c.ctx(), c.caller, filter, request)
	if err != nil {
		return failed(err)
	}
	return ok(jsonapi.NewCollection(list, request, flagResource))
}

func (c *call) flagType() string {
	text, sent := c.query.Filter("type").Get()
	if !sent {
		return ""
	}
	parsed, known := flags.ParseType(text)
	if !known {
		c.query.Refuse("type", "must be BOOLEAN, STRING, NUMERIC or JSON")
	}
	return string(parsed)
}

// flagReferences reads the filters on what rules refer to; both must hold.
func (c *call) flagReferences() []flags.Reference {
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

func (a *API) flag(c *call) (reply, error) {
	id, err := c.id("id")
	if err != nil {
		return failed(err)
	}
	flag, err := a.Flags.Flag(c.ctx(), c.caller, id)
	return read(flag, err, flagResource)
}

func (a *API) createFlag(c *call) (reply, error) {
	envelope, err := c.envelope(flags.Kind)
	if err != nil {
		return failed(err)
	}
	flag, err := a.Flags.Create(c.ctx(), c.caller, flagDraft(envelope))
	return created(flag, err, flagResource)
}

func (a *API) replaceFlag(c *call) (reply, error) {
	id, envelope, err := c.target(flags.Kind)
	if err != nil {
		return failed(err)
	}
	flag, err := a.Flags.Replace(c.ctx(), c.caller, id, flagDraft(envelope), ifMatch(c, flagResource))
	return read(flag, err, flagResource)
}

func (a *API) deleteFlag(c *call) (reply, error) {
	id, err := c.id("id")
	if err != nil {
		return failed(err)
	}
	return deleted(a.Flags.Delete(c.ctx(), c.caller, id, ifMatch(c, flagResource)))
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
	}
	draft.Problems = *envelope.Problems
	return draft
}

// flagValues reads the choices. An object with exactly name and value is
// labelled; anything else is a bare value, named by its JSON text.
func flagValues(attributes *jsonapi.Object) optional.Value[[]flags.Choice] {
	items, sent := attributes.Array("values").Get()
	if !sent {
		return optional.Value[[]flags.Choice]{}
	}
	choices := make([]flags.Choice, len(items))
	for i, item := range items {
		choices[i] = flagChoice(item)
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
	object, sent := attributes.Object("environments").Get()
	if !sent {
		return nil
	}
	environments := map[string]flags.Environment{}
	for _, key := range object.Names() {
		entry, sent := object.Object(key).Get()
		if !sent {
			if object.Object(key).IsNull() {
				object.Refuse(key, "must be an object")
			}
			continue
		}
		environments[key] = flags.Environment{
			Enabled: entry.Bool("enabled").Or(true),
			Default: entry.Raw("default").Or(nil),
			Rules:   flagRules(entry),
		}
	}
	return environments
}

func flagRules(entry *jsonapi.Object) []flags.Rule {
	rules := []flags.Rule{}
	for _, rule := range entry.Items("rules") {
		value, valued := rule.RawOrNull("value")
		if !valued {
			rule.Refuse("value", "is required")
		}
		logic, present := rule.RawObject("logic").Get()
		if !present {
			rule.Refuse("logic", "is required and must be an object: a JSON Logic expression")
		}
		rules = append(rules, flags.Rule{Description: rule.String("description").Or(""), Logic: logic, Value: value})
	}
	return rules
}

func (a *API) flagSources(c *call) (reply, error) { return a.listFlagSources(c, "") }

func (a *API) sourcesOfFlag(c *call) (reply, error) {
	id, err := c.id("id")
	if err != nil {
		return failed(err)
	}
	return a.listFlagSources(c, id)
}

func (a *API) listFlagSources(c *call, flag string) (reply, error) {
	filter := flags.SourceFilter{Flag: flag, Service: c.query.Filter("service").Or(""), Environment: c.query.Filter("environment").Or("")}
	request := c.query.Page()
	if err := c.query.Err(); err != nil {
		return failed(err)
	}
	list, err := a.Flags.Sources(c.ctx(), c.caller, filter, request)
	if err != nil {
		return failed(err)
	}
	return ok(jsonapi.NewCollection(list, request, flagSourceResource))
}

func (a *API) reportFlags(c *call) (reply, error) {
	return reported(c, "flags", flagDeclaration, a.Flags.Report)
}

func flagDeclaration(text json.RawMessage) (flags.Declaration, error) {
	item, err := bulkItem(text)
	if err != nil {
		return flags.Declaration{}, err
	}
	declaration := flags.Declaration{
		Key:         item.String("id").Or(""),
		Type:        item.String("type").Or(""),
		Default:     item.Raw("default").Or(nil),
		Service:     item.String("service").Or(bulk.Unknown),
		Environment: item.String("environment").Or(bulk.Unknown),
	}
	return declaration, item.Problems().Err()
}

// evaluation is the answer to "why do I get this?".
type evaluation struct {
	Environment string                `json:"environment"`
	Value       json.RawMessage       `json:"value"`
	Reason      flageval.Reason       `json:"reason"`
	Rule        *int                  `json:"rule"`
	Explanation *flageval.Explanation `json:"explanation"`
}

func (a *API) evaluateFlag(c *call) (reply, error) {
	id, err := c.id("id")
	if err != nil {
		return failed(err)
	}
	asked, err := c.evaluationRequest()
	if err != nil {
		return failed(err)
	}
	snapshot, err := a.FlagSnapshots.Get(c.ctx(), c.caller.Account)
	if err != nil {
		return failed(err)
	}
	flag, found := snapshot.Flag(id)
	if !found {
		return failed(fault.Missing("flag", id))
	}
	if !snapshot.HasEnvironment(asked.environment) {
		asked.body.Refuse("environment", "must be an environment of this account")
		return failed(asked.body.Problems().Err())
	}
	decided, explanation := flag.Explain(asked.environment, asked.context)
	return one(http.StatusOK, jsonapi.Resource{ID: id, Type: "evaluation", Attributes: evaluation{
		Environment: asked.environment, Value: decided.Raw(), Reason: decided.Reason, Rule: ruleIndex(decided), Explanation: explanation,
	}})
}

func ruleIndex(decided flageval.Evaluation) *int {
	if decided.Rule == flageval.NoRule {
		return nil
	}
	return &decided.Rule
}

// evaluationRequest is a question about a flag, with the object it was read
// from.
type evaluationRequest struct {
	body        *jsonapi.Object
	environment string
	context     jsonlogic.Value
}

// evaluationRequest reads {environment, context}, alone or as attributes of an envelope.
func (c *call) evaluationRequest() (evaluationRequest, error) {
	body, err := c.objectOrNothing()
	if err != nil {
		return evaluationRequest{}, err
	}
	if data, sent := body.Object("data").Get(); sent {
		if attributes, sent := data.Object("attributes").Get(); sent {
			body = attributes
		}
	}
	asked := evaluationRequest{body: body}
	var sent bool
	if asked.environment, sent = body.String("environment").Get(); !sent {
		body.Refuse("environment", "is required")
	}
	asked.context = evaluatedContext(body)
	return asked, body.Problems().Err()
}

func evaluatedContext(body *jsonapi.Object) jsonlogic.Value {
	text := body.RawObject("context").Or(json.RawMessage(`{}`))
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
