package api_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	gocmp "github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/signalbox/signalbox/internal/api"
	"github.com/signalbox/signalbox/openapi"
)

// The interface description is OpenAPI 3.1, whose schemas are JSON Schema
// 2020-12. kin-openapi reads it and checks credentials. It would check the rest as
// well, with the same library as is used here; but it compiles a schema anew for
// every use, which costs more than the exchange itself, and so each is compiled
// here once. What kin-openapi leaves out is added: that a status is documented,
// also those it never looks at (304), that a response without a documented body
// has none, and paths that have no operation at all. The tests below show that
// wrong requests and responses are found.

// contract is the interface description, read once.
var contract = sync.OnceValue(func() *openapi3.T {
	text, err := openapi.JSON()
	if err != nil {
		panic(err)
	}
	document, err := openapi3.NewLoader().LoadFromData(text)
	if err != nil {
		panic(err)
	}
	return document
})

// describedPath is one path of the description.
type describedPath struct {
	template string
	segments []string
	item     *openapi3.PathItem
}

// describedPaths are the paths of the description, by their number of segments.
var describedPaths = sync.OnceValue(func() map[int][]describedPath {
	paths := map[int][]describedPath{}
	for template, item := range contract().Paths.Map() {
		segments := strings.Split(template, "/")
		paths[len(segments)] = append(paths[len(segments)], describedPath{template, segments, item})
	}
	return paths
})

// operation returns the description's operation for a request. Path segments
// are matched before they are decoded, as the service does; a literal segment
// wins over a parameter.
func operation(method string, target *url.URL) (*routers.Route, map[string]string) {
	var best *routers.Route
	var parameters map[string]string
	segments := strings.Split(target.EscapedPath(), "/")
	for _, path := range describedPaths()[len(segments)] {
		found, ok := path.match(segments)
		if !ok || path.item.GetOperation(method) == nil || (best != nil && len(found) > len(parameters)) {
			continue
		}
		best = &routers.Route{Spec: contract(), Path: path.template, PathItem: path.item, Method: method, Operation: path.item.GetOperation(method)}
		parameters = found
	}
	return best, parameters
}

// match returns the parameters of a path with as many segments.
func (p describedPath) match(segments []string) (map[string]string, bool) {
	parameters := map[string]string{}
	for i, segment := range p.segments {
		name, isParameter := strings.CutPrefix(segment, "{")
		if !isParameter {
			if segment != segments[i] {
				return nil, false
			}
			continue
		}
		value, err := url.PathUnescape(segments[i])
		if err != nil || value == "" {
			return nil, false
		}
		parameters[strings.TrimSuffix(name, "}")] = value
	}
	return parameters, true
}

// checkExchange fails the test unless the response, and the request where it
// is meant to be valid, are as the description says.
func checkExchange(t testing.TB, sent *http.Request, r request, got answer) {
	t.Helper()
	if err := validateExchange(sent, r, got); err != nil {
		t.Errorf("%s %s answered %d against the contract: %v\nrequest: %.2000s\nresponse: %.2000s",
			r.method, r.path, got.status, err, r.body, got.body)
	}
}

func validateExchange(sent *http.Request, r request, got answer) error {
	if sent.Method == http.MethodHead {
		return nil // the answer to HEAD has no body, and has the headers of GET
	}
	route, parameters := operation(sent.Method, sent.URL)
	if route == nil {
		return validateUnrouted(sent, got)
	}
	if !r.offContract && meansToBeValid(got.status) {
		err := errors.Join(validateCredential(route, sent), validateParameters(route, parameters, sent), validateDescribed(route, sent), validateRequestBody(route, sent, r.body))
		if err != nil {
			return errors.Join(errors.New("the request was accepted but is not valid"), err)
		}
	}
	return validateResponse(route, got)
}

func validateCredential(route *routers.Route, sent *http.Request) error {
	security := route.Operation.Security
	if security == nil {
		security = &contract().Security
	}
	return openapi3filter.ValidateSecurityRequirements(sent.Context(), &openapi3filter.RequestValidationInput{
		Request: sent, Route: route, Options: &openapi3filter.Options{AuthenticationFunc: requireCredential},
	}, *security)
}

