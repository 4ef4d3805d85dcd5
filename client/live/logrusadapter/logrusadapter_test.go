package logrusadapter_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/sirupsen/logrus"

	"github.com/signalbox/signalbox/client/live/logrusadapter"
	"github.com/signalbox/signalbox/client/loglevel"
	"github.com/signalbox/signalbox/client/signalboxtest"
)

func TestAdapter_Levels(t *testing.T) {
	t.Parallel()
	box := signalboxtest.New(t)
	var out bytes.Buffer
	base := logrus.New()
	base.SetOutput(&out)
	base.SetLevel(logrus.WarnLevel)
	adapter := logrusadapter.New(box.Box, base)
	payments := adapter.Logger("shop.payments").WithField("k", "v")
	check := func(log *logrus.Entry, least logrus.Level) {
		t.Helper()
		for _, level := range []logrus.Level{logrus.TraceLevel, logrus.DebugLevel, logrus.InfoLevel, logrus.WarnLevel, logrus.ErrorLevel} {
			t.Run(level.String(), func(t *testing.T) {
				out.Reset()
				log.Log(level, "m")
				if got := out.Len() > 0; got != (level <= least) {
					t.Errorf("%s is written: %v", level, got)
				}
			})
		}
	}
	check(payments, logrus.WarnLevel)
	for _, each := range loglevel.Levels() {
		box.Set(signalboxtest.Levels{"shop": each})
		check(payments, logrusadapter.Level(each))
		check(adapter.Logger("Shop/Cart"), logrusadapter.Level(each))
		check(adapter.Logger("other"), logrus.WarnLevel)
	}
	box.Set(signalboxtest.Levels{"shop": loglevel.Debug})
	out.Reset()
	payments.Debug("shown")
	if text := out.String(); !strings.Contains(text, "logger=shop.payments") || !strings.Contains(text, "k=v") {
		t.Errorf("wrote %s", text)
	}
	box.Set(signalboxtest.Levels{"shop": loglevel.Silent})
	out.Reset()
	payments.WithField("a", 1).Error("hidden")
	if out.Len() > 0 {
		t.Errorf("a silent logger wrote %s", &out)
	}
	base.SetLevel(logrus.InfoLevel)
	box.Set(signalboxtest.Levels{"shop": loglevel.None})
	check(payments, logrus.InfoLevel)
}
