package api_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/signalbox/signalbox/internal/accounts"
	"github.com/signalbox/signalbox/internal/api"
	"github.com/signalbox/signalbox/internal/app/apptest"
	"github.com/signalbox/signalbox/internal/configs"
	"github.com/signalbox/signalbox/internal/connections"
	"github.com/signalbox/signalbox/internal/environments"
	"github.com/signalbox/signalbox/internal/fault"
	"github.com/signalbox/signalbox/internal/settings"
	"github.com/signalbox/signalbox/internal/store/storetest"
	"github.com/signalbox/signalbox/internal/telemetry"
)

const flagdService = "/flagd.sync.v1.FlagSyncService/"

// rpc is a gRPC call of a test.
type rpc struct {
	t    testing.TB
	body io.ReadCloser
	sent *http.Response
}

// definitions are the flags of a message.
type definitions struct {
	Flags map[string]struct {
		DefaultVariant string
		Variants       map[string]any
		Metadata       map[string]any
	}
	Metadata map[string]any
}

// call calls a method with a selector, over HTTP/2 without TLS.
func callRPC(ctx context.Context, t testing.TB, url, method, selector string, headers map[string]string) rpc {
	t.Helper()
	message := protowire.AppendString(protowire.AppendTag(nil, 1, protowire.BytesType), "a test")
	message = protowire.AppendString(protowire.AppendTag(message, 2, protowire.BytesType), selector)
	return callFrame(ctx, t, url+flagdService+method, framed(message), headers)
}

// framed returns a message in its frame.
func framed(message []byte) []byte {
	return append(binary.BigEndian.AppendUint32([]byte{0}, uint32(len(message))), message...)
}

// callFrame sends bytes as the frames of a gRPC call.
func callFrame(ctx context.Context, t testing.TB, url string, frames []byte, headers map[string]string) rpc {
	t.Helper()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(frames))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/grpc")
	request.Header.Set("TE", "trailers")
	for name, value := range headers {
		request.Header.Set(name, value)
	}
	var protocols http.Protocols
	protocols.SetUnencryptedHTTP2(true)
	transport := &http.Transport{Protocols: &protocols}
	t.Cleanup(transport.CloseIdleConnections)
	answer, err := transport.RoundTrip(request)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = answer.Body.Close() })
	return rpc{t, answer.Body, answer}
}

// next returns the next message, or false at the end of the response.
func (r rpc) next() (found definitions, more bool) {
	r.t.Helper()
	var head [5]byte
	if _, err := io.ReadFull(r.body, head[:]); err != nil {
		if !errors.Is(err, io.EOF) {
			r.t.Fatal(err)
		}
		return found, false
	}
	message := make([]byte, binary.BigEndian.Uint32(head[1:]))
	if _, err := io.ReadFull(r.body, message); err != nil {
		r.t.Fatal(err)
	}
	number, _, n := protowire.ConsumeTag(message)
	text, _ := protowire.ConsumeBytes(message[n:])
	if err := json.Unmarshal(text, &found); err != nil || number != 1 {
		r.t.Fatalf("field %d: %v: %q", number, err, text)
	}
	return found, true
}

// status returns the status of a response that has ended.
func (r rpc) status() string {
	status := r.sent.Trailer.Get("Grpc-Status") + r.sent.Header.Get("Grpc-Status")
	return status
}