// validateParameters checks the path, query and headers of a request.
func validateParameters(route *routers.Route, path map[string]string, sent *http.Request) error {
	of := func(at string, parameters openapi3.Parameters) (err error) {
		for i, each := range parameters {
			var values []string
			switch name := each.Value.Name; each.Value.In {
			case openapi3.ParameterInPath:
				values = []string{path[name]}
			case openapi3.ParameterInQuery:
				values = sent.URL.Query()[name]
			case openapi3.ParameterInHeader:
				values = sent.Header.Values(name)
			}
			place := cmp.Or(each.Ref, fmt.Sprint(at, "/parameters/", i))
			err = errors.Join(err, validateText(each.Value.Name, values, each.Value.Required, each.Value.Schema, place))
		}
		return err
	}
	place := "#/paths/" + pointer(route.Path)
	return errors.Join(of(place, route.PathItem.Parameters), of(place+"/"+strings.ToLower(route.Method), route.Operation.Parameters))
}

// validateDescribed checks that parameters are described which the service took.
// Whether it knows them all is certain for strict requests only.
func validateDescribed(route *routers.Route, sent *http.Request) error {
	strict, query := sent.Header.Get("Prefer") == "handling=strict", sent.URL.Query()
	for name := range query {
		if isDescribed := describes(route, name) || describes(route, "filter["+name+"]"); !isDescribed && (strict || name == "dry_run" && sent.Method != http.MethodGet) {
			return fmt.Errorf("the parameter %s is not described", name)
		}
	}
	if strict && strings.HasPrefix(route.Path, "/api/") && !describes(route, "Prefer") {
		return errors.New("the header Prefer is not described")
	}
	return nil
}

func describes(route *routers.Route, parameter string) bool {
	return slices.ContainsFunc(slices.Concat(route.PathItem.Parameters, route.Operation.Parameters), func(each *openapi3.ParameterRef) bool {
		return each.Value.Name == parameter
	})
}

// validateText checks the text of a parameter or header, which stands for a
// value of the type that its schema has.
func validateText(name string, values []string, required bool, schema *openapi3.SchemaRef, place string) error {
	if len(values) == 0 {
		if required {
			return errors.New("there is no " + name)
		}
		return nil
	}
	var value any = values[0]
	switch kind := schema.Value.Type; {
	case kind.Is("integer"), kind.Is("number"):
		value = json.Number(values[0])
	case kind.Is("boolean") && (values[0] == "true" || values[0] == "false"):
		value = values[0] == "true"
	}
	checked, err := compiled(place + "/schema")
	if err == nil {
		err = checked.Validate(value)
	}
	if err != nil {
		return fmt.Errorf("%s is %q: %w", name, values[0], err)
	}
	return nil
}

func validateRequestBody(route *routers.Route, sent *http.Request, body string) error {
	documented := route.Operation.RequestBody
	switch {
	case documented == nil || body == "" && !documented.Value.Required:
		return nil
	case body == "":
		return errors.New("there is no body")
	}
	place := cmp.Or(documented.Ref, "#/paths/"+pointer(route.Path)+"/"+strings.ToLower(route.Method)+"/requestBody")
	return validateBody(documented.Value.Content, place, sent.Header.Get("Content-Type"), []byte(body))
}

// meansToBeValid reports whether the description should allow a request with this outcome: it
// should, unless the request was refused for its form.
func meansToBeValid(status int) bool {
	refused := []int{http.StatusBadRequest, http.StatusUnauthorized, http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType}
	return status < http.StatusInternalServerError && !slices.Contains(refused, status)
}

func requireCredential(_ context.Context, input *openapi3filter.AuthenticationInput) error {
	if scheme := input.SecurityScheme; scheme.In == openapi3.ParameterInCookie {
		_, err := input.RequestValidationInput.Request.Cookie(scheme.Name)
		return err
	} else if scheme.Type == "apiKey" {
		if input.RequestValidationInput.Request.Header.Get(scheme.Name) == "" {
			return errors.New("no key in " + scheme.Name)
		}
		return nil
	}
	if !strings.HasPrefix(input.RequestValidationInput.Request.Header.Get("Authorization"), "Bearer ") {
		return errors.New("no bearer token")
	}
	return nil
}

func validateResponse(route *routers.Route, got answer) error {
	documented := route.Operation.Responses.Status(got.status)
	if documented == nil {
		return errors.New("the status is not documented")
	}
	place := "#/paths/" + pointer(route.Path) + "/" + strings.ToLower(route.Method) + "/responses/" + strconv.Itoa(got.status)
	return validateAs(documented.Value, cmp.Or(documented.Ref, place), got)
}

