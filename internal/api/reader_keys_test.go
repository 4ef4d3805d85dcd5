package api_test

import (
	"context"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/signalbox/signalbox/internal/settings"
	"github.com/signalbox/signalbox/internal/store/storetest"
	"github.com/signalbox/signalbox/internal/suite"
)

// TestReaderKeys_Spellings: a key that reads levels, a key that evaluates and the token of a stream open no path that is spelled unusually,
// with no method, and wherever in the request they are.
func TestReaderKeys_Spellings(t *testing.T) {
	t.Parallel()
	owner := newOwner(t, "pro")
	levels, evaluate := owner.levelsKey().secret, owner.evaluator().key
	target, err := url.Parse(owner.as(evaluate).streamURL())
	if err != nil {
		t.Fatal(err)
	}
	token := target.Query().Get("token")
	named := strings.NewReplacer(levels, "LEVELS", strings.ToUpper(levels), "UPPER", evaluate, "EVALUATE", token, "TOKEN", owner.key, "FULL")
	for _, path := range unusualPaths(levels, evaluate, token, owner.key) {
		t.Run(named.Replace(path), func(t *testing.T) {
			t.Parallel()
			for place, put := range placesOfKeys() {
				for name, key := range map[string]string{"levels": levels, "evaluate": evaluate, "token": token} {
					for _, method := range []string{http.MethodGet, http.MethodHead, http.MethodOptions, http.MethodPost, http.MethodPut, http.MethodDelete} {
						sent, options := put(path, key)
						got := owner.in(t).as("").send(method, sent, "{}", append(options, offContract)...)
						if got.status < 400 || got.status >= 500 {
							t.Errorf("%s with the key %q as a %s got %d: %.200s", method, name, place, got.status, got.body)
						}
					}
				}
			}
		})
	}
}

// unusualPaths returns paths that are nearly right. {l} is a key for levels.
func unusualPaths(levels, evaluate, token, owner string) []string {
	paths := []string{
		"/levels/{l}", "/levels/{l}/", "/levels/{l}/production", "/levels/{l}/staging/levels.json", "/levels/{l}/PRODUCTION/levels.json",
		"/levels/{l}%2Fproduction/levels.json", "/levels/{l}/production%2Flevels.json", "/levels/{l}/production/levels.json%00", "/levels/{l}/production/levels.json;x",
		"/levels/{l}/production/..%2F..%2F..%2Fapi/v1/flags", "/levels/{l}/../../api/v1/flags", "/levels/{l}/%2e%2e/levels.json", "/levels/{l}/production//levels.json",
		"/levels/%20{l}/production/levels.json", "/levels/Bearer%20{l}/production/levels.json", "/levels/{l}%00/production/levels.json", "/levels/{l}%0A/production/levels.json",
		"/levels/{l}x/production/levels.json", "/Levels/{l}/production/levels.json", "//levels/{l}/production/levels.json",
		"/levels/" + strings.ToUpper(levels) + "/production/levels.json",
	}
	for i := range paths {
		paths[i] = strings.ReplaceAll(paths[i], "{l}", levels)
	}
	for _, other := range []string{evaluate, token, owner} {
		paths = append(paths, "/levels/"+other+"/production/levels.json")
	}
	return append(paths, "/flagd/v1/flags/staging", "/flagd/v1/flags/production%2F..%2Fstaging", "/flagd/v1/flags/%2e%2e", "/flagd/v1/flags/production/",
		"/ofrep/v1/events/", "/ofrep/v1/events/x", "/ofrep//v1/events", "/ofrep/v1/configuration", "/api/v1%2Fflags", "/api/v1/snapshots/production")
}

// putKey puts a key into a request. It returns the path to send, and options.
type putKey func(path, key string) (string, []option)

// placesOfKeys returns the places of a request where a key could be.
func placesOfKeys() map[string]putKey {
	header := func(name, prefix string) putKey {
		return func(path, key string) (string, []option) { return path, []option{with(name, prefix+key)} }
	}
	query := func(name string) putKey {
		return func(path, key string) (string, []option) { return path + "?" + name + "=" + key, nil }
	}
	return map[string]putKey{
		"bearer": header("Authorization", "Bearer "), "bare header": header("Authorization", ""), "X-API-Key": header("X-Api-Key", ""),
		"cookie": header("Cookie", "signalbox_session="), "selector": header("Flagd-Selector", "environment=production,key="),
		"api_key": query("api_key"), "token": query("token"),
		"password": func(path, key string) (string, []option) {
			return path, []option{with("Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(":"+key)))}
		},
	}
}

// TestFlagd_NeverRead: streams and calls whose callers read nothing delay nobody, and end with the server.
func TestFlagd_NeverRead(t *testing.T) {
	t.Parallel()
	count := suite.Scale(100, 1_000)
	ctx, leave := context.WithCancel(t.Context())
	t.Cleanup(leave)
	t.Run("a node", func(t *testing.T) { // its end stops the node
		owner := start(t, storetest.New(t, "sqlite"), func(s *settings.Settings) { s.StreamSockets, s.StreamAccountSockets = 2_000, 2_000 })
		for i := range 10 { // more than a connection buffers
			owner.post(flagsPath, envelope("", fmt.Sprint("large-", i), flag("STRING", strings.Repeat("x", 60_000), nil))).want(201)
		}
		reader := slowCaller(t)
		for i := range count {
			method := []string{"SyncFlags", "FetchAllFlags"}[i%2]
			request, err := http.NewRequestWithContext(ctx, http.MethodPost, owner.node.URL+flagdService+method, strings.NewReader(string(framed(nil))))
			if err != nil {
				t.Fatal(err)
			}
			request.Header.Set("Content-Type", "application/grpc")
			request.Header.Set("Flagd-Selector", "environment=production,key="+owner.key)
			answer, err := reader.RoundTrip(request)
			if err != nil || answer.Header.Get("Grpc-Status") != "" {
				t.Fatalf("call %d got %v, %v", i, answer, err)
			}
			t.Cleanup(func() { _ = answer.Body.Close() })
		}
		began := time.Now()
		for i := range 20 {
			owner.put(flagsPath+"/large-0", envelope("", "", flag("STRING", strings.Repeat("y", i), nil))).want(200)
			owner.ofrep("large-0", `{}`).want(200)
		}
		t.Logf("20 changes and evaluations beside %d callers that read nothing took %s", count, time.Since(began))
		healthy := callRPC(ctx, t, owner.node.URL, "SyncFlags", "environment=production,key="+owner.key, nil)
		if _, more := healthy.next(); !more {
			t.Errorf("a caller that reads got %s", healthy.status())
		}
	})
}

// slowCaller returns a client whose connections take little before the caller reads.
func slowCaller(t *testing.T) *http.Transport {
	t.Helper()
	var protocols http.Protocols
	protocols.SetUnencryptedHTTP2(true)
	transport := &http.Transport{Protocols: &protocols, HTTP2: &http.HTTP2Config{MaxReceiveBufferPerStream: 64 << 10}}
	t.Cleanup(transport.CloseIdleConnections)
	return transport
}
