package zerologadapter_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"github.com/signalbox/signalbox/client/live/zerologadapter"
	"github.com/signalbox/signalbox/client/loglevel"
	"github.com/signalbox/signalbox/client/signalboxtest"
)

func TestAdapter_Levels(t *testing.T) {
	t.Parallel()
	box := signalboxtest.New(t)
	var out bytes.Buffer
	adapter := zerologadapter.New(box.Box, zerolog.New(&out).Level(zerolog.WarnLevel))
	payments := adapter.Logger("shop.payments")
	check := func(log zerolog.Logger, least zerolog.Level) {
		t.Helper()
		for _, level := range []zerolog.Level{zerolog.TraceLevel, zerolog.DebugLevel, zerolog.InfoLevel, zerolog.WarnLevel, zerolog.ErrorLevel} {
			t.Run(level.String(), func(t *testing.T) {
				out.Reset()
				log.WithLevel(level).Msg("m")
				if got := out.Len() > 0; got != (level >= least) {
					t.Errorf("%s is written: %v", level, got)
				}
			})
		}
	}
	check(payments, zerolog.WarnLevel)
	for _, each := range loglevel.Levels() {
		box.Set(signalboxtest.Levels{"shop": each})
		check(payments, zerologadapter.Level(each))
		check(adapter.Logger("Shop/Cart"), zerologadapter.Level(each))
		check(adapter.Logger("other"), zerolog.WarnLevel)
	}
	box.Set(signalboxtest.Levels{"shop": loglevel.Debug})
	out.Reset()
	payments.Debug().Str("k", "v").Msg("shown")
	if text := out.String(); !strings.Contains(text, `"logger":"shop.payments"`) || !strings.Contains(text, `"k":"v"`) {
		t.Errorf("wrote %s", text)
	}
}
