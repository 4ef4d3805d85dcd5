package signalboxtest_test

import (
	"testing"

	"github.com/signalbox/signalbox/client/live"
	"github.com/signalbox/signalbox/client/loglevel"
	"github.com/signalbox/signalbox/client/signalboxtest"
)

// price is code to test.
func price(box *live.Box, t *testing.T) float64 {
	if box.Bool("sale", false).Get(t.Context()) {
		return 8
	}
	return 10
}

// A test sets the values of flags, and changes them.
func ExampleNew() {
	_ = func(t *testing.T) {
		box := signalboxtest.New(t, signalboxtest.Flags{"sale": true}, signalboxtest.Configs{"checkout": map[string]int{"timeout_ms": 200}})
		if got := price(box.Box, t); got != 8 {
			t.Errorf("on sale it costs %v", got)
		}
		box.Set(signalboxtest.Flags{"sale": false})
		if got := price(box.Box, t); got != 10 {
			t.Errorf("it costs %v", got)
		}
	}
}

// A test of the whole service starts it with a fake server, and takes the server away.
func ExampleNewServer() {
	_ = func(t *testing.T) {
		server := signalboxtest.NewServer(t, signalboxtest.Flags{"sale": true}, signalboxtest.Levels{"shop": loglevel.Debug})
		box, err := live.Start(t.Context(), server.Options()...)
		if err == nil {
			err = box.Ready(t.Context())
		}
		if err != nil {
			t.Fatal(err)
		}
		defer box.Close(t.Context())
		server.Close()
		if got := price(box, t); got != 8 {
			t.Errorf("without the server it costs %v", got)
		}
	}
}
