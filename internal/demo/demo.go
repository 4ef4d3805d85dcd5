package demo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/signalbox/signalbox/internal/app"
	"github.com/signalbox/signalbox/internal/settings"
)

// Password is the password of every person in the demo.
const Password = "signalbox-demo"

// preferred is the address of the demo, unless it is in use.
const preferred = "127.0.0.1:8080"

// Options say how a demo runs.
type Options struct {
	// Out receives the output of the programs and the demo.
	Out io.Writer
	// Program is the binary that runs the three programs. It is this binary itself.
	Program string
	// Others are programs in other languages that are connected too. The demo goes on without one that ends.
	Others []Other
	// Listen is the server's address. Empty means port 8080, or a free port if 8080 is in use.
	Listen string
	// Ready is called when everything runs, with the URL of the server and an API key. It may be nil.
	Ready func(url, key string)
}

// Other is a program that the demo starts with the variables of the environment that every client reads, in production.
type Other struct {
	// Name is the name of the service.
	Name string
	// Command starts it.
	Command []string
}

// Run creates a demo in a temporary folder, runs it until ctx ends, and removes the folder.
func Run(ctx context.Context, o Options) (err error) {
	folder, err := os.MkdirTemp("", "signalbox-demo-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	if o.Listen == "" {
		o.Listen = address(ctx)
	}
	receiver, stop, err := startReceiver(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = stop() }()
	d := &demo{options: o, settings: configuration(folder, o.Listen), receiver: receiver}
	fmt.Fprintln(o.Out, "Making three months of history…")
	if err := d.fill(ctx); ctx.Err() != nil {
		return nil // the user has ended the demo
	} else if err != nil {
		return fmt.Errorf("filling the demo: %w", err)
	}
	return d.serve(ctx)
}

// demo has the state that all parts of the demo share.
type demo struct {
	options  Options
	settings settings.Settings
	receiver string // the URL that jobs call
	key      string // the API key of the programs
}

// address returns the preferred address if it is free, else an address with a free port.
func address(ctx context.Context) string {
	for _, each := range []string{preferred, "127.0.0.1:0"} {
		if listener, err := new(net.ListenConfig).Listen(ctx, "tcp", each); err == nil {
			defer listener.Close()
			return listener.Addr().String()
		}
	}
	return preferred // the server will report the problem
}

func configuration(folder, listen string) settings.Settings {
	s, _, err := settings.Load(nil, nil)
	if err != nil {
		panic(err) // the defaults are valid
	}
	s.Data = filepath.Join(folder, "data")
	s.BootstrapKeyFile = filepath.Join(folder, "key")
	s.Listen, s.PublicURL = listen, "http://"+listen
	s.AllowNetworks = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")} // so that jobs can call the receiver
	s.Retention = 120 * 24 * time.Hour                                     // longer than the history that is made
	s.RateLimit, s.ShutdownTimeout = 0, 3*time.Second
	return s
}

// serve runs the server and the programs until ctx ends.
func (d *demo) serve(ctx context.Context) error {
	log := slog.New(slog.NewTextHandler(d.options.Out, &slog.HandlerOptions{Level: slog.LevelWarn}))
	server, err := app.New(ctx, d.settings, log, io.Discard)
	if err != nil {
		return err
	}
	if err := server.Start(ctx); err != nil {
		return errors.Join(err, server.Stop(context.WithoutCancel(ctx)))
	}
	url := "http://" + server.Address()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	programs, ended := d.startPrograms(ctx, url)
	d.welcome(url)
	if d.options.Ready != nil {
		d.options.Ready(url, d.key)
	}
	select {
	case <-ctx.Done():
	case err = <-ended:
		cancel() // ends the others too
	}
	programs.Wait()
	return errors.Join(err, server.Stop(context.WithoutCancel(ctx)))
}

func (d *demo) welcome(url string) {
	fmt.Fprintf(d.options.Out, `
  The console     %s
  Sign in as      %s, with the password %s
  The API key     %s

  Programs print below what their log levels let through. Open Log levels, set
  shop.checkout to DEBUG in production for 15 minutes, and see. Ctrl-C ends everything.

`, url, people()[0].Email, Password, d.key)
}

// clock is a clock that moves only when set is called.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) set(to time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = to
}
