package manifest_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	signalbox "github.com/signalbox/signalbox/client"
	"github.com/signalbox/signalbox/internal/cli/manifest"
)

// publishedSchema compiles what editors get.
func publishedSchema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	text, err := manifest.Schema()
	if err != nil {
		t.Fatal(err)
	}
	document, err := jsonschema.UnmarshalJSON(strings.NewReader(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	if err := compiler.AddResource("files.json", document); err != nil {
		t.Fatal(err)
	}
	schema, err := compiler.Compile("files.json")
	if err != nil {
		t.Fatal(err)
	}
	return schema
}

const validFiles = `[
{"kind":"environment","id":"qa"},
{"kind":"flag","id":"a","type":"boolean","default":false,"environments":{"qa":{"rules":[{"logic":{"==":[1,1]},"value":true}]}},"runtime":["enabled"],"moved":{"from":"b"}},
{"kind":"flag","id":"j","type":"JSON","default":null,"values":[1,{"name":"Two","value":2}]},
{"kind":"logger","id":"l","level":"debug","environments":{"qa":{"level":null},"production":null}},
{"kind":"log_group","id":"g","level":null,"level_ttl_seconds":60},
{"kind":"config","id":"c","parent":null,"items":{"x":{"value":{"any":[1]},"type":"json","schema":{"type":"object"}}},"environments":{"qa":{"x":{}}}},
{"kind":"job","id":"n","name":"N","schedule":"now","configuration":{"url":"https://a.example","headers":[{"name":"A","value":"x"},{"name":"B","valueFrom":"env:B"},{"name":"C","valueFrom":"stored"}]}},
{"kind":"job","id":"o","name":"O","schedule":"now","configuration":{"url":"https://a.example","headers":{"A":"x"}}},
{"kind":"logger","id":"com/example:Checkout"},{"kind":"log_group","id":"a group / b"},
{"kind":"webhook","id":"01928C3E-7b1a-7c55-b2a4-9a3a4f6d2f10","name":"A","events":["*"],"url":{"valueFrom":"env:URL"}},
{"kind":"job","id":"p","name":"P","schedule":"now","configuration":{"url":"HTTPS://a.example/?q={x}","method":"get"}},
{"kind":"config","id":"d","items":{"n":{"value":null},"s":{"value":"x","type":null,"schema":null}},"environments":{"qa":{"n":5,"s":null,"inherited":true}}},
{"kind":"service","id":"s"},{"kind":"context_type","id":"t","attributes":{"plan":{}}}]`

func TestValidate_Valid(t *testing.T) {
	t.Parallel()
	if err := manifest.Validate(read(t, validFiles)); err != nil {
		t.Error(err)
	}
	schema := publishedSchema(t)
	whole, err := jsonschema.UnmarshalJSON(strings.NewReader(validFiles))
	if err == nil {
		err = schema.Validate(whole)
	}
	if err != nil {
		t.Error(err)
	}
	for _, each := range whole.([]any) { // one document for each
		if err := schema.Validate(each); err != nil {
			t.Error(err)
		}
	}
}

// validate, and the schema for editors, report every problem with its place.
func TestValidate_Refuses(t *testing.T) {
	t.Parallel()
	schema := publishedSchema(t)
	tests := map[string]struct{ text, want string }{
		"a misspelled member":       {`{"kind":"flag","id":"a","type":"BOOLEAN","default":true,"environmnts":{}}`, `the input:1: flag a: there is no member "environmnts". Did you mean environments?`},
		"one of an environment":     {`{"kind":"flag","id":"a","type":"BOOLEAN","default":true,"environments":{"qa":{"enabld":true}}}`, `environments.qa: there is no member "enabld".`},
		"a default of another type": {`{"kind":"flag","id":"a","type":"BOOLEAN","default":3}`, "flag a: default: must be boolean, not number"},
		"no default":                {`{"kind":"flag","id":"a","type":"BOOLEAN"}`, "flag a: default is required"},
		"no such type":              {`{"kind":"flag","id":"a","type":"BOOL","default":3}`, "type: must be one of BOOLEAN, STRING, NUMERIC, JSON"},
		"no such level":             {`{"kind":"logger","id":"a","level":"LOUD"}`, "level: must be one of TRACE, DEBUG, INFO, WARN, ERROR, FATAL, SILENT"},
		"a level that is a number":  {`{"kind":"logger","id":"a","environments":{"qa":{"level":5}}}`, "environments.qa.level: must be null or string, not number"},
		"a job for an environment":  {`{"kind":"job","id":"a","name":"A","schedule":"now","configuration":{"url":"u"},"environments":{}}`, `there is no member "environments".`},
		"a header without a value":  {`{"kind":"job","id":"a","name":"A","schedule":"now","configuration":{"url":"u","headers":[{"name":"A"}]}}`, "configuration.headers[0]: value is required"},
		"a reference to nothing":    {`{"kind":"job","id":"a","name":"A","schedule":"now","configuration":{"url":"u","headers":[{"name":"A","valueFrom":"vault"}]}}`, "configuration.headers[0].valueFrom: 'vault' does not match"},
		"an item without a value":   {`{"kind":"config","id":"a","items":{"x":5}}`, "items.x: must be object, not number"},
		"no such method":            {`{"kind":"job","id":"a","name":"A","schedule":"now","configuration":{"url":"https://a.example","method":"FETCH"}}`, "job a: configuration.method: must be one of GET, POST, PUT, PATCH, DELETE"},
		"no absolute URL":           {`{"kind":"job","id":"a","name":"A","schedule":"now","configuration":{"url":"a.example/x"}}`, "job a: configuration.url: 'a.example/x' does not match pattern"},
		"a webhook's URL":           {`{"kind":"webhook","id":"01928C3E-7b1a-7c55-b2a4-9a3a4f6d2f10","name":"A","events":["*"],"url":"ftp://a.example"}`, "url: 'ftp://a.example' does not match pattern"},
		"an id with a space":        {`{"kind":"job","id":"a b","name":"A","schedule":"now","configuration":{"url":"https://a.example"}}`, "id: 'a b' does not match pattern '^[A-Za-z0-9][A-Za-z0-9._-]{0,199}$'"},
		"an id that no path has":    {`{"kind":"service","id":".."}`, "service ..: id: "},
		"an id that is no UUID":     {`{"kind":"webhook","id":"ops","name":"A","events":["*"],"url":"https://a.example"}`, "id: 'ops' does not match pattern"},
		"a long environment":        {`{"kind":"environment","id":"` + strings.Repeat("a", 101) + `"}`, "id: "},
		"an item of another type":   {`{"kind":"config","id":"a","items":{"x":{"type":"number","value":"5"}}}`, "config a: items.x.value: must be number, not string"},
		"an item that is null":      {`{"kind":"config","id":"a","items":{"x":{"type":"STRING","value":null}}}`, "items.x.value: must be string, not null"},
		"a schema of a text":        {`{"kind":"config","id":"a","items":{"x":{"type":"STRING","value":"","schema":{}}}}`, "items.x.schema: must be null, not object"},
		"a color":                   {`{"kind":"environment","id":"a","color":"red"}`, "color: 'red' does not match pattern"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if err := manifest.Validate(read(t, test.text)); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v", err)
			}
			document, err := jsonschema.UnmarshalJSON(strings.NewReader(test.text))
			if err == nil {
				err = schema.Validate(document)
			}
			if err == nil {
				t.Error("an editor does not see it")
			}
		})
	}
	only := map[string]struct{ text, want string }{ // what a schema cannot say
		"a rule":           {`{"kind":"flag","id":"a","type":"BOOLEAN","default":true,"environments":{"qa":{"rules":[{"logic":{"nope":1},"value":true}]}}}`, `environments.qa.rules[0].logic: unknown operator "nope"`},
		"a cycle":          {`[{"kind":"config","id":"a","parent":"b"},{"kind":"config","id":"b","parent":"a"}]`, "configs must not inherit from themselves: a → b → a"},
		"a URL's port":     {`{"kind":"job","id":"a","name":"A","schedule":"now","configuration":{"url":"https://a.example:99999"}}`, "job a: configuration.url: must have a port from 1 to 65535"},
		"an override":      {`{"kind":"config","id":"a","items":{"x":{"value":1}},"environments":{"qa":{"x":"2"}}}`, "config a: environments.qa.x: must be a NUMBER, as the item is"},
		"several problems": {`[{"kind":"flag","id":"a"},{"kind":"job","id":"b"}]`, "the input:1: job b: name, schedule and configuration are required"},
	}
	for name, test := range only {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if err := manifest.Validate(read(t, test.text)); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v", err)
			}
		})
	}
}

