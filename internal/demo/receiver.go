package demo

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"net"
	"net/http"
	"time"
)

// receiver is what the demo's jobs call.
type receiver struct {
	url    string
	server *http.Server
}

// behaviour is how the receiver answers a path, and how runs of the past ended.
type behaviour struct {
	status    int
	body      string
	typical   time.Duration
	fails     float64 // the share of answers with a failure
	failure   int
	objection string
}

// behaviours are by the last part of a job's URL.
func behaviours() map[string]behaviour {
	return map[string]behaviour{
		"invoices":   {http.StatusOK, `{"invoices": 412, "total": "38114.20"}`, 900 * time.Millisecond, 0.03, http.StatusBadGateway, `{"error": "the ledger did not answer"}`},
		"sitemap":    {http.StatusOK, `{"urls": 18233}`, 2300 * time.Millisecond, 0, 0, ""},
		"cache":      {http.StatusNoContent, "", 40 * time.Millisecond, 0, 0, ""},
		"digest":     {http.StatusAccepted, `{"queued": 1204}`, 350 * time.Millisecond, 0.02, http.StatusServiceUnavailable, `{"error": "the mail queue is full"}`},
		"reindex":    {http.StatusOK, `{"documents": 91877, "seconds": 3.8}`, 3800 * time.Millisecond, 0.05, http.StatusGatewayTimeout, `{"error": "the cluster is yellow"}`},
		"carts":      {http.StatusOK, `{"removed": 73}`, 180 * time.Millisecond, 0, 0, ""},
		"rates":      {http.StatusOK, `{"base": "EUR", "USD": 1.0842, "SEK": 11.31}`, 220 * time.Millisecond, 0.12, http.StatusTooManyRequests, `{"error": "the quota of the provider is used up"}`},
		"backup":     {http.StatusOK, `{"bytes": 734003200, "object": "nightly.tar.zst"}`, 5200 * time.Millisecond, 0, 0, ""},
		"payouts":    {http.StatusOK, `{"payouts": 57}`, 1400 * time.Millisecond, 0.5, http.StatusInternalServerError, `{"error": "iban of merchant 4711 is not valid"}`},
		"warehouse":  {http.StatusOK, `{"rows": 50211}`, 1900 * time.Millisecond, 0.04, http.StatusConflict, `{"error": "an import is running"}`},
		"trial-ends": {http.StatusOK, `{"reminded": 19}`, 300 * time.Millisecond, 0, 0, ""},
		"heartbeat":  {http.StatusOK, `ok`, 12 * time.Millisecond, 0, 0, ""},
	}
}

// startReceiver serves on a free port of the loopback interface.
func startReceiver(ctx context.Context) (*receiver, error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	for name, b := range behaviours() {
		mux.Handle("/hooks/"+name, b)
	}
	r := &receiver{url: "http://" + listener.Addr().String() + "/hooks", server: &http.Server{Handler: mux, ReadHeaderTimeout: time.Second}}
	go func() { _ = r.server.Serve(listener) }() // it ends when it is closed
	return r, nil
}

func (r *receiver) stop() { _ = r.server.Close() }

// ServeHTTP answers as the behaviour says, after about the typical time.
func (b behaviour) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	select {
	case <-time.After(b.takes(rand.Float64())):
	case <-r.Context().Done():
		return
	}
	status, body := b.answers(rand.Float64())
	if json.Valid([]byte(body)) {
		w.Header().Set("Content-Type", "application/json")
	}
	w.WriteHeader(status)
	_, _ = w.Write([]byte(body))
}

// takes returns a duration around the typical one, by a number from 0 to 1.
func (b behaviour) takes(chance float64) time.Duration {
	return time.Duration(float64(b.typical) * (0.7 + 0.6*chance + chance*chance*chance))
}

// answers returns status and body, by a number from 0 to 1.
func (b behaviour) answers(chance float64) (status int, body string) {
	if chance < b.fails {
		return b.failure, b.objection
	}
	return b.status, b.body
}