func TestFlagd_JSON(t *testing.T) {
	t.Parallel()
	onBoth(t, "pro", func(t *testing.T, owner client) {
		owner.makeFlag("plain", nil)
		owner.makeFlag("ruled", inEnvironment("production", attributes{"rules": serving(equals("user.plan", "pro"), true)}))
		owner.makeFlag("omitted", inEnvironment("production", attributes{"rules": serving(attributes{"merge": []any{attributes{"var": "user.a"}}}, true)}))
		owner.post(flagsPath, envelope("", "list", flag("JSON", []int{1}, nil))).want(201)
		first := owner.get(flagdPath + "/production").want(200)
		var found definitions
		first.decode(&found)
		if len(found.Flags) != 2 || found.Metadata["signalbox.omitted"] != "list,omitted" || found.Metadata["signalbox.environment"] != "production" {
			t.Errorf("got %s", first.body)
		}
		again := with("If-None-Match", first.header.Get("ETag"))
		owner.get(flagdPath+"/production", again).want(304)
		owner.makeConfig("other", nil)
		owner.get(flagdPath+"/production", again).want(304)
		owner.delete(flagsPath + "/plain").want(204)
		if got := owner.get(flagdPath+"/production", again).want(200); got.contains("plain") {
			t.Errorf("got %s", got.body)
		}
		owner.get(flagdPath + "/nowhere").want(404)
		evaluator := owner.as(owner.makeKey(attributes{"access": "evaluate", "scopes": attributes{"environments": []string{"staging"}}}).secret)
		evaluator.get(flagdPath + "/production").want(403)
		evaluator.get(flagdPath + "/staging").want(200)
	})
}

// TestFlagd_KeysAndSelectors: where the key and the environment of a gRPC call may be, and the status of every refusal.
func TestFlagd_KeysAndSelectors(t *testing.T) {
	t.Parallel()
	owner := newOwner(t, "pro")
	owner.makeFlag("made", nil)
	evaluate := owner.makeKey(attributes{"access": "evaluate", "scopes": attributes{"environments": []string{"production"}}}).secret
	page := owner.makeKey(attributes{"access": "evaluate", "scopes": attributes{"environments": []string{"production"}, "origins": []string{"https://shop.example"}}}).secret
	revoked := owner.makeKey(nil)
	owner.post(revoked.path+"/actions/revoke", "").want(200)
	bearer := func(key string) map[string]string { return map[string]string{"Authorization": "Bearer " + key} }
	for name, c := range map[string]struct {
		method, selector, status string
		headers                  map[string]string
	}{
		"a bearer":                        {"FetchAllFlags", "environment=production", "0", bearer(owner.key)},
		"metadata without a scheme":       {"FetchAllFlags", "environment=production", "0", map[string]string{"Authorization": owner.key}},
		"a selector":                      {"FetchAllFlags", "key=" + owner.key + ", environment=production", "0", nil},
		"a selector in a header":          {"FetchAllFlags", "environment=nowhere", "0", map[string]string{"Flagd-Selector": "key=" + owner.key + ",environment=production"}},
		"the only environment of a key":   {"FetchAllFlags", "key=" + evaluate, "0", nil},
		"a key for web pages":             {"FetchAllFlags", "key=" + page, "7", nil},
		"another environment":             {"FetchAllFlags", "key=" + evaluate + ",environment=staging", "7", nil},
		"no environment":                  {"FetchAllFlags", "", "3", bearer(owner.key)},
		"an unknown environment":          {"FetchAllFlags", "environment=nowhere", "5", bearer(owner.key)},
		"no key":                          {"FetchAllFlags", "environment=production", "16", nil},
		"an unknown key":                  {"SyncFlags", "environment=production,key=sk_api_x", "16", nil},
		"a revoked key":                   {"SyncFlags", "environment=production,key=" + revoked.secret, "16", nil},
		"a selector of another server":    {"SyncFlags", "flagSetId=app", "3", bearer(owner.key)},
		"metadata":                        {"GetMetadata", "", "12", nil},
		"metadata, with a key":            {"GetMetadata", "environment=production", "12", bearer(owner.key)},
		"a method that flagd has not got": {"Nothing", "", "12", bearer(owner.key)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			answer := callRPC(t.Context(), t, owner.node.URL, c.method, c.selector, c.headers)
			got, more := answer.next()
			if served := len(got.Flags) == 1; more != served || served != (c.status == "0") {
				t.Errorf("got %+v", got)
			}
			if more {
				_, more = answer.next()
			}
			if message := answer.sent.Header.Get("Grpc-Message"); more || answer.status() != c.status || strings.Contains(message, owner.key) || strings.Contains(message, evaluate) {
				t.Errorf("got status %s (%s), want %s", answer.status(), message, c.status)
			}
		})
	}
	owner.as(page).get(flagdPath + "/production").want(403)
	asked, err := http.NewRequestWithContext(t.Context(), http.MethodPost, owner.node.URL+flagdService+"SyncFlags", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	asked.Header.Set("Content-Type", "application/grpc")
	old, err := owner.http.Do(asked) // over HTTP/1.1
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = old.Body.Close() }()
	if old.Header.Get("Grpc-Status") != "12" || !strings.Contains(old.Header.Get("Grpc-Message"), "HTTP/2") {
		t.Errorf("got %v", old.Header)
	}
}

