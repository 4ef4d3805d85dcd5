package signalbox_test

import (
	"io"
	"net/http"
	"strings"

	signalbox "github.com/signalbox/signalbox/client"
)

// connect returns the client of the examples. Its server is a table of replies, so that the examples run without one.
func connect() *signalbox.Client {
	client, err := signalbox.New("https://signalbox.example", "sk_api_example", signalbox.WithHTTPClient(&http.Client{Transport: exampleServer{}}))
	if err != nil {
		panic(err)
	}
	return client
}

// exampleServer answers from exampleReplies. It answers other writes with their own body, as a server does that accepts a
// draft.
type exampleServer struct{}

func (exampleServer) RoundTrip(r *http.Request) (*http.Response, error) {
	status, body := http.StatusOK, exampleReplies()[r.Method+" "+r.URL.Path]
	switch {
	case r.Header.Get("If-None-Match") != "":
		status, body = http.StatusNotModified, ""
	case r.Method == http.MethodDelete:
		status = http.StatusNoContent
	case body == "" && r.Body != nil:
		sent, err := io.ReadAll(r.Body)
		if err != nil {
			return nil, err
		}
		body = string(sent)
	case body == "":
		status, body = http.StatusNotFound, `{"errors":[{"code":"not_found","detail":"The table has no such path."}]}`
	}
	return &http.Response{StatusCode: status, Header: http.Header{"Etag": {`"1"`}}, Body: io.NopCloser(strings.NewReader(body)), Request: r}, nil
}

