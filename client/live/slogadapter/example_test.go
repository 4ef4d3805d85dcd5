package slogadapter_test

import (
	"log/slog"
	"os"

	"github.com/signalbox/signalbox/client/live"
	"github.com/signalbox/signalbox/client/live/slogadapter"
	"github.com/signalbox/signalbox/client/loglevel"
)

// withoutTime makes the output the same every time.
func withoutTime(_ []string, a slog.Attr) slog.Attr {
	if a.Key == slog.TimeKey {
		return slog.Attr{}
	}
	return a
}

// Loggers whose level is set in Signalbox use it at once; all others use the handler's level.
func Example() {
	box, set := live.Static(levels(nil)) // a service has one of live.Start
	adapter := slogadapter.New(box, slog.NewTextHandler(os.Stdout, &slog.HandlerOptions{ReplaceAttr: withoutTime}))
	log, payments := slog.New(adapter), adapter.Logger("shop.payments")

	payments.Debug("Not yet.")
	set(levels(map[string]loglevel.Level{"shop": loglevel.Debug}))
	payments.Debug("Charging.", "cents", 1250)
	log.Debug("Nobody has set a level for this one.")
	// Output: level=DEBUG msg=Charging. logger=shop.payments cents=1250
}

// Unmanaged loggers follow a level that the code changes while it runs.
func ExampleNewLeveled() {
	box, _ := live.Static(levels(nil))
	level := new(slog.LevelVar)
	handler := slog.NewTextHandler(os.Stdout, &slog.HandlerOptions{Level: level, ReplaceAttr: withoutTime})
	cart := slogadapter.NewLeveled(box, handler, level).Logger("shop.cart")

	cart.Debug("Suppressed.")
	level.Set(slog.LevelDebug)
	cart.Debug("Emptied.")
	// Output: level=DEBUG msg=Emptied. logger=shop.cart
}
