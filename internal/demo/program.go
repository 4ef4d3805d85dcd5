package demo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"os"
	"os/exec"
	"sync"
	"time"

	"github.com/signalbox/signalbox/client/flageval"
	"github.com/signalbox/signalbox/client/live"
	"github.com/signalbox/signalbox/client/live/slogadapter"
)

// pace is how often a program logs. The level of the logger decides which records are printed.
const pace = 700 * time.Millisecond

// startPrograms starts the programs as processes until ctx ends. If one of the three ends earlier, the
// channel receives an error; if one of Options.Others ends earlier, the output says so.
func (d *demo) startPrograms(ctx context.Context, server string) (*sync.WaitGroup, <-chan error) {
	var running sync.WaitGroup
	ended := make(chan error, len(programs()))
	for _, each := range programs() {
		command := d.command(ctx, server, each, d.options.Program, each.name)
		running.Go(func() {
			if err := command.Run(); ctx.Err() == nil {
				ended <- errors.Join(fmt.Errorf("the program %s ended", each.name), err)
			}
		})
	}
	for _, each := range d.options.Others {
		command := d.command(ctx, server, program{each.Name, "production"}, each.Command...)
		running.Go(func() {
			if err := command.Run(); ctx.Err() == nil {
				fmt.Fprintf(d.options.Out, "The program %s ended (%v). The demo goes on without it.\n", each.Name, err)
			}
		})
	}
	return &running, ended
}

// command returns the process of a program, which ends with ctx.
func (d *demo) command(ctx context.Context, server string, p program, args ...string) *exec.Cmd {
	command := exec.CommandContext(ctx, args[0], args[1:]...)
	command.Env = append(os.Environ(), "SIGNALBOX_URL="+server, "SIGNALBOX_API_KEY="+d.key,
		"SIGNALBOX_ENVIRONMENT="+p.environment, "SIGNALBOX_SERVICE="+p.name)
	command.Stdout, command.Stderr = d.options.Out, d.options.Out
	command.Cancel = func() error { return command.Process.Signal(os.Interrupt) }
	command.WaitDelay = 3 * time.Second
	return command
}

// checkoutSettings are the values of the config "checkout".
type checkoutSettings struct {
	TimeoutMS int `json:"timeout_ms"`
}

// RunProgram runs one of the three programs until ctx ends. The program serves imaginary customers, evaluates its flags,
// and logs at the levels that Signalbox sets.
func RunProgram(ctx context.Context, name string, out io.Writer) error {
	box, err := live.Start(ctx, live.WithoutCache())
	if err != nil {
		return err
	}
	defer box.Close(ctx)
	p := &service{settings: live.Config(box, "checkout", checkoutSettings{TimeoutMS: 3000})}
	for _, each := range declarations() {
		if each.Service == name {
			p.declare(box, each)
		}
	}
	adapter := slogadapter.New(box, slog.NewTextHandler(out, &slog.HandlerOptions{ReplaceAttr: shortTime}))
	for _, logger := range loggersOf(name) {
		p.loggers = append(p.loggers, adapter.Logger(logger).With("service", name))
	}
	_ = box.Ready(ctx) // a service runs without the server too
	for {
		p.serve(ctx)
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(pace):
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
	flags    []flag // evaluated for every customer
	settings *live.Configuration[checkoutSettings]
}

// flag is a flag of any type.
type flag struct {
	key string
	get func(context.Context) any
}

// declare declares a flag, as a service does in its code.
func (s *service) declare(box *live.Box, d declaration) {
	var declared flag
	switch d.Type {
	case flageval.Boolean:
		declared = flagOf(box.Bool(d.ID, valueOf[bool](d.Default)))
	case flageval.String:
		declared = flagOf(box.String(d.ID, valueOf[string](d.Default)))
	case flageval.Numeric:
		declared = flagOf(box.Number(d.ID, valueOf[float64](d.Default)))
	default:
		declared = flagOf(live.JSON(box, d.ID, valueOf[any](d.Default)))
	}
	if d.Always {
		s.flags = append(s.flags, declared)
	}
}

func flagOf[T any](f *live.Flag[T]) flag {
	return flag{f.Key(), func(ctx context.Context) any { return f.Get(ctx) }}
}

// valueOf decodes the default of a flag in the data.
func valueOf[T any](text json.RawMessage) (value T) {
	if err := json.Unmarshal(text, &value); err != nil {
		panic(err) // the file is embedded, so this is a programming error
	}
	return value
}

var errPaymentDeclined = errors.New("the card was declined")

// serve serves one customer. Several loggers log about it, mostly at DEBUG.
func (s *service) serve(ctx context.Context) {
	customer := customers()[rand.IntN(len(customers()))]
	ctx = live.WithContext(ctx, live.User(customer.key, live.Attr("plan", customer.plan), live.Attr("country", customer.country)))
	for _, asked := range s.flags {
		log := s.loggers[rand.IntN(len(s.loggers))]
		log.DebugContext(ctx, "Serving a customer.", "user", customer.key, asked.key, asked.get(ctx), "timeout_ms", s.settings.Get().TimeoutMS)
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
