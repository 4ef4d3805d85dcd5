package signalboxtest_test

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/client/flageval"
	"github.com/signalbox/signalbox/client/internal/testenv"
	"github.com/signalbox/signalbox/client/live"
	"github.com/signalbox/signalbox/client/live/slogadapter"
	"github.com/signalbox/signalbox/client/loglevel"
	"github.com/signalbox/signalbox/client/signalboxtest"
)

type checkout struct {
	TimeoutMS int `json:"timeout_ms"`
}

func pro() flageval.Environment {
	return flageval.Environment{Enabled: true, Default: []byte("false"), Rules: []flageval.Rule{
		{Logic: []byte(`{"==":[{"var":"user.plan"},"pro"]}`), Value: []byte("true")}}}
}

func TestNew_Values(t *testing.T) {
	t.Parallel()
	box := signalboxtest.New(t, signalboxtest.Flags{"on": true, "color": "red", "limit": 3, "theme": map[string]int{"size": 4}, "ruled": pro()},
		signalboxtest.Levels{"Shop": loglevel.Debug}, signalboxtest.Configs{"checkout": checkout{5}})
	ctx := t.Context()
	on, settings := box.Bool("on", false), live.Config(box.Box, "checkout", checkout{})
	log := slogadapter.New(box.Box, slog.DiscardHandler).Logger("shop.payments")
	got := []any{on.Get(ctx), box.String("color", "").Get(ctx), box.Number("limit", 0).Get(ctx), live.JSON(box.Box, "theme", map[string]int{}).Get(ctx)["size"],
		box.Bool("ruled", false).Get(ctx), box.Bool("ruled", false).Get(live.WithContext(ctx, live.User("u", live.Attr("plan", "pro")))),
		settings.Get().TimeoutMS, log.Enabled(ctx, slog.LevelDebug)}
	if want := "[true red 3 4 false true 5 true]"; fmt.Sprint(got) != want {
		t.Errorf("got %v, want %s", got, want)
	}
	box.Set(signalboxtest.Flags{"on": false}, signalboxtest.Levels{"shop": loglevel.None}, signalboxtest.Configs{"checkout": map[string]any{"timeout_ms": 6}})
	if on.Get(ctx) || settings.Get().TimeoutMS != 6 || log.Enabled(ctx, slog.LevelError) || box.String("color", "").Get(ctx) != "red" {
		t.Error("the values are not those that were set")
	}
	if box.State().Status != live.Live || box.Ready(ctx) != nil {
		t.Errorf("the state is %s", box.State())
	}
}

// TestNew_MissingConfig: a config that does not exist has the defaults of the code, also if it is a map.
func TestNew_MissingConfig(t *testing.T) {
	t.Parallel()
	box := signalboxtest.New(t, signalboxtest.Flags{})
	if got := live.Config(box.Box, "missing", map[string]int{"timeout_ms": 5}).Get(); got["timeout_ms"] != 5 {
		t.Errorf("got %v", got)
	}
}

// recorded is a testing.TB that keeps the failures.
type recorded struct {
	testing.TB
	text string
}

// Helper does nothing.
func (r *recorded) Helper() {}

// Cleanup does nothing.
func (r *recorded) Cleanup(func()) {}

// Fatalf keeps the message.
func (r *recorded) Fatalf(format string, args ...any) {
	r.text = fmt.Sprintf(format, args...)
	panic(r)
}

func TestNew_Mistakes(t *testing.T) {
	t.Parallel()
	for want, values := range map[string]signalboxtest.Values{
		"flag f":   signalboxtest.Flags{"f": func() {}},
		"default":  signalboxtest.Flags{"f": flageval.Environment{Enabled: true}},
		"/logic":   signalboxtest.Flags{"f": flageval.Environment{Default: []byte("1"), Rules: []flageval.Rule{{Logic: []byte(`{"nope":1}`), Value: []byte("2")}}}},
		"logger l": signalboxtest.Levels{"l": 99},
		"config c": signalboxtest.Configs{"c": 7},
	} {
		t.Run(want, func(t *testing.T) {
			r := &recorded{}
			func() {
				defer func() { _ = recover() }()
				signalboxtest.New(r, values)
			}()
			if !strings.Contains(r.text, want) {
				t.Errorf("%+v: %q", values, r.text)
			}
		})
	}
}

func TestServer_Live(t *testing.T) {
	t.Parallel()
	server := signalboxtest.NewServer(t, signalboxtest.Flags{"on": true}, signalboxtest.Levels{"shop": loglevel.Warn})
	box, err := live.Start(t.Context(), append(server.Options(), live.WithService("shop"), live.WithLogger(slog.New(slog.DiscardHandler)))...)
	if err != nil {
		t.Fatal(err)
	}
	flag := box.Bool("on", false)
	if err := box.Ready(t.Context()); err != nil || !flag.Get(t.Context()) {
		t.Fatalf("%v in the state %s, %v", flag.Get(t.Context()), box.State(), err)
	}
	server.Set(signalboxtest.Flags{"on": false})
	testenv.Wait(t, "the change", func() bool { return !flag.Get(t.Context()) })
	box.Close(context.WithoutCancel(t.Context()))
	for _, kind := range []string{"flags", "contexts", "metrics"} {
		if reports := server.Reports(kind); len(reports) == 0 {
			t.Errorf("no report of %s", kind)
		}
	}
	if text := string(server.Reports("flags")[0]); !strings.Contains(text, `"on"`) {
		t.Errorf("reported %s", text)
	}
}

func ExampleFlags() {
	// In a test, with its t: box := signalboxtest.New(t, signalboxtest.Flags{"checkout-v2": true})
	_ = signalboxtest.Flags{"checkout-v2": true, "color": "red", "retries": 3}
}
