package live

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	signalbox "github.com/signalbox/signalbox/client"
	"github.com/signalbox/signalbox/client/flageval"
	"github.com/signalbox/signalbox/client/internal/servertest"
	"github.com/signalbox/signalbox/client/internal/testenv"
	"github.com/signalbox/signalbox/client/loglevel"
)

// fakeFramework is an adapter over a map.
type fakeFramework struct {
	levels chan setLevel
	onNew  func(Logger)
}

type setLevel struct {
	name  string
	level loglevel.Level
}

func newFramework() *fakeFramework { return &fakeFramework{levels: make(chan setLevel, 100)} }

// Loggers returns one logger.
func (f *fakeFramework) Loggers() []Logger {
	return []Logger{{Name: "shop.payments", Uses: loglevel.Warn}}
}

// SetLevel records a level.
func (f *fakeFramework) SetLevel(name string, level loglevel.Level) {
	f.levels <- setLevel{name, level}
}

// OnNew keeps the function.
func (f *fakeFramework) OnNew(call func(Logger)) { f.onNew = call }

func setLevelTo(t *testing.T, client *signalbox.Client, name string, level loglevel.Level) {
	t.Helper()
	if _, err := client.Loggers.Replace(t.Context(), name, signalbox.LoggerDraft{Base: signalbox.LevelSetting{Level: level}}); err != nil {
		t.Fatal(err)
	}
}

// TestBox_AppliesChanges: a change through the API is applied within 100 ms at the median.
func TestBox_AppliesChanges(t *testing.T) {
	t.Parallel()
	servertest.Each(t, func(t *testing.T, start func(...string) *servertest.Server) {
		server := start()
		client, framework := server.Client(), newFramework()
		box := readyBox(t, server.URL)
		box.Adapt(framework)
		flag := box.Bool("on", false)
		var flags, levels []time.Duration
		for i := range testenv.Scale(20, 200) {
			want := i%2 == 0
			setFlag(t, client, "on", want)
			began := time.Now()
			testenv.Wait(t, "the flag", func() bool { return flag.Get(t.Context()) == want })
			flags = append(flags, time.Since(began))

			level := loglevel.Levels()[i%2]
			setLevelTo(t, client, "shop", level)
			began = time.Now()
			if got := <-framework.levels; got != (setLevel{"shop.payments", level}) {
				t.Fatalf("got %+v", got)
			}
			levels = append(levels, time.Since(began))
		}
		slices.Sort(flags)
		slices.Sort(levels)
		t.Logf("applied after the response, median: flag %s, level %s", flags[len(flags)/2], levels[len(levels)/2])
		if flags[len(flags)/2] > 100*time.Millisecond || levels[len(levels)/2] > 100*time.Millisecond {
			t.Errorf("flags %v, levels %v", flags, levels)
		}
	})
}

type limits struct {
	Timeout int            `json:"timeout_ms"`
	Hosts   map[string]int `json:"hosts"`
	Name    string         `json:"name"`
}

// Validate checks a rule that a JSON Schema cannot express.
func (l *limits) Validate() error {
	if l.Timeout < 0 {
		return errors.New("timeout_ms is negative")
	}
	return nil
}

