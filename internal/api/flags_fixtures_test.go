package api_test

import (
	"encoding/json"
	"maps"
	"strings"
)

// boolean returns the attributes of a BOOLEAN flag with a default, and further attributes.
func boolean(base bool, more attributes) attributes {
	wanted := attributes{"type": "BOOLEAN", "default": base}
	maps.Copy(wanted, more)
	return wanted
}

// flag returns the attributes of a flag of any type, and further attributes.
func flag(kind string, base any, more attributes) attributes {
	wanted := attributes{"type": kind, "default": base}
	maps.Copy(wanted, more)
	return wanted
}

// inEnvironment returns the configuration of one environment.
func inEnvironment(key string, configuration attributes) attributes {
	return attributes{"environments": attributes{key: configuration}}
}

// equals returns logic that is true when a variable has a value.
func equals(variable string, value any) attributes {
	return attributes{"==": []any{attributes{"var": variable}, value}}
}

// serving returns a list with one rule.
func serving(logic, value any) []attributes {
	return []attributes{{"logic": logic, "value": value}}
}

// makeFlag creates a managed flag, BOOLEAN and false unless more says
// otherwise, and returns its path.
func (c client) makeFlag(key string, more attributes) string {
	c.t.Helper()
	c.post(flagsPath, envelope("flag", key, boolean(false, more))).want(201)
	return flagsPath + "/" + key
}

// declare sends a bulk report of flags.
func (c client) declare(items ...attributes) answer {
	c.t.Helper()
	text, err := json.Marshal(attributes{"flags": items})
	if err != nil {
		c.t.Fatal(err)
	}
	return c.post(flagsPath+"/bulk", string(text), with("Content-Type", "application/json"))
}

// discoverFlag makes a discovered BOOLEAN flag and returns its path.
func (c client) discoverFlag(key string) string {
	c.t.Helper()
	c.declare(attributes{"id": key, "type": "BOOLEAN", "default": false}).want(200)
	return flagsPath + "/" + key
}

// creatingFlag posts a flag with a new key.
func creatingFlag(client) (string, string) {
	return flagsPath, envelope("flag", unique("flag"), boolean(false, nil))
}

func aFlagOverOFREP(owner client) string {
	return strings.Replace(aFlag(owner), flagsPath, ofrepPath, 1)
}

// inProduction names the environment in requests of OFREP.
func inProduction(path string) option {
	if strings.HasPrefix(path, "/ofrep/") {
		return with("X-Signalbox-Environment", "production")
	}
	return func(*request) {}
}

// evaluated asks for a flag's value in an environment.
func (c client) evaluated(key, environment string, context attributes) answer {
	c.t.Helper()
	text, err := json.Marshal(attributes{"environment": environment, "context": context})
	if err != nil {
		c.t.Fatal(err)
	}
	return c.post(flagsPath+"/"+key+"/actions/evaluate", string(text))
}

// environment returns the configuration of a flag for an environment, or nil.
func (a answer) environment(key string) map[string]any {
	a.t.Helper()
	found, _ := a.attribute("environments").(map[string]any)[key].(map[string]any)
	return found
}

// jsonNumber returns a number that is sent as it is written.
func jsonNumber(text string) json.RawMessage { return json.RawMessage(text) }
