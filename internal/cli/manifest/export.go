package manifest

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	signalbox "github.com/signalbox/signalbox/client"
)

// Export returns the resources of some kinds as objects for Read. Unmanaged resources and temporary levels are left out. A
// reference replaces the value of a header that may be secret, unless secrets is set.
func Export(ctx context.Context, client *signalbox.Client, kinds []string, secrets bool) (objects []json.RawMessage, err error) {
	for _, kind := range kinds {
		for document, err := range client.Documents.All(ctx, kind) {
			if err != nil {
				return nil, err
			}
			var all attributes
			if err := json.Unmarshal(document.Attributes, &all); err != nil {
				return nil, err
			}
			if exported := tidy(kind, document.ID, all, secrets); exported != nil {
				objects = append(objects, object(kind, document.ID, exported))
			}
		}
	}
	return objects, nil
}

// object returns a resource with its kind and id first, and its members in the order of the definition.
func object(kind, id string, members attributes) json.RawMessage {
	parts := []string{`"kind":` + encode(kind), `"id":` + encode(id)}
	for _, name := range definition(kind) {
		if member, exists := members[name]; exists {
			parts = append(parts, encode(name)+":"+string(member))
		}
	}
	return json.RawMessage("{" + strings.Join(parts, ",") + "}")
}

// tidy returns the members of a resource for a file, or nil if nobody has configured the resource.
func tidy(kind, id string, all attributes, secrets bool) attributes {
	kept := pick(kind, all)
	switch kind {
	case "environment":
		if string(kept["managed"]) == "false" && string(kept["classification"]) == `"AD_HOC"` {
			return nil
		}
	case "context_type":
		delete(kept, "attributes")
	case "flag":
		if string(kept["managed"]) == "false" {
			return nil
		}
		delete(kept, "managed")
		kept.tidyEach("environments", func(name string, member json.RawMessage) bool {
			return name == "default" && empty(member) || name == "rules" && string(member) == "[]"
		})
	case "logger", "log_group":
		if !tidyLevels(kind, kept) {
			return nil
		}
	case "config":
		kept.tidyEach("items", func(name string, member json.RawMessage) bool { return name != "value" && empty(member) })
	case "job":
		tidyPolicies(kept)
		tidyJob(kept, secrets)
	case "webhook":
		tidyWebhook(kept, secrets)
	}
	if kept.text("name") == id && kind != "flag" && !hasHeaders(kind) {
		delete(kept, "name")
	}
	kept.dropEmpty(func(name string) bool { return name != "default" && name != "parent" && name != "alerts" })
	if kind == "config" && id == signalbox.CommonConfig {
		delete(kept, "parent")
		if len(kept) == 0 { // nobody has configured it
			return nil
		}
	}
	return kept
}

// dropEmpty removes members that are null, an empty object or an empty list, if may allows it.
func (a attributes) dropEmpty(may func(string) bool) {
	maps.DeleteFunc(a, func(name string, member json.RawMessage) bool {
		return may(name) && (empty(member) || string(member) == "{}" || string(member) == "[]")
	})
}

// tidyEach removes members from every object in a member. It keeps empty objects and lists, which may be values.
func (a attributes) tidyEach(member string, remove func(name string, member json.RawMessage) bool) {
	objects := a.objects(member)
	if objects == nil {
		return
	}
	for _, object := range objects {
		maps.DeleteFunc(object, remove)
	}
	a[member] = raw(objects)
}

// tidyLevels removes temporary levels, and reports whether the logger or group still has something to export.
func tidyLevels(kind string, kept attributes) bool {
	if kind == "logger" && string(kept["managed"]) == "false" {
		return false
	}
	delete(kept, "managed")
	if !empty(kept["level_expires_at"]) {
		delete(kept, "level")
	}
	delete(kept, "level_expires_at")
	levels := kept.objects("environments")
	maps.DeleteFunc(levels, func(_ string, level attributes) bool { return !empty(level["expires_at"]) })
	for _, level := range levels {
		delete(level, "expires_at")
	}
	kept["environments"] = raw(levels)
	return kind == "log_group" || len(levels) > 0 || !empty(kept["level"]) || !empty(kept["group"])
}

// tidyPolicies removes the policies of a job that are the defaults. It keeps null alerts, which mean that
// there are none.
func tidyPolicies(kept attributes) {
	if kept.text("overlap") == "allow" {
		delete(kept, "overlap")
	}
	var alerts attributes
	if json.Unmarshal(kept["alerts"], &alerts) != nil || alerts == nil {
		return
	}
	maps.DeleteFunc(alerts, func(name string, member json.RawMessage) bool {
		return empty(member) || (name == "after_failures" || name == "recover_after") && string(member) == "1"
	})
	if kept["alerts"] = raw(alerts); len(alerts) == 0 {
		delete(kept, "alerts")
	}
}

// tidyJob replaces the values of headers by references and removes empty members.
func tidyJob(kept attributes, secrets bool) {
	configuration, headers, has := headersOf(kept)
	if !has {
		if json.Unmarshal(kept["configuration"], &configuration) != nil {
			return
		}
	}
	if has && !secrets {
		configuration["headers"] = referred(headers)
	}
	configuration.dropEmpty(func(string) bool { return true })
	kept["configuration"] = raw(configuration)
}

// tidyWebhook replaces secrets by references and removes an empty filter.
func tidyWebhook(kept attributes, secrets bool) {
	if _, headers, has := headersOf(kept); has && !secrets {
		kept["headers"] = referred(headers)
	}
	if isChat(kept) && !secrets {
		kept["url"] = raw(map[string]string{"valueFrom": storedReference})
	}
	var filter attributes
	if json.Unmarshal(kept["filter"], &filter) == nil && filter != nil {
		filter.dropEmpty(func(string) bool { return true })
		kept["filter"] = raw(filter)
	}
}

// referred returns headers with references in place of values that may be secret.
func referred(headers []attributes) json.RawMessage {
	for i := range headers {
		if !harmless(headers[i].text("name")) {
			delete(headers[i], "value")
			headers[i]["valueFrom"] = raw(storedReference)
		}
	}
	return raw(headers)
}

// harmless reports whether a header never has a secret.
func harmless(name string) bool {
	return slices.Contains([]string{"accept", "accept-language", "content-type", "host", "user-agent"}, strings.ToLower(name))
}
