package manifest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"

	"github.com/signalbox/signalbox/client/jsonlogic"
	"github.com/signalbox/signalbox/internal/naming"
)

// Validate checks everything about resources that does not need the server. Its error has all problems.
func Validate(resources []Resource) error {
	schemas, err := compiledSchemas()
	if err != nil {
		return err
	}
	parents := map[string]string{}
	for _, resource := range resources {
		if resource.Kind == "config" {
			parents[resource.ID] = resource.Attributes.text("parent")
		}
	}
	cycles := cyclesOf(parents)
	var problems []error
	for _, resource := range resources {
		found := faults(schemas, resource)
		if cycle := cycles[resource.ID]; resource.Kind == "config" && cycle != nil {
			found = append(found, cycle.Error())
		}
		for _, each := range found {
			problems = append(problems, fmt.Errorf("%s: %s: %s", resource.Source, resource.label(), each))
		}
	}
	return errors.Join(problems...)
}

// compiledSchemas returns the schema of every kind. Reading the description of the interface takes about 90 ms, so it is done once.
//
//nolint:gochecknoglobals // nothing changes them
var compiledSchemas = sync.OnceValues(compileSchemas)

func compileSchemas() (map[string]*jsonschema.Schema, error) {
	schemas, err := kindSchemas()
	if err != nil {
		return nil, err
	}
	compiler, compiled := jsonschema.NewCompiler(), map[string]*jsonschema.Schema{}
	for name, schema := range schemas {
		document, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw(schema)))
		if err == nil {
			err = compiler.AddResource("signalbox:"+name, document)
		}
		if err == nil {
			compiled[name], err = compiler.Compile("signalbox:" + name)
		}
		if err != nil {
			return nil, fmt.Errorf("reading the schema of a %s: %w", name, err)
		}
	}
	return compiled, nil
}

// faults returns a sentence for everything that is wrong with a resource by itself.
func faults(schemas map[string]*jsonschema.Schema, resource Resource) []string {
	found := violations(schemas[resource.Kind], resource)
	switch {
	case len(found) > 0:
		return found
	case resource.Kind == "flag":
		return append(brokenRules(resource), brokenValues(resource)...)
	case resource.Kind == "job":
		var configuration attributes
		_ = json.Unmarshal(resource.Attributes["configuration"], &configuration) // the schema says that it is an object
		return append(brokenTimes(resource), brokenURL("configuration.url", configuration["url"])...)
	case resource.Kind == "webhook":
		return brokenURL("url", resource.Attributes["url"])
	case resource.Kind == "config":
		return brokenOverrides(resource)
	}
	return nil
}

// violations returns a sentence for each part of a resource that violates the schema.
func violations(schema *jsonschema.Schema, resource Resource) (found []string) {
	all := maps.Clone(resource.Attributes)
	all["kind"], all["id"] = raw(resource.Kind), raw(resource.ID)
	broken, is := errors.AsType[*jsonschema.ValidationError](schema.Validate(decode(raw(all))))
	if !is {
		return nil
	}
	for _, leaf := range leaves(broken) {
		found = append(found, sentence(leaf, definition(resource.Kind)))
	}
	slices.Sort(found)
	return slices.Compact(found)
}

// leaves returns the innermost errors. Of several alternatives, it returns the errors of alternatives with the right type.
func leaves(broken *jsonschema.ValidationError) (found []*jsonschema.ValidationError) {
	causes := broken.Causes
	switch broken.ErrorKind.(type) {
	case *kind.AnyOf, *kind.OneOf:
		isWords := func(cause *jsonschema.ValidationError) bool { _, is := cause.ErrorKind.(*kind.Enum); return is }
		if at := slices.IndexFunc(causes, isWords); at >= 0 {
			return []*jsonschema.ValidationError{causes[at]}
		}
		isOther := func(cause *jsonschema.ValidationError) bool {
			_, is := cause.ErrorKind.(*kind.Type)
			return is && len(cause.InstanceLocation) == len(broken.InstanceLocation)
		}
		if meant := slices.DeleteFunc(slices.Clone(causes), isOther); len(meant) > 0 {
			causes = meant
		}
	}
	if len(causes) == 0 {
		return []*jsonschema.ValidationError{broken}
	}
	for _, cause := range causes {
		found = append(found, leaves(cause)...)
	}
	return found
}

// sentence returns the place of a violation and a description.
func sentence(broken *jsonschema.ValidationError, known []string) string {
	place := ""
	for _, name := range broken.InstanceLocation {
		if _, err := strconv.Atoi(name); err == nil {
			place += "[" + name + "]"
		} else {
			place = join(place, name)
		}
	}
	if place != "" {
		place += ": "
	}
	switch what := broken.ErrorKind.(type) {
	case *kind.AdditionalProperties:
		return fmt.Sprintf("%sthere is no member %q.%s", place, what.Properties[0], naming.DidYouMean(what.Properties[0], known))
	case *kind.Required:
		return place + required(what.Missing)
	case *kind.Type:
		return fmt.Sprintf("%smust be %s, not %s", place, strings.Join(what.Want, " or "), what.Got)
	case *kind.Enum:
		words := make([]string, len(what.Want))
		for i, word := range what.Want {
			words[i] = fmt.Sprint(word)
		}
		return fmt.Sprintf("%smust be one of %s", place, strings.Join(words, ", "))
	}
	alone := *broken
	alone.Causes = nil
	_, text, _ := strings.Cut(alone.Error(), "': ")
	return place + text
}

// required returns a sentence about missing members.
func required(missing []string) string {
	last := len(missing) - 1
	if last == 0 {
		return missing[0] + " is required"
	}
	return strings.Join(missing[:last], ", ") + " and " + missing[last] + " are required"
}

// brokenRules returns a sentence for each rule of a flag that does not compile.
func brokenRules(flag Resource) (found []string) {
	environments := flag.Attributes.objects("environments")
	for _, environment := range slices.Sorted(maps.Keys(environments)) {
		rules, _ := decode(environments[environment]["rules"]).([]any)
		for i, rule := range rules {
			members, _ := rule.(map[string]any)
			if _, err := jsonlogic.Compile(raw(members["logic"])); err != nil {
				found = append(found, fmt.Sprintf("environments.%s.rules[%d].logic: %v", environment, i, err))
			}
		}
	}
	return found
}