// TestFlagd_WrongMessages: what is no message of these methods, or too large, is refused with the status that gRPC has for it.
func TestFlagd_WrongMessages(t *testing.T) {
	t.Parallel()
	owner := newOwner(t, "pro")
	key := "key=" + owner.key + ",environment=production"
	selector := protowire.AppendString(protowire.AppendTag(nil, 2, protowire.BytesType), key)
	for name, c := range map[string]struct {
		frames   []byte
		selector string // in a header
		status   string
	}{
		"no message":                  {nil, key, "3"},
		"half a frame":                {framed(selector)[:9], "", "3"},
		"no protobuf":                 {framed([]byte{0xff, 0xff}), key, "3"},
		"a compressed message":        {append([]byte{1}, framed(selector)[1:]...), "", "12"},
		"a larger message than fits":  {framed(make([]byte, 64<<10+1)), key, "8"},
		"a size of 4 GiB":             {[]byte{0, 0xff, 0xff, 0xff, 0xff}, key, "8"},
		"a selector of 40 KB":         {framed(nil), strings.Repeat("environment=production,", 2_000) + "environment=production", "16"},
		"a selector of many keys":     {framed(nil), strings.Repeat("key=sk_api_x,", 2_000) + key, "0"}, // the last one counts
		"unknown fields are skipped":  {framed(append(protowire.AppendVarint(protowire.AppendTag(nil, 99, protowire.VarintType), 7), selector...)), "", "0"},
		"a second message is ignored": {append(framed(selector), framed(selector)...), "", "0"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			headers := map[string]string{}
			if c.selector != "" {
				headers["Flagd-Selector"] = c.selector
			}
			answer := callFrame(t.Context(), t, owner.node.URL+flagdService+"FetchAllFlags", c.frames, headers)
			if _, err := io.Copy(io.Discard, answer.body); err != nil {
				t.Fatal(err)
			}
			if message := answer.sent.Header.Get("Grpc-Message"); answer.status() != c.status || strings.Contains(message, owner.key) {
				t.Errorf("got status %s (%.200s), want %s", answer.status(), message, c.status)
			}
		})
	}
	t.Run("of a method without a key", func(t *testing.T) {
		t.Parallel()
		if answer := callFrame(t.Context(), t, owner.node.URL+flagdService+"GetMetadata", framed(selector)[:9], nil); answer.status() != "3" {
			t.Errorf("got status %s: the message was not read", answer.status())
		}
	})
}

// TestFlagd_Sync: a stream begins with all flags, follows changes, ends with UNAVAILABLE when the server stops, and with
// UNAUTHENTICATED when its key ends.
func TestFlagd_Sync(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"sqlite", "postgres"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			database := storetest.New(t, kind)
			owner := start(t, database)
			owner.makeFlag("made", nil)
			key := owner.makeKey(nil)
			stream := callRPC(t.Context(), t, owner.node.URL, "SyncFlags", "environment=production,key="+key.secret, nil)
			if got, more := stream.next(); !more || got.Flags["made"].DefaultVariant != "False" {
				t.Fatalf("got %+v", got)
			}
			owner.put(flagsPath+"/made", envelope("", "", boolean(true, nil))).want(200)
			if got, more := stream.next(); !more || got.Flags["made"].DefaultVariant != "True" {
				t.Fatalf("got %+v", got)
			}
			eventually(t, time.Minute, "the stream is a connection", func() bool { return len(owner.get("/api/v1/connections").want(200).page().Data) == 1 })
			owner.delete(key.path).want(204)
			if _, more := stream.next(); more || stream.status() != "16" {
				t.Errorf("the key has ended, and the status is %q", stream.status())
			}
		})
	}
}

