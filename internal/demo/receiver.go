package demo

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"net"
	"net/http"
	"time"
)

// behavior is how the receiver answers a path, and how the runs of the history ended.
type behavior struct {
	Status    int     `json:"status"`
	Body      string  `json:"body"`
	Typical   age     `json:"typical"` // the typical duration of an answer
	Fails     float64 `json:"fails"`   // the share of answers with a failure
	Failure   int     `json:"failure"`
	Objection string  `json:"objection"`
	Broken    age     `json:"broken"` // how long ago the receiver began to fail every time
}

// behaviors are by the last part of a job's URL.
func behaviors() map[string]behavior { return read[map[string]behavior]("behaviors.json") }

// startReceiver starts the receiver of the demo's jobs, on a free port of the loopback interface, and returns its URL.
func startReceiver(ctx context.Context) (url string, stop func() error, err error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	mux := http.NewServeMux()
	for name, b := range behaviors() {
		mux.Handle("/hooks/"+name, b)
	}
	server := &http.Server{Handler: mux, ReadHeaderTimeout: time.Second}
	go func() { _ = server.Serve(listener) }() // Serve returns when the server is closed
	return "http://" + listener.Addr().String() + "/hooks", server.Close, nil
}

// ServeHTTP answers according to the behavior, after about the typical time.
func (b behavior) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	select {
	case <-time.After(b.takes(rand.Float64())):
	case <-r.Context().Done():
		return
	}
	status, body := b.answers(rand.Float64(), 0)
	if json.Valid([]byte(body)) {
		w.Header().Set("Content-Type", "application/json")
	}
	w.WriteHeader(status)
	_, _ = w.Write([]byte(body))
}

// takes returns a duration around the typical one. chance is a random number from 0 to 1.
func (b behavior) takes(chance float64) time.Duration {
	return time.Duration(float64(b.Typical) * (0.7 + 0.6*chance + chance*chance*chance))
}

// answers returns status and body of an answer. chance is a random number from 0 to 1, and ago is how long ago the answer was.
func (b behavior) answers(chance float64, ago age) (status int, body string) {
	if ago < b.Broken || chance < b.Fails {
		return b.Failure, b.Objection
	}
	return b.Status, b.Body
}
