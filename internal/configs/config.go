package configs

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/signalbox/signalbox/internal/fault"
	"github.com/signalbox/signalbox/internal/overrides"
	"github.com/signalbox/signalbox/internal/rawjson"
)

// The JSON:API types of this package.
const (
	Kind         = "config"
	KindResolved = "resolved_config"
)

// Common is the key of the default parent.
const Common = "common"

// Limits in every plan. A write reads the whole chain of a config and all its descendants.
const (
	MaxConfigs    = 10_000    // per account
	MaxBytes      = 16 << 20  // of all stored configs of an account
	MaxDepth      = 32        // configs in a chain
	MaxItems      = 5_000     // per config
	MaxSchemas    = 200       // items with a schema, per config
	MaxValue      = 256 << 10 // bytes of JSON text of a value or an override
	MaxDefinition = 1 << 20   // bytes of all items and overrides, per config
	MaxNesting    = 64        // levels of arrays and objects in a value
)

const (
	maxName        = 255
	maxDescription = 1000
	maxItemKey     = 200
)

// Type is the type of an item's values.
type Type string

// The types of items.
const (
	String  Type = "STRING"
	Number  Type = "NUMBER"
	Boolean Type = "BOOLEAN"
	JSON    Type = "JSON"
)

// ParseType reads a type in any case.
func ParseType(text string) (Type, bool) {
	parsed := Type(strings.ToUpper(text))
	return parsed, slices.Contains([]Type{String, Number, Boolean, JSON}, parsed)
}

// Item is one value of a config.
type Item struct {
	Value       json.RawMessage `json:"value"`
	Type        Type            `json:"type"`
	Description *string         `json:"description"`
	// Schema is for the resolved value of a JSON item, in this config and its descendants; nil is none.
	Schema json.RawMessage `json:"schema,omitempty"`
}

// Overrides maps the keys of items to their values in one environment.
type Overrides map[string]json.RawMessage

// Config is a named set of items.
type Config struct {
	Account      string               `json:"-"`
	Key          string               `json:"-"`
	Name         string               `json:"name"`
	Description  *string              `json:"description"`
	Parent       *string              `json:"parent"` // nil for none
	Items        map[string]Item      `json:"items"`
	Environments map[string]Overrides `json:"environments"`
	CreatedAt    time.Time            `json:"created_at"`
	UpdatedAt    time.Time            `json:"updated_at"`
}

// itemPath returns the path of an item below /data/attributes.
func itemPath(key string) string { return "items/" + fault.Escape(key) }

// overridePath returns the path of an override below /data/attributes.
func overridePath(environment, key string) string {
	return overrides.Path(environment) + "/" + fault.Escape(key)
}

// overrides calls visit for every override, in a fixed order.
func (c Config) overrides(visit func(environment, key string, value json.RawMessage)) {
	for _, environment := range slices.Sorted(maps.Keys(c.Environments)) {
		for _, key := range slices.Sorted(maps.Keys(c.Environments[environment])) {
			visit(environment, key, c.Environments[environment][key])
		}
	}
}

// size returns the approximate stored size of a config in bytes.
func (c Config) size() int {
	const perItem, perOverride = 50, 5 // names of members and punctuation
	size := 0
	for key, item := range c.Items {
		size += len(key) + len(item.Value) + len(item.Schema) + perItem
		if item.Description != nil {
			size += len(*item.Description)
		}
	}
	for environment, overrides := range c.Environments {
		size += len(environment) + perOverride
		for key, value := range overrides {
			size += len(key) + len(value) + perOverride
		}
	}
	return size
}

// sameBase reports whether two configs are equal except for their environments.
func sameBase(was, is Config) bool {
	return was.Name == is.Name && sameText(was.Description, is.Description) && sameText(was.Parent, is.Parent) &&
		maps.EqualFunc(was.Items, is.Items, func(was, is Item) bool {
			return was.Type == is.Type && sameText(was.Description, is.Description) &&
				rawjson.Same(was.Value, is.Value) && rawjson.Same(was.Schema, is.Schema)
		})
}

func sameText(a, b *string) bool { return a == b || a != nil && b != nil && *a == *b }
