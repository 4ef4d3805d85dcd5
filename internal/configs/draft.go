package configs

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/signalbox/signalbox/internal/fault"
	"github.com/signalbox/signalbox/internal/naming"
	"github.com/signalbox/signalbox/internal/optional"
	"github.com/signalbox/signalbox/internal/overrides"
	"github.com/signalbox/signalbox/internal/rawjson"
)

// Draft is the config that a caller asks for, not yet validated.
type Draft struct {
	Key         optional.Value[string]
	Name        optional.Value[string]
	Description optional.Value[string]
	// Parent is null for none. If absent, a new config gets the default parent, and a replaced config keeps its parent.
	Parent       optional.Value[string]
	Items        map[string]ItemDraft
	Environments map[string]Overrides
	// Restores says that the draft is an earlier state of the config. A missing schema then means that there was none.
	Restores bool
	// Problems starts with the problems found while reading the input.
	Problems fault.Problems
}

// ItemDraft is the item that a caller asks for.
type ItemDraft struct {
	Value       json.RawMessage // nil if no value was sent
	Type        optional.Value[string]
	Description optional.Value[string]
	// Schema is the new schema. If absent, the stored one stays: clients that do not know schemas must not remove it.
	Schema optional.Value[json.RawMessage]
}

// validate checks every rule that does not need the database. It returns the config with its compiled schemas, which
// are nil if the draft is too large to check. The caller of validate handles an absent parent.
func (d *Draft) validate(key string) (Config, *schemas) {
	config := Config{Key: key, Name: d.Name.Or(key), Description: d.Description.Pointer(), Parent: d.Parent.Pointer(),
		Items: make(map[string]Item, len(d.Items)), Environments: map[string]Overrides{}}
	naming.CheckName(&d.Problems, d.Name, maxName)
	naming.CheckDescription(&d.Problems, "description", d.Description.Or(""), maxDescription)
	if !d.checkCounts() {
		return Config{}, nil
	}
	for _, name := range slices.Sorted(maps.Keys(d.Items)) {
		config.Items[name] = d.item(name)
	}
	for _, environment := range slices.Sorted(maps.Keys(d.Environments)) {
		if sent := d.overrides(environment); len(sent) > 0 {
			config.Environments[environment] = sent
		}
	}
	checkDefinition(config, &d.Problems)
	return config, d.checkSchemas(config)
}

// checkCounts reports whether the draft is small enough to be checked.
func (d *Draft) checkCounts() bool {
	if len(d.Items) > MaxItems {
		d.Problems.Attribute("items", "must have at most %d items", MaxItems)
	}
	return overrides.CheckCount(&d.Problems, len(d.Environments)) && len(d.Items) <= MaxItems
}

func (d *Draft) item(name string) Item {
	draft, path := d.Items[name], itemPath(name)
	item := Item{Value: draft.Value, Description: draft.Description.Pointer(), Schema: draft.Schema.Or(nil)}
	if !naming.IsLabel(name, maxItemKey) {
		d.Problems.Attribute(path, "must have a key of 1 to %d characters, none of them a control character or a bidirectional override", maxItemKey)
	}
	naming.CheckDescription(&d.Problems, path+"/description", draft.Description.Or(""), maxDescription)
	if draft.Value == nil {
		d.Problems.Attribute(path+"/value", "is required")
		return item
	}
	if !d.checkSize(path+"/value", draft.Value) {
		return item
	}
	item.Type = d.itemType(path, draft)
	if item.Type != "" && !item.Type.fits(item.Value) {
		d.Problems.Attribute(path+"/value", "must be %s, as the item is %s", item.Type.noun(), item.Type)
	}
	if item.Type != "" && item.Type != JSON && item.Schema != nil {
		d.Problems.Attribute(path+"/schema", "must be null or left out: only JSON items have a schema, and this one is %s", item.Type)
	}
	return item
}

// itemType returns the type that was sent. If none was sent, it returns the type of the value.
func (d *Draft) itemType(path string, draft ItemDraft) Type {
	text, sent := draft.Type.Get()
	if !sent {
		return typeOf(draft.Value)
	}
	parsed, known := ParseType(text)
	if !known {
		d.Problems.Attribute(path+"/type", "must be STRING, NUMBER, BOOLEAN or JSON, or null for the type that the value has")
		return ""
	}
	return parsed
}

func (d *Draft) checkSize(path string, value json.RawMessage) bool {
	switch {
	case len(value) > MaxValue:
		d.Problems.Attribute(path, "must have at most %d bytes of JSON text", MaxValue)
	case rawjson.Depth(value) > MaxNesting:
		d.Problems.Attribute(path, "must be nested at most %d levels deep", MaxNesting)
	default:
		return true
	}
	return false
}

// checkSchemas compiles the schemas that were sent.
func (d *Draft) checkSchemas(config Config) *schemas {
	sent := newSchemas()
	if d.Problems.Mentions("items") {
		return sent // too many items or schemas to compile
	}
	for _, name := range slices.Sorted(maps.Keys(config.Items)) {
		item, path := config.Items[name], itemPath(name)+"/schema"
		if item.Schema == nil || d.Problems.Mentions(path) {
			continue
		}
		for _, wrong := range sent.compile(item.Schema).unusable {
			d.Problems.Attribute(path+wrong.pointer, "%s", wrong.detail)
		}
		if sent.work.spent() {
			break
		}
	}
	return sent
}

// overrides returns the overrides of an environment, except null ones.
func (d *Draft) overrides(environment string) Overrides {
	kept := Overrides{}
	for _, name := range slices.Sorted(maps.Keys(d.Environments[environment])) {
		value := d.Environments[environment][name]
		if string(value) == "null" {
			continue
		}
		d.checkSize(overridePath(environment, name), value)
		kept[name] = value
	}
	return kept
}