// validateAs checks a response against the documented one at a place of the
// description.
func validateAs(documented *openapi3.Response, place string, got answer) (err error) {
	if len(documented.Content) == 0 && len(got.body) > 0 {
		return errors.New("there is a body where none is documented")
	}
	for name, each := range documented.Headers {
		at := cmp.Or(each.Ref, place+"/headers/"+pointer(name))
		err = errors.Join(err, validateText(name, got.header.Values(name), each.Value.Required, each.Value.Schema, at))
	}
	for _, name := range []string{"Preference-Applied", "Idempotency-Replayed", "Cache-Control", "Signalbox-Change"} { // headers that some answers have
		if got.header.Get(name) != "" && documented.Headers[name] == nil {
			err = errors.Join(err, fmt.Errorf("the header %s is not documented", name))
		}
	}
	if err != nil || len(documented.Content) == 0 {
		return err
	}
	return validateBody(documented.Content, place, got.header.Get("Content-Type"), got.body)
}

// largeBody is the size from which a body is not checked against its schema,
// which takes seconds then. Such a body differs from others in its length alone.
const largeBody = 1 << 20

// validateBody checks a body against the schema of its media type.
func validateBody(documented openapi3.Content, place, contentType string, body []byte) error {
	name, _, err := mime.ParseMediaType(contentType)
	if err != nil || documented[name] == nil {
		return fmt.Errorf("the media type %q is not documented", contentType)
	}
	if !strings.HasSuffix(name, "json") || len(body) > largeBody {
		return nil // Prometheus' text has no schema
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(body))
	if err != nil {
		return err
	}
	schema, err := compiled(place + "/content/" + pointer(name) + "/schema")
	if err != nil {
		return err
	}
	return schema.Validate(value)
}

// schemas are the compiled schemas that were needed so far. References are resolved in the whole
// description.
var schemas = struct {
	sync.Mutex
	compiler *jsonschema.Compiler
	byPlace  map[string]*jsonschema.Schema
}{byPlace: map[string]*jsonschema.Schema{}}

func compiled(place string) (*jsonschema.Schema, error) {
	schemas.Lock()
	defer schemas.Unlock()
	if schema, known := schemas.byPlace[place]; known {
		return schema, nil
	}
	if schemas.compiler == nil {
		text, err := openapi.JSON()
		if err != nil {
			return nil, err
		}
		document, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
		if err != nil {
			return nil, err
		}
		schemas.compiler = jsonschema.NewCompiler()
		schemas.compiler.DefaultDraft(jsonschema.Draft2020)
		schemas.compiler.AssertFormat()
		if err := schemas.compiler.AddResource("https://signalbox.example/openapi.json", document); err != nil {
			return nil, err
		}
	}
	schema, err := schemas.compiler.Compile("https://signalbox.example/openapi.json" + place)
	if err == nil {
		schemas.byPlace[place] = schema
	}
	return schema, err
}

// pointer returns a name as a step of a JSON pointer in a URL.
func pointer(name string) string {
	return url.PathEscape(strings.NewReplacer("~", "~0", "/", "~1").Replace(name))
}

// validateUnrouted checks the answer to a request with an unknown path or method.
func validateUnrouted(sent *http.Request, got answer) error {
	name := map[int]string{http.StatusNotFound: "NotFound", http.StatusMethodNotAllowed: "MethodNotAllowed"}[got.status]
	if name == "" {
		return errors.New("there is no such operation, and the answer is neither 404 nor 405")
	}
	if strings.HasPrefix(sent.URL.Path, "/ofrep/") {
		name = "OfrepFailure"
	}
	return validateAs(contract().Components.Responses[name].Value, "#/components/responses/"+name, got)
}

func TestContract_HasEveryRoute(t *testing.T) {
	t.Parallel()
	var documented []string
	for path, item := range contract().Paths.Map() {
		for method := range item.Operations() {
			documented = append(documented, method+" "+path)
		}
	}
	served := api.RoutePatterns()
	slices.Sort(documented)
	slices.Sort(served)
	if difference := gocmp.Diff(served, documented); difference != "" {
		t.Errorf("routes.go (-) and openapi.yaml (+) differ:\n%s", difference)
	}
}

// TestContract_SaysWhoMayCall enforces the house style of the description.
func TestContract_SaysWhoMayCall(t *testing.T) {
	t.Parallel()
	for path, item := range contract().Paths.Map() {
		t.Run(path, func(t *testing.T) {
			for method, operation := range item.Operations() {
				if operation.OperationID == "" || operation.Summary == "" || len(operation.Tags) != 1 {
					t.Errorf("%s %s: operationId, summary or tag is missing", method, path)
				}
				open := operation.Security != nil && len(*operation.Security) == 0
				description := strings.Join(strings.Fields(operation.Description), " ")
				says := strings.Contains(description, "ny role") || strings.Contains(description, "MEMBER or higher") ||
					strings.Contains(description, "ADMIN or OWNER")
				if open == says || (open && !strings.Contains(description, "Needs no credential")) {
					t.Errorf("%s %s: the description does not say who may call it: %q", method, path, operation.Description)
				}
			}
		})
	}
}

