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
		level("alone", false, loglevel.Debug),        // left to the framework
		level("shop", false, loglevel.Warn),          // above a managed one
		level("shop.pay", true, loglevel.None),       // managed
		level("shop.pay.card", false, loglevel.None), // below, and says nothing
		level("shop.pay.cash", false, loglevel.Info), // below, and reported with a level
		level("shop.view", false, loglevel.Info),     // beside
		level("shopping", false, loglevel.Info),      // only looks like it
	}
	var got []string
	for _, each := range controlled(loggers) {
		got = append(got, each.Key)
	}
	if want := []string{"shop", "shop.pay", "shop.pay.cash"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
