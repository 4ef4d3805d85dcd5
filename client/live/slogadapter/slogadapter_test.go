package slogadapter_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	signalbox "github.com/signalbox/signalbox/client"
	"github.com/signalbox/signalbox/client/internal/testenv"
	"github.com/signalbox/signalbox/client/live"
	"github.com/signalbox/signalbox/client/live/slogadapter"
	"github.com/signalbox/signalbox/client/loglevel"
)

// levels returns a snapshot with managed loggers.
func levels(byName map[string]loglevel.Level) signalbox.Snapshot {
	s := signalbox.Snapshot{Resource: signalbox.Resource{ID: "production"}}
	for name, level := range byName {
		s.Loggers = append(s.Loggers, signalbox.Logger{Resource: signalbox.Resource{ID: name}, Level: level, Managed: true})
	}
	return s
}

func enabled(log *slog.Logger) string {
	var on []string
	for _, each := range loglevel.Levels() {
		if log.Enabled(context.Background(), slogadapter.Level(each)) {
			on = append(on, each.String())
		}
	}
	return strings.Join(on, " ")
}

func TestAdapter_Levels(t *testing.T) {
	t.Parallel()
	t.Run("New", func(t *testing.T) {
		t.Parallel()
		checkLevels(t, func(box *live.Box, inner slog.Handler, _ slog.Leveler) *slogadapter.Adapter {
			return slogadapter.New(box, inner)
		})
	})
	t.Run("NewLeveled", func(t *testing.T) {
		t.Parallel()
		checkLevels(t, func(box *live.Box, inner slog.Handler, level slog.Leveler) *slogadapter.Adapter {
			return slogadapter.NewLeveled(box, mute{inner}, level)
		})
	})
}

// mute is a handler that must not be asked for its level.
type mute struct{ slog.Handler }

func (mute) Enabled(context.Context, slog.Level) bool { panic("asked for the level") }

func (m mute) WithAttrs(attributes []slog.Attr) slog.Handler {
	return mute{m.Handler.WithAttrs(attributes)}
}

func (m mute) WithGroup(name string) slog.Handler { return mute{m.Handler.WithGroup(name)} }

func checkLevels(t *testing.T, adapt func(*live.Box, slog.Handler, slog.Leveler) *slogadapter.Adapter) {
	t.Helper()
	box, set := live.Static(levels(nil))
	var out bytes.Buffer
	code := new(slog.LevelVar)
	code.Set(slog.LevelWarn)
	adapter := adapt(box, slog.NewTextHandler(&out, &slog.HandlerOptions{Level: code}), code)
	payments := adapter.Logger("shop.payments")
	shop := slog.New(adapter).With("a", 1, slogadapter.Named("Shop"), "b", 2)
	const all = "TRACE DEBUG INFO WARN ERROR FATAL SILENT"
	from := func(name string) string { return all[strings.Index(all, name):] }
	check := func(log *slog.Logger, want string) {
		t.Helper()
		if got := enabled(log); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	check(payments, from("WARN"))
	set(levels(map[string]loglevel.Level{"shop": loglevel.Trace, "shop.payments": loglevel.Error}))
	check(payments, from("ERROR"))
	check(shop, from("TRACE"))
	check(adapter.Logger("shop.cart"), from("TRACE"))
	check(payments.WithGroup("g").With("c", 3), from("ERROR"))
	check(payments.WithGroup("g").With(slogadapter.Named("shop")), from("ERROR"))
	check(slog.New(adapter), from("WARN"))
	check(adapter.Logger("other"), from("WARN"))

	set(levels(map[string]loglevel.Level{"shop": loglevel.Silent}))
	check(payments, "SILENT")
	set(levels(nil))
	code.Set(slog.LevelInfo) // the code's level counts again, also the new one
	check(payments, from("INFO"))

	set(levels(map[string]loglevel.Level{"shop": loglevel.Debug}))
	payments.Debug("one", "k", "v")
	shop.Debug("two")
	adapter.Logger("other").Debug("three")
	text := out.String()
	for _, want := range []string{"msg=one logger=shop.payments k=v", "msg=two a=1 logger=Shop b=2"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in %s", want, text)
		}
	}
	if strings.Contains(text, "three") {
		t.Errorf("an unmanaged logger uses a level of Signalbox: %s", text)
	}
}

func TestLevel_Mapping(t *testing.T) {
	t.Parallel()
	for _, each := range loglevel.Levels() {
		t.Run(each.String(), func(t *testing.T) {
			if got := slogadapter.LevelOf(slogadapter.Level(each)); got != each {
				t.Errorf("%s becomes %s", each, got)
			}
		})
	}
	for level, want := range map[slog.Level]loglevel.Level{-100: loglevel.Trace, -6: loglevel.Debug, 1: loglevel.Warn, 9: loglevel.Fatal, 13: loglevel.Silent} {
		t.Run(fmt.Sprint(level), func(t *testing.T) {
			if diff := testenv.Diff(want, slogadapter.LevelOf(level)); diff != "" {
				t.Error(int(level), diff)
			}
		})
	}
	if slogadapter.LevelTrace != slog.LevelDebug-4 || slogadapter.LevelFatal != slog.LevelError+4 {
		t.Error("the levels are others")
	}
}
