// Command shop is a web service whose flag, log level and config come from Signalbox, and change while it runs:
//
//	export SIGNALBOX_URL=http://127.0.0.1:8080 SIGNALBOX_API_KEY=… SIGNALBOX_ENVIRONMENT=production SIGNALBOX_SERVICE=shop
//	go run ./examples/shop
//	curl 'http://127.0.0.1:8090/checkout?user=alice&plan=pro'
package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/signalbox/signalbox/client/live"
	"github.com/signalbox/signalbox/client/live/slogadapter"
)

// checkoutSettings are the values of the config "checkout".
type checkoutSettings struct {
	TimeoutMS int `json:"timeout_ms"`
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", cmp.Or(os.Getenv("SHOP_LISTEN"), "127.0.0.1:8090"))
	if err != nil {
		slog.Error("The shop cannot listen; choose another address with SHOP_LISTEN.", "error", err)
		return
	}
	if err := run(ctx, listener, os.Stdout); err != nil {
		slog.Error("The shop ended.", "error", err)
	}
}

// run serves until ctx ends.
func run(ctx context.Context, listener net.Listener, out io.Writer) error {
	box, err := live.Start(ctx)
	if err != nil {
		return err
	}
	defer box.Close(ctx)
	checkout := box.Bool("checkout-v2", false)
	settings := live.Config(box, "checkout", checkoutSettings{TimeoutMS: 3000})
	log := slogadapter.New(box, slog.NewTextHandler(out, nil)).Logger("shop.payments")

	waitForValues(ctx, box)

	mux := http.NewServeMux()
	mux.Handle("GET /debug/signalbox", box)
	mux.HandleFunc("GET /checkout", func(w http.ResponseWriter, r *http.Request) {
		user, plan := r.FormValue("user"), r.FormValue("plan")
		ctx := live.WithContext(r.Context(), live.User(user, live.Attr("plan", plan)))
		page := "the old checkout"
		if checkout.Get(ctx) {
			page = "the new checkout"
		}
		log.DebugContext(ctx, "Serving a checkout.", "user", user, "page", page)
		fmt.Fprintf(w, "%s, with a timeout of %d ms\n", page, settings.Get().TimeoutMS)
	})
	server := &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second}
	defer context.AfterFunc(ctx, func() { _ = server.Close() })()
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// waitForValues waits up to 5 s for the server, so that the first requests get its values. Without an answer the shop starts
// with the values of its code: Signalbox must not keep it from starting.
func waitForValues(ctx context.Context, box *live.Box) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	if err := box.Ready(ctx); err != nil {
		slog.Warn("Starting with the values of the code; they are replaced when the server answers.", "error", err)
	}
}