func setConfig(t *testing.T, client *signalbox.Client, key string, values map[string]string) {
	t.Helper()
	draft := signalbox.ConfigDraft{Items: map[string]signalbox.ConfigItem{}}
	for name, value := range values {
		draft.Items[name] = signalbox.ConfigItem{Value: []byte(value)}
	}
	_, err := client.Configs.Replace(t.Context(), key, draft)
	if signalbox.IsNotFound(err) {
		_, err = client.Configs.Create(t.Context(), key, draft)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestConfig_FollowsParents: a config has the values of its parents, and the code's where none has one.
func TestConfig_FollowsParents(t *testing.T) {
	t.Parallel()
	servertest.Each(t, func(t *testing.T, start func(...string) *servertest.Server) {
		server := start()
		client, log := server.Client(), &logText{}
		setConfig(t, client, "common", map[string]string{"timeout_ms": "100", "hosts": `{"a": 1}`})
		setConfig(t, client, "checkout", map[string]string{"hosts": `{"b": 2}`})
		box := readyBox(t, server.URL, log.option())
		settings := Config(box, "checkout", limits{Timeout: 5, Name: "code"})
		if same := Config(box, "checkout", limits{Timeout: 5, Name: "code"}); same != settings {
			t.Error("a repeated declaration is another config")
		}
		want := limits{Timeout: 100, Hosts: map[string]int{"a": 1, "b": 2}, Name: "code"}
		if diff := testenv.Diff(want, settings.Get()); diff != "" {
			t.Fatal(diff)
		}
		changes := make(chan [2]limits, 1)
		stop := settings.OnChange(func(before, after limits) { changes <- [2]limits{before, after} })
		setConfig(t, client, "common", map[string]string{"timeout_ms": "200", "hosts": `{"a": 1}`})
		if got := <-changes; got[0].Timeout != 100 || got[1].Timeout != 200 {
			t.Errorf("got %+v", got)
		}
		stop()
		for _, wrong := range []string{`-1`, `1.5`} {
			t.Run(wrong, func(t *testing.T) {
				setConfig(t, client, "common", map[string]string{"timeout_ms": wrong, "hosts": `{"a": 1}`})
				testenv.Wait(t, "a refused config", func() bool { return settings.Err() != nil })
				if got := settings.Get(); got.Timeout != 200 {
					t.Errorf("got %+v", got)
				}
				setConfig(t, client, "common", map[string]string{"timeout_ms": "200", "hosts": `{"a": 1}`})
				testenv.Wait(t, "a good config", func() bool { return settings.Err() == nil })
			})
		}
		if text := log.String(); !strings.Contains(text, "config=checkout") {
			t.Errorf("logged %s", text)
		}
		if err := client.Configs.Delete(t.Context(), "checkout"); err != nil {
			t.Fatal(err)
		}
		testenv.Wait(t, "the defaults", func() bool { return settings.Get().Timeout == 5 })
	})
}

// TestBox_ReleasedLogger: after its level is removed, a logger has the level of the code again.
func TestBox_ReleasedLogger(t *testing.T) {
	t.Parallel()
	server := servertest.Start(t)
	client, framework := server.Client(), newFramework()
	box := readyBox(t, server.URL)
	box.Adapt(framework)
	setLevelTo(t, client, "shop", loglevel.Trace)
	if got := <-framework.levels; got.level != loglevel.Trace {
		t.Errorf("got %+v", got)
	}
	framework.onNew(Logger{Name: "Shop/Cart", Uses: loglevel.Info})
	if got := <-framework.levels; got != (setLevel{"Shop/Cart", loglevel.Trace}) {
		t.Errorf("a new logger got %+v", got)
	}
	framework.onNew(Logger{Name: "other", Uses: loglevel.Info})
	if _, err := client.Loggers.Replace(t.Context(), "shop", signalbox.LoggerDraft{Release: true}); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if got := <-framework.levels; got.level != loglevel.None || got.name == "other" {
			t.Errorf("got %+v", got)
		}
	}
}

// TestBox_ServerRestart: the box keeps the last values, and afterward is live again with the changes
// that it missed.
func TestBox_ServerRestart(t *testing.T) {
	t.Parallel()
	servertest.Each(t, func(t *testing.T, start func(...string) *servertest.Server) {
		server := start()
		setFlag(t, server.Client(), "on", true)
		box := readyBox(t, server.URL)
		flag := box.Bool("on", false)
		waitStatus(t, box, Live)
		server.Stop()
		waitStatus(t, box, Stale)
		if !flag.Get(t.Context()) || box.State().Err == nil {
			t.Errorf("in the state %s the flag is %v", box.State(), flag.Get(t.Context()))
		}
		server.Restart()
		waitStatus(t, box, Live)
		setFlag(t, server.Client(), "on", false)
		testenv.Wait(t, "a change after the restart", func() bool { return !flag.Get(t.Context()) })
	})
}

// TestBox_CutConnection: changes that were made while the connection was away arrive, by resuming.
func TestBox_CutConnection(t *testing.T) {
	t.Parallel()
	server := servertest.Start(t)
	wire, client := newWire(t, server.URL), server.Client()
	box := readyBox(t, wire.URL)
	flag := box.Bool("on", false)
	for i := range testenv.Scale(5, 50) {
		waitStatus(t, box, Live)
		wire.set(true)
		wire.cut()
		waitStatus(t, box, Stale)
		want := i%2 == 0
		setFlag(t, client, "on", want)
		wire.set(false)
		testenv.Wait(t, "a change that was missed", func() bool { return flag.Get(t.Context()) == want })
	}
}

// TestBox_OtherEnvironment: a flag that changed in another environment only, or that a service only declared, has not changed
// for the box.
func TestBox_OtherEnvironment(t *testing.T) {
	t.Parallel()
	server := servertest.Start(t)
	client, ctx := server.Client(), t.Context()
	if _, err := client.Environments.Create(ctx, "qa", signalbox.EnvironmentDraft{Name: "QA"}); err != nil {
		t.Fatal(err)
	}
	setFlag(t, client, "on", true)
	box := readyBox(t, server.URL)
	box.Bool("on", false).OnChange(func() { t.Error("the flag has changed") })
	changed := make(chan []string, 10)
	box.OnFlagChange(func(keys []string) { changed <- keys })
	flag, err := client.Flags.Get(ctx, "on")
	if err != nil {
		t.Fatal(err)
	}
	draft := flag.Draft()
	draft.Environments["qa"] = flageval.Environment{Enabled: true, Default: []byte("false")}
	if _, err := client.Flags.Replace(ctx, "on", draft); err != nil {
		t.Fatal(err)
	}
	declared := signalbox.ReportedFlag{ID: "declared", Type: flageval.Boolean, Default: []byte("true"), Service: "other", Environment: "production"}
	if _, err := client.Flags.Report(ctx, []signalbox.ReportedFlag{declared}); err != nil {
		t.Fatal(err)
	}
	setFlag(t, client, "last", true)
	if keys := <-changed; !slices.Equal(keys, []string{"last"}) {
		t.Errorf("the flags %q have changed", keys)
	}
}

// TestBox_BlockedWebSocket: a proxy that lets no sockets through makes the box poll.
func TestBox_BlockedWebSocket(t *testing.T) {
	t.Parallel()
	server := servertest.Start(t)
	target, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	forward := httputil.NewSingleHostReverseProxy(target)
	forward.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError) // boxes that end cancel requests
	snapshots := make(chan int, 1000)
	forward.ModifyResponse = func(r *http.Response) error {
		if strings.Contains(r.Request.URL.Path, "/snapshots/") {
			snapshots <- r.StatusCode
		}
		return nil
	}
	for name, block := range map[string]http.HandlerFunc{
		"refuses": func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "no sockets here", http.StatusForbidden) },
		"cuts":    func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
		"ignores": func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) },
	} {
		t.Run(name, func(t *testing.T) {
			proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.Header.Get("Upgrade") != "" {
					block(w, r)
					return
				}
				forward.ServeHTTP(w, r)
			}))
			defer proxy.Close()
			box := readyBox(t, proxy.URL)
			flag := box.Bool("on-"+name, false)
			setFlag(t, server.Client(), "on-"+name, true)
			testenv.Wait(t, "a polled flag, with a proxy that "+name, func() bool { return flag.Get(t.Context()) })
			testenv.Wait(t, "the state of a box that polls", func() bool { // the values are there a moment before it
				state := box.State()
				return state.Status == Live && state.Polling && state.Err != nil
			})
		})
	}
	for status := range snapshots {
		if status == http.StatusNotModified {
			break
		}
	}
}

