// Package ofrep compares the evaluation of one flag over the OpenFeature
// Remote Evaluation Protocol with a bare net/http handler that reads the same
// request and writes the same bytes.
package ofrep

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"time"

	"github.com/signalbox/signalbox/bench/load"
	"github.com/signalbox/signalbox/bench/servers"
)

const (
	connections = 64
	rounds      = 7
	turn        = 1500 * time.Millisecond
	path        = "/ofrep/v1/evaluate/flags/checkout-v2"
	request     = `{"context":{"targetingKey":"alice","plan":"pro","country":"DE"}}`
	flag        = `{"data":{"id":"checkout-v2","type":"flag","attributes":{"type":"BOOLEAN","default":false,"environments":{"production":{"rules":[
		{"description":"Pro users at home","logic":{"and":[{"==":[{"var":"user.plan"},"pro"]},{"in":[{"var":"user.country"},["DE","AT","CH","FR","IT"]]}]},"value":true}]}}}}}`
)

// Run measures on SQLite.
func Run(ctx context.Context, out io.Writer) error {
	folder, err := os.MkdirTemp("", "signalbox-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	server, err := servers.StartSignalbox(ctx, folder, "")
	if err != nil {
		return err
	}
	defer server.Stop()
	if _, err := servers.Fetch(ctx, http.MethodPost, server.Address, "/api/v1/flags", []byte(flag)); err != nil {
		return err
	}
	answer, err := json.Marshal(map[string]any{"key": "checkout-v2", "reason": "TARGETING_MATCH", "variant": "True", "value": true, "metadata": struct{}{}})
	if err != nil {
		return err
	}
	bare, err := servers.StartBare(ctx, folder, answer)
	if err != nil {
		return err
	}
	defer bare.Stop()
	return compare(ctx, out, bare.Address, server.Address)
}

func compare(ctx context.Context, out io.Writer, bare, ours string) error {
	header := http.Header{"Authorization": {"Bearer " + servers.Key}, "Content-Type": {"application/json"}, "X-Signalbox-Environment": {"production"}}
	rates, err := load.Turns(ctx, []load.Target{
		{Address: bare, Path: path, Header: header, Body: request},
		{Address: ours, Path: path, Header: header, Body: request},
	}, connections, rounds, turn)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "one flag, %d kept-alive connections; median of %d turns of %s each, taken in turns\n", connections, rounds, turn)
	fmt.Fprintf(out, "%12s %12s %7s\n%12.0f %12.0f %6.0f%%\n", "bare /s", "signalbox /s", "ratio", rates[0], rates[1], 100*rates[1]/rates[0])
	return nil
}
