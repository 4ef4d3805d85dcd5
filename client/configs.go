package signalbox

import (
	"context"
	"encoding/json"
	"iter"
	"net/url"
)

// CommonConfig is the id of the default parent of configs.
const CommonConfig = "common"

// ConfigType is the type of an item's values.
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
	Value json.RawMessage `json:"value"`
	// Type is the type of Value; the server derives an empty type from the value.
	Type        ConfigType `json:"type,omitempty"`
	Description *string    `json:"description"`
	// Schema is a JSON Schema for the values of a JSON item, here and in all configs below. On a replace, nil keeps the
	// stored schema and a JSON null removes it.
	Schema json.RawMessage `json:"schema,omitempty"`
}

// ConfigOverrides maps the keys of items to their values in one environment.
type ConfigOverrides map[string]json.RawMessage

// Config is a named set of items that can inherit from another config.
type Config struct {
	Resource
	Name        string  `json:"name"`
	Description *string `json:"description"`
	// Parent is the id of the config to inherit from; nil for none.
	Parent *string `json:"parent"`
	// Items are the config's own items, without inherited ones.
	Items map[string]ConfigItem `json:"items"`
	// Environments are the config's own overrides by environment.
	Environments map[string]ConfigOverrides `json:"environments"`
	Timestamps
}

// ConfigDraft creates or replaces a config.
type ConfigDraft struct {
	// Name is the id when it is empty.
	Name        string
	Description *string
	// Parent is the id of the config to inherit from. nil is [CommonConfig] for a new config and the stored parent on a
	// replace, unless Standalone is set.
	Parent *string
	// Standalone makes the config inherit from no other.
	Standalone bool
	// Items and Environments replace all stored items and overrides.
	Items        map[string]ConfigItem
	Environments map[string]ConfigOverrides
}

// ConfigParams filter configs.
type ConfigParams struct {
	Paging
	// Parent is the id of a config whose children are listed; empty lists all.
	Parent string
	// Search is a part of the id or the name, ignoring case.
	Search string
}

// ResolvedConfig has the values of a config and everything it inherits.
type ResolvedConfig struct {
	Resource
	// Environment is the requested environment; nil for none.
	Environment *string `json:"environment"`
	// Values are the values of all items, inherited ones included.
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

// ConfigsAPI manages the configs of the account. The first list of an account creates [CommonConfig].
type ConfigsAPI struct{ configs collection[Config, *Config] }

// Draft returns a draft of the config's current state.
func (c Config) Draft() ConfigDraft {
	return ConfigDraft{Name: c.Name, Description: c.Description, Parent: c.Parent, Standalone: c.Parent == nil,
		Items: c.Items, Environments: c.Environments}
}

// MarshalJSON leaves the parent out when the server chooses it.
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
	return filtered(p.Paging.query(), "parent", p.Parent, "search", p.Search)
}

// Get returns a config with its own items and overrides; [ConfigsAPI.Resolve] adds inherited items. [IsNotFound]
// reports that there is no config with this id. Any role may read.
func (a ConfigsAPI) Get(ctx context.Context, id string) (Config, error) {
	return a.configs.get(ctx, id)
}

// List returns one page of configs, by default in the order of their ids. [Paging.Sort] takes key (the id), name,
// created_at and updated_at. Any role may read.
func (a ConfigsAPI) List(ctx context.Context, params ConfigParams) (Page[Config], error) {
	return a.configs.list(ctx, params)
}

// All iterates over every config that params select, starting at their page. It ends after the first error.
func (a ConfigsAPI) All(ctx context.Context, params ConfigParams) iter.Seq2[Config, error] {
	return a.configs.all(ctx, params)
}

// Resolve returns the values of a config in an environment; an empty environment ignores overrides. [IsNotFound]
// reports that there is no config with this id.
func (a ConfigsAPI) Resolve(ctx context.Context, id, environment string) (ResolvedConfig, error) {
	r := get(a.configs.path, id, "resolved")
	if environment != "" {
		r.query = url.Values{"environment": {environment}}
	}
	return fetch[ResolvedConfig](ctx, a.configs.transport, r)
}

// Create creates a config. [IsAlreadyExists] reports that its id is in use. It needs the role MEMBER.
func (a ConfigsAPI) Create(ctx context.Context, id string, draft ConfigDraft, options ...WriteOption) (Config, error) {
	return a.configs.create(ctx, id, draft, options)
}

// Replace replaces a config. [IsNotFound] reports that there is none with this id. It needs the role MEMBER.
func (a ConfigsAPI) Replace(ctx context.Context, id string, draft ConfigDraft, options ...WriteOption) (Config, error) {
	return a.configs.replace(ctx, id, draft, options)
}

// Apply replaces a config, or creates it if there is none. It needs the role MEMBER.
func (a ConfigsAPI) Apply(ctx context.Context, id string, draft ConfigDraft, options ...WriteOption) (Config, error) {
	return a.configs.apply(ctx, id, draft, options)
}

// Delete deletes a config. It fails while another config inherits from it, see [IsConfigInUse]. It needs the role MEMBER.
func (a ConfigsAPI) Delete(ctx context.Context, id string, options ...WriteOption) error {
	return a.configs.delete(ctx, id, options)
}
