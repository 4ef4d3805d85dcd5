package api

import (
	"encoding/json"
	"net/http"
	"slices"

	"github.com/signalbox/signalbox/internal/configs"
	"github.com/signalbox/signalbox/internal/jsonapi"
	"github.com/signalbox/signalbox/internal/optional"
)

func configResource(c configs.Config) jsonapi.Resource {
	return jsonapi.Resource{ID: c.Key, Type: configs.Kind, Attributes: c}
}

func (a *API) configs(c *call) (reply, error) {
	filter := configs.Filter{Search: c.query.Search(), Parent: c.query.FilterOrEmpty("parent")}
	request := c.query.Page()
	if err := c.query.Err(); err != nil {
		return failed(err)
	}
	list, err := a.Configs.Configs(c.ctx(), c.caller, filter, request)
	if err != nil {
		return failed(err)
	}
	return ok(jsonapi.NewCollection(list, request, configResource))
}

func (a *API) config(c *call) (reply, error) {
	id, err := c.id("id")
	if err != nil {
		return failed(err)
	}
	config, err := a.Configs.Config(c.ctx(), c.caller, id)
	return read(config, err, configResource)
}

func (a *API) resolvedConfig(c *call) (reply, error) {
	id, err := c.id("id")
	if err != nil {
		return failed(err)
	}
	environment := c.query.Filter("environment")
	if err := c.query.Err(); err != nil {
		return failed(err)
	}
	resolved, err := a.Configs.Resolved(c.ctx(), c.caller, id, environment.Pointer())
	if err != nil {
		return failed(err)
	}
	return resolvedDocument(resolved)
}

// resolvedDocument encodes once what may be thousands of values: the text is
// sent as it is, and hashed as it is.
func resolvedDocument(resolved configs.Resolved) (reply, error) {
	attributes, err := resolved.MarshalJSON()
	if err != nil {
		return failed(err)
	}
	text := slices.Concat([]byte(`{"data":{"id":"`+resolved.Key+`","type":"`+configs.KindResolved+`","attributes":`), attributes, []byte("}}\n"))
	return reply{status: http.StatusOK, document: json.RawMessage(text), etag: hashed(text)}, nil
}

func (a *API) createConfig(c *call) (reply, error) {
	envelope, err := c.envelope(configs.Kind)
	if err != nil {
		return failed(err)
	}
	config, err := a.Configs.Create(c.ctx(), c.caller, configDraft(envelope))
	return created(config, err, configResource)
}

func (a *API) replaceConfig(c *call) (reply, error) {
	id, envelope, err := c.target(configs.Kind)
	if err != nil {
		return failed(err)
	}
	config, err := a.Configs.Replace(c.ctx(), c.caller, id, configDraft(envelope), ifMatch(c, configResource))
	return read(config, err, configResource)
}

func (a *API) deleteConfig(c *call) (reply, error) {
	id, err := c.id("id")
	if err != nil {
		return failed(err)
	}
	return deleted(a.Configs.Delete(c.ctx(), c.caller, id, ifMatch(c, configResource)))
}

func configDraft(envelope *jsonapi.Envelope) configs.Draft {
	attributes := envelope.Attributes
	draft := configs.Draft{
		Key:          envelope.ID,
		Name:         attributes.String("name"),
		Description:  attributes.String("description"),
		Parent:       attributes.String("parent"),
		Items:        configItems(attributes),
		Environments: configOverrides(attributes),
	}
	draft.Problems = *envelope.Problems
	return draft
}

func configItems(attributes *jsonapi.Object) map[string]configs.ItemDraft {
	items := map[string]configs.ItemDraft{}
	eachObject(attributes, "items", func(key string, item *jsonapi.Object) {
		value, _ := item.RawOrNull("value")
		items[key] = configs.ItemDraft{
			Value:       value,
			Type:        item.String("type"),
			Description: item.String("description"),
			Schema:      configSchema(item),
		}
	})
	return items
}

// configSchema reads a schema, which is an object, or true or false.
func configSchema(item *jsonapi.Object) optional.Value[json.RawMessage] {
	schema := item.Raw("schema")
	if text, sent := schema.Get(); sent && text[0] != '{' && text[0] != 't' && text[0] != 'f' {
		item.Refuse("schema", "must be a JSON Schema: an object, or true or false")
	}
	return schema
}

func configOverrides(attributes *jsonapi.Object) map[string]configs.Overrides {
	environments := map[string]configs.Overrides{}
	eachObject(attributes, "environments", func(environment string, values *jsonapi.Object) {
		overrides := configs.Overrides{}
		for _, key := range values.Names() {
			overrides[key], _ = values.RawOrNull(key)
		}
		environments[environment] = overrides
	})
	return environments
}

// eachObject reads an object whose members are objects.
func eachObject(attributes *jsonapi.Object, name string, add func(name string, member *jsonapi.Object)) {
	object, sent := attributes.Object(name).Get()
	if !sent {
		return
	}
	for _, each := range object.Names() {
		member := object.Object(each)
		if member.IsNull() {
			object.Refuse(each, "must be an object")
		}
		if value, sent := member.Get(); sent {
			add(each, value)
		}
	}
}
