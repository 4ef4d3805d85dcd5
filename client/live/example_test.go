package live_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"os/signal"

	signalbox "github.com/signalbox/signalbox/client"
	"github.com/signalbox/signalbox/client/live"
	"github.com/signalbox/signalbox/client/live/slogadapter"
)

type Checkout struct {
	TimeoutMS int `json:"timeout_ms"`
}

// A service with a flag, a logger and a config. SIGNALBOX_URL, SIGNALBOX_API_KEY, SIGNALBOX_ENVIRONMENT and
// SIGNALBOX_SERVICE say where they come from.
func Example() {
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt)
	defer cancel()

	box, err := live.Start(ctx)
	if err != nil {
		slog.Error("Signalbox is not configured; the defaults in the code are used.", "error", err)
	}
	defer box.Close(ctx)
	checkout := box.Bool("checkout-v2", false)
	log := slogadapter.New(box, slog.NewJSONHandler(os.Stdout, nil)).Logger("shop.payments")
	settings := live.Config(box, "checkout", Checkout{TimeoutMS: 1500})

	http.HandleFunc("/checkout", func(_ http.ResponseWriter, r *http.Request) {
		ctx := live.WithContext(r.Context(), live.User(r.FormValue("user"), live.Attr("plan", r.FormValue("plan"))))
		if checkout.Get(ctx) {
			log.DebugContext(ctx, "New checkout.", "timeout", settings.Get().TimeoutMS)
		}
	})
	http.Handle("/debug/signalbox", box)
}

// Hear of changes.
func ExampleBox_OnState() {
	box, _ := live.Static(signalbox.Snapshot{})
	stop := box.OnState(func(state live.State) { slog.Info("Signalbox.", "state", state) })
	defer stop()
	box.OnFlagChange(func(keys []string) { slog.Info("Flags changed.", "keys", keys) })
	live.Config(box, "checkout", Checkout{}).OnChange(func(before, after Checkout) {
		slog.Info("The timeout changed.", "before", before.TimeoutMS, "after", after.TimeoutMS)
	})
}

// Read a flag whose values are objects, and why it has its value.
func ExampleJSON() {
	type theme struct{ Color string }
	box, _ := live.Static(signalbox.Snapshot{Flags: []signalbox.Flag{
		{Resource: signalbox.Resource{ID: "theme"}, Type: "JSON", Default: []byte(`{"color": "green"}`)},
	}})
	flag := live.JSON(box, "theme", theme{Color: "blue"})
	fmt.Println(flag.Get(context.Background()).Color, flag.GetDetail(context.Background()).Reason)
	// Output: green STATIC
}
