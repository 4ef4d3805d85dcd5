package logging

import (
	"slices"
	"testing"

	"github.com/signalbox/signalbox/client/loglevel"
)

func TestControlled(t *testing.T) {
	t.Parallel()
	level := func(key string, managed bool, level loglevel.Level) Logger {
		return Logger{Key: key, Managed: managed, Levels: Levels{Level: level}}
	}
	loggers := []Logger{
		level("alone", false, loglevel.Debug),        // not managed, so the framework decides
		level("shop", false, loglevel.Warn),          // above a managed logger
		level("shop.pay", true, loglevel.None),       // managed
		level("shop.pay.card", false, loglevel.None), // below a managed logger, without a level
		level("shop.pay.cash", false, loglevel.Info), // below a managed logger, with a reported level
		level("shop.view", false, loglevel.Info),     // beside a managed logger
		level("shopping", false, loglevel.Info),      // not below shop, in spite of the prefix
	}
	var got []string
	for _, each := range controlled(loggers) {
		got = append(got, each.Key)
	}
	if want := []string{"shop", "shop.pay", "shop.pay.cash"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