// TestContract_ValidatorFindsWrongResponses changes a good response in one
// place each, which must be found: a validator that lets things pass proves nothing.
func TestContract_ValidatorFindsWrongResponses(t *testing.T) {
	t.Parallel()
	const environment = `{"data":{"id":"qa","type":"environment","attributes":{"name":"Q","color":null,"classification":"STANDARD",` +
		`"managed":true,"created_at":"2030-01-31T08:00:00.5Z","updated_at":"2030-01-31T08:00:00Z"}}}`
	const key = `{"data":{"id":"01928c3e-7b1a-7c55-b2a4-9a3a4f6d2f10","type":"api_key","attributes":{"name":"k","role":"ADMIN",` +
		`"status":"ACTIVE","access":"full","scopes":{},"expires_at":null,"last_used_at":null,"created_by":"01928c3e-7b1a-7c55-b2a4-9a3a4f6d2f11",` +
		`"created_at":"2030-01-31T08:00:00Z","updated_at":"2030-01-31T08:00:00Z"}}}`
	const missing = `{"errors":[{"status":"404","code":"not_found","title":"Not found","detail":"No.","meta":{}}]}`
	cases := []struct {
		name, path   string
		status       int
		good         string
		old, changed string // "" is the good one itself
	}{
		{"a color that is null", "/api/v1/environments/qa", 200, environment, "", ""},
		{"a color that is a hex color", "/api/v1/environments/qa", 200, environment, `"color":null`, `"color":"#fff"`},
		{"an empty color", "/api/v1/environments/qa", 200, environment, `"color":null`, `"color":""`},
		{"a color that is a number", "/api/v1/environments/qa", 200, environment, `"color":null`, `"color":5`},
		{"an attribute nobody documented", "/api/v1/environments/qa", 200, environment, `"managed":true`, `"managed":true,"secret":1`},
		{"a missing attribute", "/api/v1/environments/qa", 200, environment, `"managed":true,`, ``},
		{"a classification in lower case", "/api/v1/environments/qa", 200, environment, `STANDARD`, `standard`},
		{"a time with an offset", "/api/v1/environments/qa", 200, environment, `08:00:00.5Z`, `08:00:00+01:00`},
		{"a time with nanoseconds", "/api/v1/environments/qa", 200, environment, `08:00:00.5Z`, `08:00:00.123456789Z`},
		{"another type", "/api/v1/environments/qa", 200, environment, `"type":"environment"`, `"type":"service"`},
		{"a member beside data", "/api/v1/environments/qa", 200, environment, `{"data"`, `{"more":1,"data"`},
		{"a status nobody documented", "/api/v1/environments/qa", 202, environment, "environment", "environment"},
		{"a key without its plaintext", "/api/v1/api_keys/x", 200, key, "", ""},
		{"a key with its plaintext", "/api/v1/api_keys/x", 200, key, `"name":"k"`, `"name":"k","key":"sk_api_1"`},
		{"a key with a scope nobody knows", "/api/v1/api_keys/x", 200, key, `"scopes":{}`, `"scopes":{"flags":[]}`},
		{"an error", "/api/v1/environments/qa", 404, missing, "", ""},
		{"an error without a title", "/api/v1/environments/qa", 404, missing, `"title":"Not found",`, ``},
		{"an error with a numeric status", "/api/v1/environments/qa", 404, missing, `"404"`, `404`},
		{"an error with the code of another status", "/api/v1/environments/qa", 404, missing, `not_found`, `forbidden`},
		{"an error with a stack", "/api/v1/environments/qa", 404, missing, `"meta":{}`, `"meta":{"stack":"main.go:1"}`},
		{"an error at a path without a route", "/api/v1/nowhere", 404, missing, "", ""},
		{"anything else at a path without a route", "/api/v1/nowhere", 200, missing, "404", "404"},
		{"a redirect", "/api/v1/environments/qa", 301, missing, "404", "404"},
		{"a body with a 304", "/api/v1/environments/qa", 304, missing, "404", "404"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			sent, request, got := fakeExchange(c.path, c.status, strings.Replace(c.good, c.old, c.changed, 1))
			err := validateExchange(sent, request, got)
			wantsGood := c.old == "" || strings.Contains(c.changed, "#fff")
			if (err == nil) != wantsGood {
				t.Errorf("valid: %v, want %v (%v)", err == nil, wantsGood, err)
			}
		})
	}
	t.Run("a header nobody documented", func(t *testing.T) {
		t.Parallel()
		sent, request, got := fakeExchange("/api/v1/environments/qa", 404, missing)
		got.header.Set("Idempotency-Replayed", "true")
		if validateExchange(sent, request, got) == nil {
			t.Error("nobody notices it")
		}
	})
	t.Run("a response without its headers", func(t *testing.T) {
		t.Parallel()
		for _, name := range []string{"X-Request-Id", "Etag", "Content-Type"} {
			t.Run(name, func(t *testing.T) {
				sent, request, got := fakeExchange("/api/v1/environments/qa", 200, environment)
				got.header.Del(name)
				if validateExchange(sent, request, got) == nil {
					t.Errorf("nobody misses %s", name)
				}
			})
		}
	})
}

