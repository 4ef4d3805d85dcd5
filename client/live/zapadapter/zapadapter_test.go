package zapadapter_test

import (
	"bytes"
	"strings"
	"testing"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/signalbox/signalbox/client/live/zapadapter"
	"github.com/signalbox/signalbox/client/loglevel"
	"github.com/signalbox/signalbox/client/signalboxtest"
)

func TestAdapter_Levels(t *testing.T) {
	t.Parallel()
	box := signalboxtest.New(t)
	var out bytes.Buffer
	code := zap.NewAtomicLevelAt(zap.WarnLevel)
	adapter := zapadapter.New(box.Box, zapcore.NewCore(zapcore.NewConsoleEncoder(zap.NewProductionEncoderConfig()), zapcore.AddSync(&out), code))
	payments := adapter.Logger("shop.payments").With(zap.String("k", "v"))
	check := func(log *zap.Logger, least zapcore.Level) {
		t.Helper()
		for level := zapadapter.LevelTrace; level <= zapadapter.LevelSilent; level++ {
			if got := log.Core().Enabled(level); got != (level >= least) {
				t.Errorf("%s is enabled: %v", level, got)
			}
		}
	}
	check(payments, zap.WarnLevel)
	for _, each := range loglevel.Levels() {
		box.Set(signalboxtest.Levels{"shop": each})
		check(payments, zapadapter.Level(each))
		check(adapter.Logger("Shop/Cart"), zapadapter.Level(each))
		check(adapter.Logger("other"), zap.WarnLevel)
	}
	box.Set(signalboxtest.Levels{"shop": loglevel.Debug})
	payments.Debug("shown")
	adapter.Logger("other").Debug("hidden")
	if text := out.String(); !strings.Contains(text, "shop.payments") || !strings.Contains(text, `shown	{"k": "v"}`) || strings.Contains(text, "hidden") {
		t.Errorf("wrote %s", text)
	}
	box.Set(signalboxtest.Levels{"shop": loglevel.None})
	code.SetLevel(zap.ErrorLevel)
	check(payments, zap.ErrorLevel)
}
