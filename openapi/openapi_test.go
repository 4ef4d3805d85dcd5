package openapi_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/signalbox/signalbox/openapi"
)

// served is the description as JSON. Making it takes longer than any test.
var served = sync.OnceValues(func() ([]byte, error) { return openapi.JSON() })

// document is the description as a library reads it.
var document = sync.OnceValues(func() (*openapi3.T, error) {
	text, err := served()
	if err != nil {
		return nil, err
	}
	return openapi3.NewLoader().LoadFromData(text)
})

func load(t *testing.T) *openapi3.T {
	t.Helper()
	loaded, err := document()
	if err != nil {
		t.Fatal(err)
	}
	return loaded
}

// TestDescription_Valid includes its examples.
func TestDescription_Valid(t *testing.T) {
	t.Parallel()
	document := load(t)
	if document.OpenAPI != "3.1.0" {
		t.Errorf("it is OpenAPI %s", document.OpenAPI)
	}
	if err := document.Validate(t.Context()); err != nil {
		t.Error(err)
	}
}

// TestDescription_ReadByAnotherLibrary: what is served as JSON is made from it by
// another library.
func TestDescription_ReadByAnotherLibrary(t *testing.T) {
	t.Parallel()
	document, err := openapi3.NewLoader().LoadFromFile("openapi.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if fromYAML, fromJSON := document.Paths.Len(), load(t).Paths.Len(); fromYAML != fromJSON {
		t.Errorf("%d paths in YAML, %d in JSON", fromYAML, fromJSON)
	}
}

// tree is the description as plain JSON, for rules about its text.
func tree(t *testing.T) map[string]any {
	t.Helper()
	text, err := served()
	if err != nil {
		t.Fatal(err)
	}
	var document map[string]any
	if err := json.Unmarshal(text, &document); err != nil {
		t.Fatal(err)
	}
	return document
}

// walk visits every object of the description with its place.
func walk(place string, node any, visit func(place string, object map[string]any)) {
	switch node := node.(type) {
	case map[string]any:
		visit(place, node)
		for name, child := range node {
			walk(place+"/"+name, child, visit)
		}
	case []any:
		for i, child := range node {
			walk(fmt.Sprintf("%s/%d", place, i), child, visit)
		}
	}
}

func TestDescription_UnusedComponents(t *testing.T) {
	t.Parallel()
	document := tree(t)
	used := map[string]bool{
		"#/components/responses/MethodNotAllowed": true, // any path may answer so, and no operation can say it
	}
	walk("", document, func(_ string, object map[string]any) {
		if reference, ok := object["$ref"].(string); ok {
			used[reference] = true
		}
	})
	for kind, components := range document["components"].(map[string]any) {
		if kind == "securitySchemes" {
			continue
		}
		for name := range components.(map[string]any) {
			if !used["#/components/"+kind+"/"+name] {
				t.Errorf("components/%s/%s is never used", kind, name)
			}
		}
	}
}

// TestDescription_ResponsesClosedRequestsOpen: an attribute that nobody
// documented must fail the tests; an attribute that nobody knows is ignored.
func TestDescription_ResponsesClosedRequestsOpen(t *testing.T) {
	t.Parallel()
	free := []string{
		"/components/schemas/Settings",         // a free object
		"/components/schemas/ApiKeyProperties", // closed by the schemas that include it
		// What a job sends is closed on purpose: a misspelled member would be sent as if it had not been written.
		"/components/schemas/JobConfigurationInput",
	}
	walk("", tree(t), func(place string, object map[string]any) {
		if object["type"] != "object" || object["properties"] == nil || slices.Contains(free, place) || strings.Contains(place, "openapi.json") {
			return
		}
		isRequest := strings.Contains(place, "Request") || strings.Contains(place, "Report/") || strings.HasSuffix(place, "Report") || strings.Contains(place, "Input")
		closed := object["additionalProperties"] == false || strings.Contains(place, "/allOf/")
		if isRequest && closed {
			t.Errorf("%s is sent and closed", place)
		}
		if !isRequest && !closed {
			t.Errorf("%s is answered and open", place)
		}
	})
	request := tree(t)["components"].(map[string]any)["schemas"].(map[string]any)["ApiKeyRequest"]
	closed := 0
	walk("", request, func(place string, object map[string]any) {
		if object["additionalProperties"] == false {
			closed++
			if !strings.HasSuffix(place, "/scopes") {
				t.Errorf("%s is closed, and not a scope", place)
			}
		}
	})
	if closed != 1 {
		t.Error("scopes are open: a misspelled restriction would pass")
	}
}

func TestDescription_OperationIDsUnique(t *testing.T) {
	t.Parallel()
	seen := map[string]string{}
	for path, item := range load(t).Paths.Map() {
		for method, operation := range item.Operations() {
			if other, taken := seen[operation.OperationID]; taken {
				t.Errorf("%s %s and %s are both called %s", method, path, other, operation.OperationID)
			}
			seen[operation.OperationID] = method + " " + path
		}
	}
}

// TestDescription_ResponsesHaveRequestID checks every response, with or without a body.
func TestDescription_ResponsesHaveRequestID(t *testing.T) {
	t.Parallel()
	for path, item := range load(t).Paths.Map() {
		for method, operation := range item.Operations() {
			for status, response := range operation.Responses.Map() {
				if header := response.Value.Headers["X-Request-Id"]; header == nil || !header.Value.Required {
					t.Errorf("%s %s %s has no X-Request-Id", method, path, status)
				}
			}
		}
	}
}