// TestBox_RevokedKey: the values stay, the state says why, and nothing is flooded.
func TestBox_RevokedKey(t *testing.T) {
	t.Parallel()
	server := servertest.Start(t)
	client, log := server.Client(), &logText{}
	setFlag(t, client, "on", true)
	made, err := client.Keys.Create(t.Context(), signalbox.KeyDraft{Name: "Service", Role: signalbox.RoleViewer})
	if err != nil {
		t.Fatal(err)
	}
	box := readyBox(t, server.URL, WithKey(made.Secret), log.option())
	flag := box.Bool("on", false)
	states := make(chan State, 10)
	box.OnState(func(state State) { states <- state })
	if _, err := client.Keys.Revoke(t.Context(), made.ID); err != nil {
		t.Fatal(err)
	}
	for state := range states {
		if state.Status == Refused {
			break
		}
	}
	if !flag.Get(t.Context()) || !signalbox.IsUnauthorized(box.State().Err) {
		t.Errorf("%v in the state %s", flag.Get(t.Context()), box.State())
	}
	if lines := strings.Count(log.String(), "\n"); lines > 1 {
		t.Errorf("logged %d lines:\n%s", lines, log)
	}
	late := startBox(t, server.URL, WithKey(made.Secret))
	if err := late.Ready(t.Context()); !signalbox.IsUnauthorized(err) {
		t.Errorf("a service with a revoked key is ready: %v", err)
	}
}

