package api

import (
	"encoding/json"
	"net/http"
	"slices"

	"github.com/signalbox/signalbox/internal/configs"
	"github.com/signalbox/signalbox/internal/jsonapi"
	"github.com/signalbox/signalbox/internal/optional"
)

func configResource() resource[configs.Config, configs.Draft, configs.Filter] {
	return describe(configs.Kind, func(config configs.Config) (string, any) { return config.Key, config }, configFilter, configDraft)
}

func configFilter(c *call) configs.Filter {
	return configs.Filter{Search: c.query.Search(), Parent: c.query.FilterOrEmpty("parent")}
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
		Restores:     envelope.Restores,
	}
	draft.Problems = envelope.Done()
	return draft
}

func configItems(attributes *jsonapi.Object) map[string]configs.ItemDraft {
	items := map[string]configs.ItemDraft{}
	eachObject(attributes, "items", `{"value": 5, "type": "NUMBER"}`, func(key string, item *jsonapi.Object) {
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

// configSchema reads a JSON Schema: an object, or true or false.
func configSchema(item *jsonapi.Object) optional.Value[json.RawMessage] {
	schema := item.Raw("schema")
	if text, sent := schema.Get(); sent && text[0] != '{' && text[0] != 't' && text[0] != 'f' {
		item.Refuse("schema", "must be a JSON Schema: an object, or true or false")
	}
	return schema
}

func configOverrides(attributes *jsonapi.Object) map[string]configs.Overrides {
	environments := map[string]configs.Overrides{}
	eachObject(attributes, "environments", `{"greeting": "hello"}`, func(environment string, values *jsonapi.Object) {
		overrides := configs.Overrides{}
		for _, key := range values.Names() {
			overrides[key], _ = values.RawOrNull(key)
		}
		environments[environment] = overrides
	})
	return environments
}

func (a *API) resolvedConfig(c *call) (reply, error) {
	environment := c.query.Filter("environment")
	if err := c.query.Err(); err != nil {
		return reply{}, err
	}
	resolved, err := a.Configs.Resolved(c.ctx(), c.caller, c.id, environment.Pointer())
	if err != nil {
		return reply{}, err
	}
	attributes, err := resolved.MarshalJSON()
	if err != nil {
		return reply{}, err
	}
	// There may be thousands of values, so they are encoded once for both body and ETag.
	text := slices.Concat([]byte(`{"data":{"id":"`+resolved.Key+`","type":"`+configs.KindResolved+`","attributes":`), attributes, []byte("}}\n"))
	return reply{status: http.StatusOK, body: text, etag: hashed(text)}, nil
}

// eachObject reads an object whose members are objects like example.
func eachObject(attributes *jsonapi.Object, name, example string, add func(name string, member *jsonapi.Object)) {
	object, sent := attributes.Object(name, `{"KEY": `+example+`}`).Get()
	if !sent {
		return
	}
	for _, each := range object.Names() {
		member := object.Object(each, example)
		if member.IsNull() {
			object.Refuse(each, "must be an object such as "+example)
		}
		if value, sent := member.Get(); sent {
			add(each, value)
		}
	}
}
