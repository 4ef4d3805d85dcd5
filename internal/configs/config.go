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

// Common is the config that is the parent of those that name none.
const Common = "common"

// Limits that hold on every plan. A chain is read as a whole, and so is what
// depends on a config when it is written: nothing of it may be boundless.
const (
	MaxConfigs    = 10_000    // of an account
	MaxDepth      = 32        // configs of a chain
	MaxItems      = 5_000     // of a config
	MaxSchemas    = 200       // items of a config that have one
	MaxValue      = 256 << 10 // bytes of JSON text of a value or an override
	MaxDefinition = 2 << 20   // bytes of all keys, values, descriptions and schemas of a config
	MaxNesting    = 64        // levels of arrays and objects in a value

	configRows = "config.config_rows"
)

const (
	maxName        = 255
	maxDescription = 1000
	maxItemKey     = 200
)

// Type is what an item's values are.
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
	// Schema is what values of a JSON item resolve to, here and below; nil
	// asks for nothing.
	Schema json.RawMessage `json:"schema,omitempty"`
}

// Overrides are the values that an environment has instead, by item.
type Overrides map[string]json.RawMessage

// Config is a named set of items.
type Config struct {
	Account      string               `json:"-"`
	Key          string               `json:"-"`
	Name         string               `json:"name"`
	Description  *string              `json:"description"`
	Parent       *string              `json:"parent"` // nil: standalone
	Items        map[string]Item      `json:"items"`
	Environments map[string]Overrides `json:"environments"`
	CreatedAt    time.Time            `json:"created_at"`
	UpdatedAt    time.Time            `json:"updated_at"`
}

// itemPath is where an item stands below the attributes.
func itemPath(key string) string { return "items/" + fault.Escape(key) }

// overridePath is where an override stands below the attributes.
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

// size is about what a config takes to store.
func (c Config) size() int {
	size := 0
	for key, item := range c.Items {
		size += len(key) + len(item.Value) + len(item.Schema)
		if item.Description != nil {
			size += len(*item.Description)
		}
	}
	for _, overrides := range c.Environments {
		for key, value := range overrides {
			size += len(key) + len(value)
		}
	}
	return size
}

// sameBase tells whether two configs differ at most in their environments.
func sameBase(a, b Config) bool {
	return a.Name == b.Name && sameText(a.Description, b.Description) && sameText(a.Parent, b.Parent) &&
		maps.EqualFunc(a.Items, b.Items, sameItem)
}

func sameItem(a, b Item) bool {
	return a.Type == b.Type && sameText(a.Description, b.Description) &&
		rawjson.Same(a.Value, b.Value) && rawjson.Same(a.Schema, b.Schema)
}

func sameOverrides(a, b Overrides) bool { return maps.EqualFunc(a, b, rawjson.Same) }

func sameText(a, b *string) bool {
	return (a == nil) == (b == nil) && (a == nil || *a == *b)
}