// TestFlagd_SyncEndsWithRights: a stream ends when its key may no longer load the environment's rules.
func TestFlagd_SyncEndsWithRights(t *testing.T) {
	t.Parallel()
	owner := newOwner(t, "pro")
	owner.makeFlag("made", nil)
	in := func(environment string) attributes { return attributes{"environments": []string{environment}} }
	for name, narrowed := range map[string]attributes{
		"another environment": {"name": "k", "access": "evaluate", "scopes": in("staging")},
		"only levels":         {"name": "k", "access": "levels", "scopes": in("production")},
		"for pages": {"name": "k", "access": "evaluate",
			"scopes": attributes{"environments": []string{"production"}, "origins": []string{"https://app.example"}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			key := owner.makeKey(attributes{"access": "evaluate", "scopes": in("production")})
			stream := callRPC(t.Context(), t, owner.node.URL, "SyncFlags", "environment=production,key="+key.secret, nil)
			if _, more := stream.next(); !more {
				t.Fatal("the stream sent nothing")
			}
			owner.put(key.path, envelope("", "", narrowed)).want(200)
			if _, more := stream.next(); more || stream.status() != "16" {
				t.Errorf("the key may no longer load these flags, and the stream has the status %q", stream.status())
			}
		})
	}
}

// TestFlagd_LastState: of many changes a stream sends few messages, and the last one has the last state.
func TestFlagd_LastState(t *testing.T) {
	t.Parallel()
	owner := newOwner(t, "pro")
	owner.makeFlag("made", nil)
	stream := callRPC(t.Context(), t, owner.node.URL, "SyncFlags", "environment=production,key="+owner.key, nil)
	stream.next()
	const writes = 30
	began := time.Now()
	for i := range writes {
		owner.put(flagsPath+"/made", envelope("", "", flag("BOOLEAN", i == writes-1, nil))).want(200)
		owner.makeFlag(fmt.Sprint("flag-", i), nil)
	}
	took, messages := time.Since(began), 0
	for {
		messages++
		got, more := stream.next()
		if !more {
			t.Fatalf("the stream has ended with %s", stream.status())
		}
		if len(got.Flags) == writes+1 && got.Flags["made"].DefaultVariant == "True" {
			break
		}
	}
	if most := int(took/(100*time.Millisecond)) + 2; messages > most {
		t.Errorf("got %d messages in %s", messages, took)
	}
}

func TestFlagd_ServerStops(t *testing.T) {
	t.Parallel()
	database := storetest.New(t, "sqlite")
	node := apptest.Start(t, database)
	stream := callRPC(t.Context(), t, node.URL, "SyncFlags", "environment=production,key="+node.Key, nil)
	stream.next()
	if err := node.App.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, more := stream.next(); more || stream.status() != "14" {
		t.Errorf("the status is %q", stream.status())
	}
}

// outgrown is an account whose flags can be translated once.
type outgrown struct {
	anybody
	reads atomic.Int64
}

func (o *outgrown) Snapshot(context.Context, string, string, api.SnapshotParts, func(configs.Resolved) error) (api.Snapshot, error) {
	if o.reads.Add(1) > 1 {
		return api.Snapshot{}, fault.New(fault.Validation, "The flags have become too large.")
	}
	return api.Snapshot{Seq: 1}, nil
}

// awayEnvironments is a store that cannot be reached.
type awayEnvironments struct{ environments.Store }

