package signalbox

import (
	"testing"
	"time"
)

const noted = `{"data":{"id":"a","type":"service","attributes":{"name":"A"}},"meta":{"ignored":["/data/attributes/nam"],` +
	`"warnings":[{"pointer":"/data/id","detail":"There is another."}],"dry_run":true}}`

func TestWrite_Notes(t *testing.T) {
	t.Parallel()
	server := newStub(t, reply{status: 201, body: noted})
	client, err := New(server.URL, "key")
	if err != nil {
		t.Fatal(err)
	}
	made, err := client.Services.Create(t.Context(), "a", ServiceDraft{Name: "A"}, DryRun())
	if err != nil {
		t.Fatal(err)
	}
	if made.Notes == nil || !made.Notes.DryRun || len(made.Notes.Ignored) != 1 || made.Notes.Warnings[0] != (Warning{"/data/id", "There is another."}) {
		t.Errorf("got %+v", made.Notes)
	}
	if sent := server.seen[0]; sent.uri != "/api/v1/services?dry_run=true" || sent.header.Get("Prefer") != "handling=strict" {
		t.Errorf("sent %s with %v", sent.uri, sent.header)
	}
	if err := client.Environments.DeleteWithValues(t.Context(), "a", DryRun()); err != nil || server.seen[1].uri != "/api/v1/environments/a?cascade=true&dry_run=true" {
		t.Errorf("%v, sent %s", err, server.seen[1].uri)
	}
}

func TestWithLenientServer_SendsNoPreference(t *testing.T) {
	t.Parallel()
	server := newStub(t, reply{status: 200, body: `{"data":{"id":"a","attributes":{}}}`})
	client, err := New(server.URL, "key", WithLenientServer(), WithTimeout(time.Minute))
	if err != nil {
		t.Fatal(err)
	}
	read, err := client.Services.Get(t.Context(), "a")
	if err != nil || read.Notes != nil {
		t.Errorf("%v, %+v", err, read)
	}
	if _, sent := server.seen[0].header["Prefer"]; sent {
		t.Errorf("sent %v", server.seen[0].header)
	}
}
