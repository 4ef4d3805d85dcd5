package api_test

import (
	"encoding/json"
	"testing"
)

// observe sends a bulk report of loggers.
func (c client) observe(items ...attributes) answer {
	c.t.Helper()
	text, err := json.Marshal(attributes{"loggers": items})
	if err != nil {
		c.t.Fatal(err)
	}
	return c.post(loggersPath+"/bulk", string(text), with("Content-Type", "application/json"))
}

// discoverLogger makes a discovered logger with a reported level and returns its path.
func (c client) discoverLogger(key, level string) string {
	c.t.Helper()
	c.observe(attributes{"id": key, "level": level}).want(200)
	return loggersPath + "/" + key
}

// setLogger puts a logger and returns its path.
func (c client) setLogger(key string, wanted attributes) string {
	c.t.Helper()
	c.put(loggersPath+"/"+key, envelope("logger", key, wanted)).want(200)
	return loggersPath + "/" + key
}

// makeGroup creates a log group and returns its path.
func (c client) makeGroup(key string, wanted attributes) string {
	c.t.Helper()
	c.post(groupsPath, envelope("log_group", key, wanted)).want(201)
	return groupsPath + "/" + key
}

// aLogger returns a managed logger with a base level.
func aLogger(owner client) string {
	return owner.setLogger(unique("logger"), attributes{"level": "WARN"})
}

func aGroup(owner client) string {
	return owner.makeGroup(unique("group"), attributes{"level": "WARN"})
}

// levelIn returns an override for an environment.
func levelIn(environment, level string) attributes {
	return attributes{"environments": attributes{environment: attributes{"level": level}}}
}

// requireLogger checks the levels and the group of a logger.
func requireLogger(t *testing.T, got answer, managed bool, level, group any, environments int) {
	t.Helper()
	overrides := got.want(200).attribute("environments").(map[string]any)
	if got.attribute("managed") != managed || got.attribute("level") != level || got.attribute("group") != group ||
		got.attribute("group_id") != group || len(overrides) != environments {
		t.Errorf("got %s", got.body)
	}
}

// resolvedIn returns the effective level in an environment, its origin, and the resource that sets it.
func (a answer) resolvedIn(environment string) [3]any {
	a.t.Helper()
	found := a.attribute("resolved").(map[string]any)[environment].(map[string]any)
	return [3]any{found["level"], found["origin"], found["of"]}
}

// changesAfter returns kind, key and action of the changes after a number, oldest first.
func (c client) changesAfter(seq int) (found [][3]any) {
	c.t.Helper()
	data := c.get(changesPath + "?page[size]=1000").want(200).page().Data
	for i := len(data) - seq - 1; i >= 0; i-- {
		found = append(found, [3]any{data[i].Attributes["kind"], data[i].Attributes["key"], data[i].Attributes["action"]})
	}
	return found
}