func (awayEnvironments) Read(context.Context, func(context.Context, environments.ReadTx) error) error {
	return fault.New(fault.Unavailable, "The database is away.")
}

// onlyWatch is an EventStream for one watch.
type onlyWatch struct {
	api.EventStream
	watch *countedWatch
}

func (w onlyWatch) Watch(context.Context, accounts.Caller, connections.Watching, func(context.Context) (accounts.Caller, error)) (connections.Watch, error) {
	return w.watch, nil
}

// countedWatch is a watch that never ends.
type countedWatch struct {
	seq     atomic.Int64
	changed chan struct{}
}

func (w *countedWatch) Seq() int64               { return w.seq.Load() }
func (w *countedWatch) Changed() <-chan struct{} { return w.changed }
func (w *countedWatch) Sent(int64)               {}
func (w *countedWatch) Ended() <-chan struct{}   { return nil }
func (w *countedWatch) Err() error               { return nil }
func (w *countedWatch) Close()                   {}

// TestFlagd_SyncEndsWithRefusal: if the flags can no longer be translated, the stream ends with the reason instead of keeping
// the provider on outdated flags.
func TestFlagd_SyncEndsWithRefusal(t *testing.T) {
	t.Parallel()
	account, watch := &outgrown{}, &countedWatch{changed: make(chan struct{}, 1)}
	watch.seq.Store(1)
	server := httptest.NewUnstartedServer(api.New(api.Services{Snapshots: account, Auth: account, Events: onlyWatch{watch: watch},
		Environments: &environments.Service{Store: awayEnvironments{}}, Log: slog.New(slog.DiscardHandler), Metrics: telemetry.NewMetrics("test")}, api.Options{}))
	server.Config.Protocols = new(http.Protocols)
	server.Config.Protocols.SetUnencryptedHTTP2(true)
	server.Start()
	t.Cleanup(server.Close)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	stream := callRPC(ctx, t, server.URL, "SyncFlags", "environment=production,key=x", nil)
	if _, more := stream.next(); !more {
		t.Fatal("the stream sent nothing")
	}
	watch.seq.Add(1)
	watch.changed <- struct{}{}
	if _, more := stream.next(); more || stream.status() != "3" || stream.sent.Trailer.Get("Grpc-Message") != "The flags have become too large." {
		t.Errorf("the status is %q: %v", stream.status(), stream.sent.Trailer)
	}
}

// TestFlagd_Limit: streams count as event sockets.
func TestFlagd_Limit(t *testing.T) {
	t.Parallel()
	owner := start(t, storetest.New(t, "sqlite"), func(s *settings.Settings) { s.StreamSockets, s.StreamAccountSockets = 1, 1 })
	selector := "environment=production,key=" + owner.key
	ctx, leave := context.WithCancel(t.Context())
	first := callRPC(ctx, t, owner.node.URL, "SyncFlags", selector, nil)
	first.next()
	if second := callRPC(t.Context(), t, owner.node.URL, "SyncFlags", selector, nil); second.status() != "8" {
		t.Errorf("the status is %q", second.status())
	}
	leave()
	eventually(t, time.Minute, "a place is free", func() bool {
		_, more := callRPC(t.Context(), t, owner.node.URL, "SyncFlags", selector, nil).next()
		return more
	})
}

// TestFlagd_OtherNode: a stream follows a change that another node makes.
func TestFlagd_OtherNode(t *testing.T) {
	t.Parallel()
	database := storetest.New(t, "postgres")
	owner, other := start(t, database), speakTo(t, apptest.Start(t, database))
	owner.makeFlag("made", nil)
	stream := callRPC(t.Context(), t, other.node.URL, "SyncFlags", "environment=production,key="+owner.key, nil)
	stream.next()
	owner.put(flagsPath+"/made", envelope("", "", boolean(true, nil))).want(200)
	if got, more := stream.next(); !more || got.Flags["made"].DefaultVariant != "True" {
		t.Errorf("got %+v", got)
	}
}
