package api_test

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/signalbox/signalbox/internal/app/apptest"
	"github.com/signalbox/signalbox/internal/store/storetest"
)

// discarding is a response that nobody reads.
type discarding struct {
	header http.Header
	status int
}

func (w *discarding) Header() http.Header            { return w.header }
func (w *discarding) WriteHeader(status int)         { w.status = status }
func (w *discarding) Write(body []byte) (int, error) { return len(body), nil }

// BenchmarkEvaluation measures an evaluation over OFREP without net/http and the
// socket.
func BenchmarkEvaluation(b *testing.B) {
	node := apptest.Start(b, storetest.New(b, "sqlite"))
	rule := attributes{"and": []any{equals("user.plan", "pro"), attributes{"in": []any{attributes{"var": "user.country"}, []string{"DE", "AT", "CH"}}}}}
	speakTo(b, node).makeFlag("made", inEnvironment("production", attributes{"rules": serving(rule, true)}))
	const body = `{"context":{"targetingKey":"alice","plan":"pro","country":"DE"}}`
	repeat(b, node, http.MethodPost, ofrepPath+"/made", body)
}

// BenchmarkKeptRead measures a read whose response is cached.
func BenchmarkKeptRead(b *testing.B) {
	repeat(b, apptest.Start(b, storetest.New(b, "sqlite")), http.MethodGet, environmentsPath+"/production", "")
}

func repeat(b *testing.B, node *apptest.Node, method, path, body string) {
	b.Helper()
	sent := httptest.NewRequest(method, path, nil)
	sent.Header = http.Header{"Authorization": {"Bearer " + node.Key}, "Content-Type": {"application/json"}, "X-Signalbox-Environment": {"production"}}
	sent.ContentLength = int64(len(body))
	writer, reader := &discarding{header: http.Header{}}, bytes.NewReader([]byte(body))
	b.ReportAllocs()
	for b.Loop() {
		reader.Reset([]byte(body))
		sent.Body = io.NopCloser(reader)
		clear(writer.header)
		node.App.Handler().ServeHTTP(writer, sent)
	}
	if writer.status != http.StatusOK {
		b.Fatalf("got %d", writer.status)
	}
}
