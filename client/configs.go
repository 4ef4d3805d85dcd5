package signalbox

import (
	"context"
	"encoding/json"
	"iter"
	"net/url"
	"time"
)

const (
	configKind        = "config"
	configsCollection = "configs"
)

// CommonConfig is the id of the config that is the parent of those that name
// none.
const CommonConfig = "common"

// ConfigType is what the values of an item are.
type ConfigType string

// The types of items.
const (
	ConfigString  ConfigType = "STRING"
	ConfigNumber  ConfigType = "NUMBER"
	ConfigBoolean ConfigType = "BOOLEAN"
	ConfigJSON    ConfigType = "JSON"
)

// ConfigItem is one value of a config.
type ConfigItem struct {
	// Value is of the item's type.
	Value json.RawMessage `json:"value"`
	// Type is what values of this item are; an empty one is read off the value.
	Type ConfigType `json:"type,omitempty"`
	// Description says what it is for.
	Description *string `json:"description"`
	// Schema is a JSON Schema that the values of a JSON item must fit, here and
	// in all configs below. When it is nil on a replace, the stored one stays;
	// a JSON null removes it.
	Schema json.RawMessage `json:"schema,omitempty"`
}

// ConfigOverrides are the values that items have in an environment instead.
type ConfigOverrides map[string]json.RawMessage

// Config is a named set of items that inherits from another.
type Config struct {
	Resource
	// Name is what people call it.
	Name string `json:"name"`
	// Description says what it is for.
	Description *string `json:"description"`
	// Parent is the id of the config that it inherits from; nil for none.
	Parent *string `json:"parent"`
	// Items are its own items, without what it inherits.
	Items map[string]ConfigItem `json:"items"`
	// Environments are its own overrides, by environment.
	Environments map[string]ConfigOverrides `json:"environments"`
	// CreatedAt and UpdatedAt are when it was made and last changed.
	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"`
}

// ConfigDraft is what a config is to become.
type ConfigDraft struct {
	// Name is what people call it; an empty one becomes the id.
	Name string
	// Description says what it is for.
	Description *string
	// Parent is the id of the config to inherit from. Nil is [CommonConfig] for
	// a new config and the stored one on a replace, unless Standalone is set.
	Parent *string
	// Standalone makes it inherit from none.
	Standalone bool
	// Items and Environments are all that it is to have.
	Items        map[string]ConfigItem
	Environments map[string]ConfigOverrides
}

// ConfigParams choose configs.
type ConfigParams struct {
	Paging
	// Parent is the id of a config whose children are listed; empty lists all.
	Parent string
	// Search is a part of the id or the name, in any case.
	Search string
}

// ResolvedConfig is what a config comes to, with all that it inherits.
type ResolvedConfig struct {
	Resource
	// Environment is the one that was asked for; nil for none.
	Environment *string `json:"environment"`
	// Values are those of all items of the chain.
	Values map[string]json.RawMessage `json:"values"`
	// Origins say where each value comes from.
	Origins map[string]ConfigOrigin `json:"origins"`
}

// ConfigOrigin is where a value comes from.
type ConfigOrigin struct {
	// Config is the id of the config that has the value.
	Config string `json:"config"`
	// Source is "base" for an item and "environment" for an override.
	Source string `json:"source"`
}

// ConfigsAPI is the configs of the account.
type ConfigsAPI struct{ transport *transport }

// Draft is the draft that changes nothing.
func (c Config) Draft() ConfigDraft {
	return ConfigDraft{Name: c.Name, Description: c.Description, Parent: c.Parent, Standalone: c.Parent == nil,
		Items: c.Items, Environments: c.Environments}
}

// MarshalJSON leaves the parent out when the server is to decide about it.
func (d ConfigDraft) MarshalJSON() ([]byte, error) {
	attributes := map[string]any{"description": d.Description, "items": d.Items, "environments": d.Environments}
	if d.Name != "" {
		attributes["name"] = d.Name
	}
	switch {
	case d.Standalone:
		attributes["parent"] = nil
	case d.Parent != nil:
		attributes["parent"] = *d.Parent
	}
	return json.Marshal(attributes)
}

func (p ConfigParams) query() url.Values {
	query := p.Paging.query()
	filter(query, "parent", p.Parent)
	filter(query, "search", p.Search)
	return query
}

// List gives one page of configs. The first list of an account makes
// [CommonConfig].
func (a ConfigsAPI) List(ctx context.Context, params ConfigParams) (Page[Config], error) {
	return listed[Config](ctx, a.transport, params.query(), configsCollection)
}

// All gives every config from the page of the params on. It ends after the
// first error.
func (a ConfigsAPI) All(ctx context.Context, params ConfigParams) iter.Seq2[Config, error] {
	return every(params.Paging, func(paging Paging) (Page[Config], error) {
		params.Paging = paging
		return a.List(ctx, params)
	})
}

// Get gives one config as it is stored.
func (a ConfigsAPI) Get(ctx context.Context, id string) (Config, error) {
	return one[Config](ctx, a.transport, get(configsCollection, id))
}

// Resolve gives what a config comes to in an environment; an empty one counts
// items only.
func (a ConfigsAPI) Resolve(ctx context.Context, id, environment string) (ResolvedConfig, error) {
	asked := get(configsCollection, id, "resolved")
	if environment != "" {
		asked.query = url.Values{"environment": {environment}}
	}
	return one[ResolvedConfig](ctx, a.transport, asked)
}

// Create makes a config. It needs the role MEMBER.
func (a ConfigsAPI) Create(ctx context.Context, id string, draft ConfigDraft) (Config, error) {
	return one[Config](ctx, a.transport, post(enclose(configKind, id, draft), configsCollection))
}

// Replace changes a config. It needs the role MEMBER.
func (a ConfigsAPI) Replace(ctx context.Context, id string, draft ConfigDraft, options ...WriteOption) (Config, error) {
	return one[Config](ctx, a.transport, put(enclose(configKind, id, draft), configsCollection, id).with(options))
}

// Delete removes a config that none inherits from. It needs the role MEMBER.
func (a ConfigsAPI) Delete(ctx context.Context, id string, options ...WriteOption) error {
	_, err := a.transport.call(ctx, remove(configsCollection, id).with(options), nil)
	return err
}
