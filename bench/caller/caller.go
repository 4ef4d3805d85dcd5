// Package caller makes the HTTP call of every contender of the jobs benchmark. It
// uses the standard client, tuned so that connections are reused.
package caller

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// IDHeader carries the id of a run or a job, so that the sink can find duplicates.
const IDHeader = "X-Signalbox-Run"

// Body is the body of every call.
const Body = `{"event":"benchmark","attempt":1}`

// Caller calls one URL.
type Caller struct {
	url    string
	client *http.Client
}

// New returns a caller for atOnce calls at the same time.
func New(url string, atOnce int) *Caller {
	return &Caller{url, &http.Client{
		Timeout:   30 * time.Second,
		Transport: &http.Transport{MaxIdleConns: atOnce, MaxIdleConnsPerHost: atOnce, DisableCompression: true},
	}}
}

// Call makes one call and reads the answer to its end.
func (c *Caller) Call(ctx context.Context, id string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url, strings.NewReader(Body))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set(IDHeader, id)
	answer, err := c.client.Do(request)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if _, err := io.Copy(io.Discard, answer.Body); err != nil {
		return err
	}
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("the sink answered %s", answer.Status)
	}
	return nil
}