func fakeExchange(path string, status int, body string) (*http.Request, request, answer) {
	sent := httptest.NewRequest(http.MethodGet, path, nil)
	sent.Header.Set("Authorization", "Bearer x")
	header := http.Header{"X-Request-Id": {"r-1"}, "Etag": {`"tag"`}, "Content-Type": {"application/vnd.api+json"}, "Location": {"/"}}
	return sent, request{method: http.MethodGet, path: path}, answer{status: status, header: header, body: []byte(body)}
}

// TestContract_ValidatorFindsWrongRequests shows the same for requests.
func TestContract_ValidatorFindsWrongRequests(t *testing.T) {
	t.Parallel()
	const scoped = `{"data":{"attributes":{"name":"k","scopes":{"environments":["a"]}}}}`
	cases := []struct {
		name, body string
		valid      bool
	}{
		{"a scope", scoped, true},
		{"an unknown attribute", strings.Replace(scoped, `"name"`, `"more":1,"name"`, 1), true},
		{"an unknown scope", strings.Replace(scoped, `"environments"`, `"environment"`, 1), false},
		{"an empty scope", strings.Replace(scoped, `["a"]`, `[]`, 1), false},
		{"no attributes", `{"data":{}}`, false},
		{"another type", strings.Replace(scoped, `{"attributes"`, `{"type":"flag","attributes"`, 1), false},
	}
	const created = `{"data":{"id":"01928c3e-7b1a-7c55-b2a4-9a3a4f6d2f10","type":"api_key","attributes":{"name":"k","role":"ADMIN",` +
		`"status":"ACTIVE","access":"full","scopes":{},"expires_at":null,"last_used_at":null,"created_by":"01928c3e-7b1a-7c55-b2a4-9a3a4f6d2f11",` +
		`"created_at":"2030-01-31T08:00:00Z","updated_at":"2030-01-31T08:00:00Z","key":"sk_api_abcdefghijklmnopqrstuvwxyz0123456789ABCDEFG"}}}`
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			sent, request, got := fakeExchange("/api/v1/api_keys", http.StatusCreated, created)
			sent.Method, request.method, request.body = http.MethodPost, http.MethodPost, c.body
			sent.Header.Set("Content-Type", "application/vnd.api+json")
			err := validateExchange(sent, request, got)
			if (err == nil) != c.valid {
				t.Errorf("valid: %v, want %v (%v)", err == nil, c.valid, err)
			}
		})
	}
}

// knownCodes are the error codes of the description.
var knownCodes = sync.OnceValue(func() []string {
	var codes []string
	for _, code := range contract().Components.Schemas["Error"].Value.Properties["code"].Value.Enum {
		codes = append(codes, code.(string))
	}
	return codes
})

// checkErrorDocument returns what is wrong with the body of an error.
func checkErrorDocument(status int, body []byte) error {
	var document struct {
		Errors []struct {
			Status, Code, Title, Detail string
		}
	}
	if err := json.Unmarshal(body, &document); err != nil {
		return err
	}
	if len(document.Errors) == 0 {
		return errors.New("no error in the document")
	}
	for _, each := range document.Errors {
		if each.Status != strconv.Itoa(status) || !slices.Contains(knownCodes(), each.Code) || each.Title == "" || each.Detail == "" {
			return errors.New("an error is incomplete or has an unknown code")
		}
	}
	return nil
}
