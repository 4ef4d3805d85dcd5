package api_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/internal/app/apptest"
	"github.com/signalbox/signalbox/internal/store/storetest"
)

// serve answers one request on a node without a socket.
func serve(node *apptest.Node, method, path, body string) *httptest.ResponseRecorder {
	sent := httptest.NewRequest(method, path, strings.NewReader(body))
	sent.Header.Set("Authorization", "Bearer "+node.Key)
	sent.Header.Set("X-Signalbox-Environment", "production")
	recorder := httptest.NewRecorder()
	node.App.Handler().ServeHTTP(recorder, sent)
	return recorder
}

// FuzzFlag sends the attributes of a flag. An accepted flag is served in every environment, and its
// document can be sent back without a change.
func FuzzFlag(f *testing.F) {
	for _, seed := range []string{
		`{"type":"BOOLEAN","default":false}`,
		`{"type":"BOOLEAN","default":false,"values":[true,{"name":"No","value":false}],"managed":true,"name":"N","description":null}`,
		`{"type":"string","default":"a","values":["a","b"],"environments":{"production":{"enabled":false,"default":"b","rules":[{"logic":{"==":[{"var":"user.key"},"x"]},"value":"b"}]}}}`,
		`{"type":"NUMERIC","default":1.0,"values":[1,2e0,1e400],"environments":{"production":{"default":1e0,"rules":[{"logic":{},"value":2,"description":"d"}]}}}`,
		`{"type":"JSON","default":null,"environments":{"production":{"rules":[{"logic":{"fractional":["a",50]},"value":{"b":1,"a":[{"name":"x","value":1}]}}]}}}`,
		`{"type":"JSON","default":{"name":"n","value":1},"values":[{"name":"n","value":1},{"name":"N","value":{"name":"n","value":1}}]}`,
		`{"type":"JSON","default":"\u0000\ud800","environments":{"nowhere":{},"pro~1duction":null,"production":{"rules":[{"logic":{"nope":1},"value":1},{"logic":5},null]}}}`,
	} {
		f.Add(seed)
	}
	node := apptest.Start(f, storetest.New(f, "sqlite"))
	f.Fuzz(func(t *testing.T, attributes string) {
		if !json.Valid([]byte(attributes)) {
			attributes = `{"type":"JSON","default":{},"description":` + quoted(attributes) + `}`
		}
		path := flagsPath + "/" + unique("fuzzed")
		made := serve(node, http.MethodPost, flagsPath, `{"data":{"id":`+quoted(strings.TrimPrefix(path, flagsPath+"/"))+`,"attributes":`+attributes+`}}`)
		if made.Code != http.StatusCreated {
			if err := checkErrorDocument(made.Code, made.Body.Bytes()); err != nil || made.Code >= 500 {
				t.Fatalf("%s: %d, %v in %s", attributes, made.Code, err, made.Body)
			}
			return
		}
		again := serve(node, http.MethodPut, path, made.Body.String())
		if again.Code != http.StatusOK || definition(t, again.Body.Bytes()) != definition(t, made.Body.Bytes()) {
			t.Errorf("%s: stored as %s, and sent back: %d %s", attributes, made.Body, again.Code, again.Body)
		}
		if served := serve(node, http.MethodPost, strings.Replace(path, flagsPath, ofrepPath, 1), ""); served.Code != http.StatusOK || !json.Valid(served.Body.Bytes()) {
			t.Errorf("%s: served %d %s", attributes, served.Code, served.Body)
		}
		if deleted := serve(node, http.MethodDelete, path, ""); deleted.Code != http.StatusNoContent {
			t.Errorf("%s: deleting it: %d %s", attributes, deleted.Code, deleted.Body)
		}
	})
}

// definition returns a flag without its times.
func definition(t *testing.T, document []byte) string {
	t.Helper()
	var parsed struct {
		Data struct{ Attributes map[string]json.RawMessage }
	}
	if err := json.Unmarshal(document, &parsed); err != nil {
		t.Fatalf("%v in %s", err, document)
	}
	delete(parsed.Data.Attributes, "updated_at")
	text, err := json.Marshal(parsed.Data.Attributes)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func quoted(text string) string {
	encoded, _ := json.Marshal(text) // a string always encodes
	return string(encoded)
}

// FuzzOFREP evaluates for bodies of any kind, one flag and all: the answers are
// what the protocol knows, and agree with each other.
func FuzzOFREP(f *testing.F) {
	for _, seed := range []string{
		"", "{}", `{"context":null}`, `{"context":{"targetingKey":"alice","plan":"pro","age":7}}`, `{"context":{"user":{"key":"b"},"targetingKey":"a"}}`,
		`{"context":{"user":"x","tenant":{"key":["a"]},"user.plan":1}}`, `{"context":[]}`, `{"context":{"targetingKey":{"a":1}}}`, `{"context":{},"context":{"a":"\ud800"}}`,
		"{", "null", `{"context":{"":{"":1}}}`, strings.Repeat(`{"context":`, 1200), "\xff", `{"context":{"age":1e999,"plan":-0}}`,
	} {
		f.Add([]byte(seed))
	}
	node := apptest.Start(f, storetest.New(f, "sqlite"))
	everything := attributes{"if": []any{equals("user.plan", "pro"), true, attributes{">": []any{attributes{"var": "user.age"}, 5}}, true, attributes{"fractional": []any{[]any{"on", 1}, []any{"", 1}}}}}
	speakTo(f, node).makeFlag("made", inEnvironment("production", attributes{"rules": serving(everything, true)}))
	f.Fuzz(func(t *testing.T, body []byte) {
		one, all := serve(node, http.MethodPost, ofrepPath+"/made", string(body)), serve(node, http.MethodPost, ofrepPath, string(body))
		if one.Code != all.Code || one.Code != http.StatusOK && one.Code != http.StatusBadRequest {
			t.Fatalf("%q: %d %s and %d %s", body, one.Code, one.Body, all.Code, all.Body)
		}
		if one.Code == http.StatusOK {
			if !strings.HasPrefix(all.Body.String(), `{"flags":[`+one.Body.String()+`],"metadata":{},"eventStreams":[`) {
				t.Errorf("%q: %s and %s", body, one.Body, all.Body)
			}
			return
		}
		var refused struct{ Key, ErrorCode, ErrorDetails string }
		if err := json.Unmarshal(one.Body.Bytes(), &refused); err != nil || refused.Key != "made" || refused.ErrorDetails == "" ||
			refused.ErrorCode != "PARSE_ERROR" && refused.ErrorCode != "INVALID_CONTEXT" {
			t.Errorf("%q: %s", body, one.Body)
		}
	})
}