// The schema has every member that the interface has, and takes what an export writes.
func TestSchema_HasEveryMember(t *testing.T) {
	t.Parallel()
	text, err := manifest.Schema()
	if err != nil {
		t.Fatal(err)
	}
	var published struct {
		Defs map[string]struct{ Properties map[string]any } `json:"$defs"`
	}
	if err := json.Unmarshal(text, &published); err != nil {
		t.Fatal(err)
	}
	for _, kind := range signalbox.DocumentKinds() {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			for _, name := range append(attributes(t, kind, "request").properties(), "kind", "id", "runtime") {
				if _, has := published.Defs[kind].Properties[name]; !has {
					t.Errorf("it has no %s", name)
				}
			}
		})
	}
	if strings.Contains(string(text), "#/components") {
		t.Error("it refers to something that it does not have")
	}
}

func TestValidate_Values(t *testing.T) {
	t.Parallel()
	const job = `{"kind":"job","id":"j","name":"J","configuration":{"url":"https://a.example"},`
	tests := map[string]struct{ text, want string }{
		"a wrong default":      {`{kind: flag, id: a, type: BOOLEAN, default: x}`, "default: must be boolean, not string"},
		"a wrong rule":         {`{kind: flag, id: a, type: BOOLEAN, default: false, environments: {qa: {rules: [{logic: {}, value: x}]}}}`, `environments.qa.rules[0].value: "x" is no value`},
		"a wrong environment":  {`{kind: flag, id: a, type: NUMERIC, default: 1, environments: {qa: {default: x}}}`, `environments.qa.default: "x" is no value`},
		"not one of its":       {`{kind: flag, id: a, type: STRING, default: c, values: [a, {name: B, value: b}]}`, `default: "c" is not one of the flag's values`},
		"one of its":           {`{kind: flag, id: a, type: NUMERIC, default: 1.0, values: [1, {name: Two, value: 2}], environments: {qa: {default: null}, qb: {default: 2}}}`, ""},
		"an hour too late":     {job + `"schedule":"0 61 * * *"}`, "schedule: the hour field"},
		"a minute too late":    {job + `"schedule":"61 2 * * *"}`, "schedule: the minute field"},
		"four fields":          {job + `"schedule":"30 2 * *"}`, "schedule: "},
		"no zone":              {job + `"schedule":"30 2 * * *","timezone":"Europe/Atlantis"}`, `timezone: "Europe/Atlantis" is no time zone`},
		"a zone":               {job + `"schedule":"30 2 * * *","timezone":"Europe/Oslo"}`, ""},
		"a date":               {job + `"schedule":"2030-01-31T08:00:00Z"}`, ""},
		"a date with a space":  {job + `"schedule":"2030-01-31 08:00:00Z"}`, ""},
		"at once, in capitals": {job + `"schedule":"NOW"}`, ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := manifest.Validate(read(t, test.text))
			if (err != nil) != (test.want != "") || err != nil && !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v", err)
			}
		})
	}
}