func exampleReplies() map[string]string {
	return map[string]string{
		"GET /api/v1/accounts/current":           `{"data":{"id":"current","attributes":{"key":"default","name":"Acme","plans":{"jobs":"free"}}}}`,
		"GET /api/v1/accounts/current/settings":  `{"data":{"id":"current","attributes":{"theme":"dark"}}}`,
		"GET /api/v1/users/current":              `{"data":{"id":"u-1","attributes":{"email":"ada@acme.example","name":"Ada","role":"ADMIN"}}}`,
		"GET /api/v1/users":                      exampleList(`{"id":"u-2","attributes":{"email":"bob@acme.example","name":"Bob","role":"MEMBER"}}`),
		"GET /api/v1/invitations":                exampleList(`{"id":"i-1","attributes":{"email":"carol@acme.example","role":"VIEWER"}}`),
		"POST /api/v1/invitations":               `{"data":{"id":"i-2","attributes":{"email":"dan@acme.example","role":"MEMBER","link":"https://signalbox.example/join?token=t"}}}`,
		"GET /api/v1/links":                      exampleList(`{"id":"l-1","attributes":{"user":"u-2","role":"MEMBER","created_by":{"type":"user","id":"u-1"}}}`),
		"GET /api/v1/sessions":                   exampleList(`{"id":"s-1","attributes":{"user":"u-1","client":"Firefox"}},{"id":"s-2","attributes":{"user":"u-1","client":"signalbox/1.0"}}`),
		"GET /api/v1/sessions/current":           `{"data":{"id":"s-1","attributes":{"user":"u-1","client":"Firefox"}}}`,
		"GET /api/v1/api_keys":                   exampleList(`{"id":"k-1","attributes":{"name":"deploy","role":"MEMBER","status":"ACTIVE"}}`),
		"GET /api/v1/api_keys/current":           `{"data":{"id":"k-1","attributes":{"name":"deploy","role":"MEMBER","status":"ACTIVE"}}}`,
		"POST /api/v1/api_keys":                  `{"data":{"id":"k-2","attributes":{"name":"shop","role":"VIEWER","status":"ACTIVE","key":"sk_api_once"}}}`,
		"POST /api/v1/webhooks":                  `{"data":{"id":"w-1","attributes":{"name":"On call","enabled":true,"secret":"whsec_b25jZQ=="}}}`,
		"POST /api/v1/webhooks/w-1/actions/test": `{"data":{"id":"d-1","attributes":{"type":"webhook.test","status":"pending"}}}`,

		"GET /api/v1/environments":         exampleList(`{"id":"production","attributes":{"name":"Production","managed":true}}`),
		"GET /api/v1/services":             exampleList(`{"id":"checkout","attributes":{"name":"checkout"}}`),
		"GET /api/v1/context_types":        exampleList(`{"id":"user","attributes":{"name":"User","attributes":{"plan":{}}}}`),
		"GET /api/v1/contexts":             exampleList(`{"id":"user:alice","attributes":{"context_type":"user","key":"alice","attributes":{"plan":"gold"}}}`),
		"POST /api/v1/contexts/bulk":       `{"registered":1,"meta":{"rejected":[{"index":1,"detail":"The key is empty."}]}}`,
		"GET /api/v1/metrics":              `{"data":{"id":"orders","attributes":{"step":3600,"points":[{"at":"2030-01-02T03:00:00Z","sum":17,"count":3}]}}}`,
		"GET /api/v1/connections":          exampleList(`{"id":"c-1","attributes":{"service":"checkout","environment":"production","client":"signalbox-live/1.0.0","seq":41}}`),
		"GET /api/v1/snapshots/production": `{"data":{"id":"production","attributes":{"seq":41,"flags":[{"id":"checkout-v2","attributes":{"type":"BOOLEAN","default":false}}]}}}`,

		"GET /api/v1/flags":                     exampleList(`{"id":"checkout-v2","attributes":{"type":"BOOLEAN","default":false,"managed":true}}`),
		"GET /api/v1/flags/checkout-v2":         `{"data":{"id":"checkout-v2","attributes":{"type":"BOOLEAN","default":false,"managed":true,"environments":{}}}}`,
		"GET /api/v1/loggers":                   exampleList(`{"id":"shop.sql","attributes":{"name":"shop.sql","level":"WARN","managed":true}}`),
		"GET /api/v1/loggers/shop.sql":          `{"data":{"id":"shop.sql","attributes":{"name":"shop.sql","level":"WARN","managed":true,"environments":{}}}}`,
		"GET /api/v1/log_groups":                exampleList(`{"id":"database","attributes":{"name":"Database","level":"INFO"}}`),
		"GET /api/v1/configs":                   exampleList(`{"id":"common","attributes":{"name":"common"}}`),
		"GET /api/v1/configs/checkout/resolved": `{"data":{"id":"checkout","attributes":{"values":{"timeout_ms":200},"origins":{"timeout_ms":{"config":"checkout","source":"base"}}}}}`,
		"GET /api/v1/jobs":                      exampleList(`{"id":"reports","attributes":{"name":"Reports","enabled":true,"schedule":"0 3 * * *"}}`),
		"GET /api/v1/runs":                      exampleList(`{"id":"r-1","attributes":{"job":"reports","status":"FAILED","failure_reason":"TIMEOUT"}}`),
		"POST /api/v1/runs/r-1/actions/rerun":   `{"data":{"id":"r-2","attributes":{"job":"reports","status":"PENDING"}}}`,
		"GET /api/v1/runs/r-2":                  `{"data":{"id":"r-2","attributes":{"job":"reports","status":"SUCCEEDED"}}}`,
		"GET /api/v1/usage":                     `{"data":{"id":"2030-01","attributes":{"period":"2030-01","runs_used":120,"runs_included":3000,"active_jobs":4,"active_jobs_limit":5}}}`,

		"GET /api/v1/changes":                    exampleList(`{"id":"41","attributes":{"kind":"flag","key":"checkout-v2","action":"updated","actor":{"name":"Ada"}}}`),
		"POST /api/v1/changes/41/actions/revert": `{"data":{"id":"42","attributes":{"kind":"flag","key":"checkout-v2","action":"updated","reverts":41}}}`,
	}
}

func exampleList(items string) string {
	return `{"data":[` + items + `],"meta":{"pagination":{"page":1,"size":100},"page_size":100}}`
}
