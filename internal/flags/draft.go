package flags

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/signalbox/signalbox/client/flageval"
	"github.com/signalbox/signalbox/internal/fault"
	"github.com/signalbox/signalbox/internal/naming"
	"github.com/signalbox/signalbox/internal/optional"
	"github.com/signalbox/signalbox/internal/rawjson"
)

// Draft is the flag that a caller asks for, not yet validated.
type Draft struct {
	Key          optional.Value[string]
	Name         optional.Value[string]
	Description  optional.Value[string]
	Type         optional.Value[string]
	Default      optional.Value[json.RawMessage]
	Values       optional.Value[[]Choice]
	Managed      optional.Value[bool]
	Environments map[string]Environment
	// Restores says that the draft is an earlier state of the flag.
	Restores bool
	// Problems starts with the problems found while reading the input.
	Problems fault.Problems

	references referenceSet // of the rules, set by validate
}

// validate checks everything that does not need the database, adds to the draft's
// problems, and returns the flag that the draft describes. A missing name or
// managed is later taken from the stored flag. Values are not checked against an
// unknown type. Values and rules of a flag that is too large are not checked.
func (d *Draft) validate(key string) Flag {
	flag := Flag{Key: key, Name: d.Name.Or(""), Description: d.Description.Pointer(),
		Default: d.Default.Or(nil), Values: d.Values.Or(nil), Environments: d.Environments}
	if flag.Environments == nil {
		flag.Environments = map[string]Environment{}
	}
	d.references = referenceSet{}
	naming.CheckName(&d.Problems, d.Name, maxName)
	naming.CheckDescription(&d.Problems, "description", d.Description.Or(""), maxDescription)
	flag.Type = d.flagType()
	if !checkCounts(&d.Problems, flag) || !checkSize(&d.Problems, flag) {
		return Flag{Key: key}
	}
	flag.Values = d.choices(flag.Type)
	flag.Default = d.base(flag.Type)
	check := newChecker(&d.Problems, flag, d.references)
	if !d.Problems.Mentions("default") {
		check.value("default", flag.Default)
	}
	for _, environment := range slices.Sorted(maps.Keys(flag.Environments)) {
		check.environment(environment, flag.Environments[environment])
	}
	return flag
}

// flagType returns the type, or "" if it is missing or unknown.
func (d *Draft) flagType() flageval.Type {
	text, sent := d.Type.Get()
	if !sent {
		d.Problems.Attribute("type", "is required")
		return ""
	}
	parsed, known := ParseType(text)
	if !known {
		d.Problems.Attribute("type", "must be BOOLEAN, STRING, NUMERIC or JSON")
		return ""
	}
	return parsed
}

// base returns the default value; only a JSON flag may have null.
func (d *Draft) base(of flageval.Type) json.RawMessage {
	switch value, sent := d.Default.Get(); {
	case sent:
		return value
	case d.Default.IsNull() && (of == flageval.JSON || of == ""):
		return json.RawMessage("null")
	case d.Default.IsNull():
		d.Problems.Attribute("default", "must be %s: only a JSON flag may have null", noun(of))
	default:
		d.Problems.Attribute("default", "is required")
	}
	return nil
}

// choices returns the values. They must have the flag's type and differ from each
// other; a BOOLEAN has exactly true and false.
func (d *Draft) choices(of flageval.Type) []Choice {
	choices, sent := d.Values.Get()
	if of == flageval.Boolean && !sent {
		return booleanChoices()
	}
	if !sent {
		return nil
	}
	check := checker{problems: &d.Problems, kind: of}
	seen := map[string]bool{}
	for i, choice := range choices {
		path := fmt.Sprintf("values/%d", i)
		if !check.fits(path, choice.Value) {
			continue
		}
		text := string(rawjson.Canonical(choice.Value))
		switch {
		case seen[text]:
			d.Problems.Attribute(path, "must not repeat another value")
		case !naming.Fits(choice.Name, 0, maxName):
			d.Problems.Attribute(path+"/name", "must have at most %d characters", maxName)
		}
		naming.CheckHidden(&d.Problems, path+"/name", choice.Name)
		seen[text] = true
	}
	switch {
	case of == flageval.Boolean && len(choices) != 2:
		d.Problems.Attribute("values", "must be exactly true and false for a BOOLEAN flag")
	case len(choices) == 0:
		d.Problems.Attribute("values", "must have at least one value, or be null for a flag without constraint")
	}
	return choices
}
