package signalbox_test

import (
	"encoding/json"
	"strings"
	"testing"

	signalbox "github.com/signalbox/signalbox/client"
	"github.com/signalbox/signalbox/client/internal/servertest"
)

func TestDocuments_CarryResourcesOfEveryKind(t *testing.T) {
	t.Parallel()
	client := servertest.Start(t).Client()
	bodies := map[string]string{
		"environment": `{"name":"QA"}`, "service": `{}`, "context_type": `{"name":"People"}`, "log_group": `{"level":"WARN"}`, "logger": `{"level":"DEBUG"}`,
		"config": `{"items":{"a":{"value":1.50}}}`, "flag": `{"type":"JSON","default":{"b":1,"a":2}}`,
		"job":     `{"name":"J","schedule":"0 1 * * *","configuration":{"url":"https://a.example"}}`,
		"webhook": `{"name":"W","url":"https://a.example","events":["*"]}`,
	}
	for _, kind := range signalbox.DocumentKinds() {
		t.Run(kind, func(t *testing.T) {
			write, id := client.Documents.Create, "x1"
			if kind == "webhook" {
				id = "01928c3e-7b1a-4c55-b2a4-9a3a4f6d2f10"
			}
			if kind == "logger" {
				write = client.Documents.Replace
			}
			if _, err := write(t.Context(), kind, id, json.RawMessage(bodies[kind])); err != nil {
				t.Fatalf("%v", err)
			}
			got, err := client.Documents.Get(t.Context(), kind, id)
			if err != nil || got.ID != id || got.ETag == "" || !json.Valid(got.Attributes) {
				t.Errorf("got %+v, %v", got, err)
			}
			found := false
			for document, err := range client.Documents.All(t.Context(), kind) {
				if err != nil {
					t.Fatal(err)
				}
				found = found || document.ID == id && json.Valid(document.Attributes)
			}
			if !found {
				t.Error("it is not listed")
			}
			if err := client.Documents.Delete(t.Context(), kind, id, signalbox.DryRun()); err != nil {
				t.Error(err)
			}
			if err := client.Documents.Delete(t.Context(), kind, id); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestDocuments_UnknownKind(t *testing.T) {
	t.Parallel()
	client := servertest.Start(t).Client()
	_, created := client.Documents.Create(t.Context(), "api_key", "x", nil)
	_, replaced := client.Documents.Replace(t.Context(), "api_key", "x", nil)
	_, got := client.Documents.Get(t.Context(), "api_key", "x")
	errs := []error{created, replaced, got, client.Documents.Delete(t.Context(), "api_key", "x")}
	for _, err := range client.Documents.All(t.Context(), "api_key") {
		errs = append(errs, err)
	}
	for _, err := range errs {
		if err == nil || !strings.Contains(err.Error(), `there are no documents of kind "api_key"; the kinds are environment, `) {
			t.Errorf("got %v", err)
		}
	}
}
