package api_test

import "maps"

// makeConfig creates a config with one item of each type, unless more says
// otherwise, and returns its path.
func (c client) makeConfig(key string, more attributes) string {
	c.t.Helper()
	wanted := attributes{"items": attributes{
		"text": item("a"), "number": item(1), "switch": item(true), "object": item(attributes{"a": 1}),
	}}
	maps.Copy(wanted, more)
	c.post(configsPath, envelope("config", key, wanted)).want(201)
	return configsPath + "/" + key
}

// item returns an item whose type is read off its value.
func item(value any) attributes { return attributes{"value": value} }

// items returns items whose types are read off their values.
func items(values attributes) attributes {
	made := attributes{}
	for key, value := range values {
		made[key] = item(value)
	}
	return made
}

// resolved reads the resolved values of a config; "" is no environment.
func (c client) resolved(key, environment string) answer {
	c.t.Helper()
	path := configsPath + "/" + key + "/resolved"
	if environment != "" {
		path += "?environment=" + environment
	}
	return c.get(path).want(200)
}
