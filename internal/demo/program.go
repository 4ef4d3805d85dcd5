package demo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"os"
	"os/exec"
	"sync"
	"time"

	"github.com/signalbox/signalbox/client/live"
	"github.com/signalbox/signalbox/client/live/slogadapter"
)

// pace is how often a program has something to say; its level decides whether it does.
const pace = 700 * time.Millisecond

// startPrograms starts the three programs as processes, which end with ctx. A program that ends before is an error.
func (d *demo) startPrograms(ctx context.Context, server string) (*sync.WaitGroup, <-chan error) {
	var running sync.WaitGroup
	ended := make(chan error, len(programs()))
	for _, each := range programs() {
		command := exec.CommandContext(ctx, d.options.Program, each.name)
		command.Env = append(os.Environ(), "SIGNALBOX_URL="+server, "SIGNALBOX_API_KEY="+d.key,
			"SIGNALBOX_ENVIRONMENT="+each.environment, "SIGNALBOX_SERVICE="+each.name)
		command.Stdout, command.Stderr = d.options.Out, d.options.Out
		command.Cancel = func() error { return command.Process.Signal(os.Interrupt) }
		command.WaitDelay = 3 * time.Second
		running.Go(func() {
			if err := command.Run(); ctx.Err() == nil {
				ended <- fmt.Errorf("the program %s ended: %w", each.name, err)
			}
		})
	}
	return &running, ended
}

// checkoutSettings are the values of the config "checkout".
type checkoutSettings struct {
	TimeoutMS int `json:"timeout_ms"`
}

// RunProgram is one of the three programs: it serves imaginary customers, asks its flags, and logs at levels that Signalbox
// sets, until ctx ends.
func RunProgram(ctx context.Context, name string, out io.Writer) error {
	box, err := live.Start(ctx, live.WithoutCache())
	if err != nil {
		return err
	}
	defer box.Close(ctx)
	p := &service{
		checkout: box.Bool("checkout-v2", false), banner: box.String("banner-text", "Hello"), batch: box.Number("mail-batch-size", 50),
		settings: live.Config(box, "checkout", checkoutSettings{TimeoutMS: 3000}),
	}
	adapter := slogadapter.New(box, slog.NewTextHandler(out, &slog.HandlerOptions{ReplaceAttr: shortTime}))
	for _, logger := range loggersOf(name) {
		p.loggers = append(p.loggers, adapter.Logger(logger).With("service", name))
	}
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(pace):
			p.serve(ctx)
		}
	}
}

// shortTime prints the time of day, without a date and a zone.
func shortTime(_ []string, attr slog.Attr) slog.Attr {
	if attr.Key == slog.TimeKey {
		attr.Value = slog.StringValue(attr.Value.Time().Format("15:04:05.000"))
	}
	return attr
}

// service is a running program.
type service struct {
	loggers  []*slog.Logger
	checkout *live.Flag[bool]
	banner   *live.Flag[string]
	batch    *live.Flag[float64]
	settings *live.Configuration[checkoutSettings]
}

var errPaymentDeclined = errors.New("the card was declined")

// serve serves one customer: several loggers say what happens, most of it in detail that only DEBUG shows.
func (s *service) serve(ctx context.Context) {
	customer := customers()[rand.IntN(len(customers()))]
	ctx = live.WithContext(ctx, live.User(customer.key, live.Attr("plan", customer.plan), live.Attr("country", customer.country)))
	for range 3 {
		log := s.loggers[rand.IntN(len(s.loggers))]
		log.DebugContext(ctx, "Serving a customer.", "user", customer.key, "new_checkout", s.checkout.Get(ctx), "banner", s.banner.Get(ctx),
			"timeout_ms", s.settings.Get().TimeoutMS, "batch", s.batch.Get(ctx))
	}
	log := s.loggers[rand.IntN(len(s.loggers))]
	switch chance := rand.IntN(100); {
	case chance < 2:
		log.ErrorContext(ctx, "A payment failed.", "user", customer.key, "error", errPaymentDeclined)
	case chance < 8:
		log.WarnContext(ctx, "A request took long.", "user", customer.key, "took_ms", 900+rand.IntN(2000))
	case chance < 40:
		log.InfoContext(ctx, "A customer was served.", "user", customer.key, "plan", customer.plan)
	}
}
