// Command movedclock is `signalbox serve` with a clock that signals set, for tests: SIGUSR1 moves it by MOVED_CLOCK, which is a
// duration, and SIGUSR2 sets it right. No system has a clock of its own for a single process.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/signalbox/signalbox/internal/app"
	"github.com/signalbox/signalbox/internal/settings"
	"github.com/signalbox/signalbox/internal/telemetry"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	err := serve(ctx)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func serve(ctx context.Context) error {
	by, err := time.ParseDuration(os.Getenv("MOVED_CLOCK"))
	if err != nil {
		return fmt.Errorf("MOVED_CLOCK: %w", err)
	}
	loaded, _, err := settings.Load(os.Environ(), nil)
	if err != nil {
		return err
	}
	var ahead atomic.Int64
	go set(ctx, &ahead, by)
	instance, err := app.New(ctx, loaded, telemetry.NewLogger(os.Stderr, loaded.LogLevel, loaded.LogFormat), os.Stdout, func(o *app.Options) {
		o.Now = func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }
	})
	if err != nil {
		return err
	}
	return instance.Run(ctx)
}

func set(ctx context.Context, ahead *atomic.Int64, by time.Duration) {
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, syscall.SIGUSR1, syscall.SIGUSR2)
	defer signal.Stop(signals)
	for {
		select {
		case <-ctx.Done():
			return
		case received := <-signals:
			ahead.Store(0)
			if received == syscall.SIGUSR1 {
				ahead.Store(int64(by))
			}
		}
	}
}