// TestBox_SlowServer: nothing waits for a slow server, neither starting nor reading nor declaring.
func TestBox_SlowServer(t *testing.T) {
	t.Parallel()
	server := servertest.Start(t)
	setFlag(t, server.Client(), "on", true)
	wire := newWire(t, server.URL)
	release := wire.hold()
	watchdog := time.AfterFunc(10*time.Second, release) // otherwise a reader that waits for the server would wait forever
	box := startBox(t, wire.URL)
	flag := box.Bool("on", false)
	if flag.Get(t.Context()) {
		t.Error("the flag has a value before the server has answered")
	}
	if settings := Config(box, "checkout", limits{Timeout: 7}); settings.Get().Timeout != 7 {
		t.Errorf("got %v", settings.Get())
	}
	if !watchdog.Stop() {
		t.Error("starting waited for the server")
	}
	release()
	waitReady(t, box)
	if !flag.Get(t.Context()) {
		t.Error("the flag has no value after the server has answered")
	}
}

// TestBox_ServerNeverComes: the code's defaults are served, and Ready says why.
func TestBox_ServerNeverComes(t *testing.T) {
	t.Parallel()
	log := &logText{}
	box := startBox(t, "http://127.0.0.1:1", log.option())
	flag := box.String("color", "blue")
	waitStatus(t, box, Stale)
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	if err := box.Ready(ctx); !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "refused") {
		t.Errorf("Ready returns %v", err)
	}
	if detail := flag.GetDetail(t.Context()); detail != (Detail[string]{Value: "blue", Reason: flageval.Error, Rule: flageval.NoRule, Code: flageval.FlagNotFound}) {
		t.Errorf("got %+v", detail)
	}
	if lines := strings.Count(log.String(), "\n"); lines != 1 {
		t.Errorf("logged %d lines:\n%s", lines, log)
	}
}

// TestBox_Reports: flags, loggers, contexts and counts reach the server, and a level that is applied within 2 s.
// TestBox_NewEnvironment: a misspelled environment would be created by the first report, and nobody would know.
func TestBox_NewEnvironment(t *testing.T) {
	t.Parallel()
	servertest.Each(t, func(t *testing.T, start func(...string) *servertest.Server) {
		server := start()
		for environment, warned := range map[string]bool{"prodution": true, "production": false} {
			t.Run(environment, func(t *testing.T) {
				var log recordedLog
				box := readyBox(t, server.URL, WithEnvironment(environment), WithLogger(slog.New(slog.NewTextHandler(&log, nil))))
				box.Close(t.Context()) // with a last report
				if said := strings.Contains(log.text(), "signalbox environments promote prodution"); said != warned {
					t.Errorf("in %s it logged\n%s", environment, log.text())
				}
			})
		}
	})
}

// recordedLog keeps what is logged by several goroutines.
type recordedLog struct {
	mu    sync.Mutex
	lines strings.Builder
}

// Write keeps a line.
func (l *recordedLog) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.lines.Write(line)
}

func (l *recordedLog) text() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.lines.String()
}

func TestBox_Reports(t *testing.T) {
	t.Parallel()
	servertest.Each(t, func(t *testing.T, start func(...string) *servertest.Server) {
		server := start()
		client, framework, ctx := server.Client(), newFramework(), t.Context()
		box := readyBox(t, server.URL)
		box.Adapt(framework)
		flag := box.Number("retries", 3)
		request := WithContext(ctx, User("alice", Attr("plan", "pro")), ContextOf("account", "acme"))
		for range 7 {
			flag.Get(request)
		}
		testenv.Wait(t, "the declared flag", func() bool {
			found, err := client.Flags.Get(ctx, "retries")
			return err == nil && found.Type == flageval.Numeric && string(found.Default) == "3" && !found.Managed
		})
		setLevelTo(t, client, "shop.payments", loglevel.Debug)
		<-framework.levels
		began := time.Now()
		testenv.Wait(t, "the reported level", func() bool {
			found, err := client.Loggers.Get(ctx, "shop.payments")
			return err == nil && len(found.Sources) == 1 && found.Sources[0].ResolvedLevel == loglevel.Debug
		})
		if took := time.Since(began); took > 20*time.Second { // everything is reported once a minute
			t.Errorf("the level was reported after %s", took)
		}
		box.Close(ctx)
		for _, id := range []string{"user:alice", "account:acme"} {
			t.Run(id, func(t *testing.T) {
				if _, err := client.Contexts.Get(ctx, id); err != nil {
					t.Error(err)
				}
			})
		}
		series, err := client.Metrics.Series(ctx, "flags.evaluations", signalbox.MetricSeriesParams{Step: time.Minute, From: time.Now().Add(-time.Hour), By: []string{"flag", "value"}})
		if err != nil || len(series.Points) == 0 || series.Points[0].Sum != 7 || series.Points[0].Dimensions["value"] != "3" {
			t.Errorf("got %+v, %v", series, err)
		}
	})
}
