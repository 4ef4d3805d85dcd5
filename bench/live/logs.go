package live

import (
	"context"
	"io"
	"log/slog"

	"github.com/signalbox/signalbox/bench/compare"
	signalbox "github.com/signalbox/signalbox/client"
	"github.com/signalbox/signalbox/client/live"
	"github.com/signalbox/signalbox/client/live/slogadapter"
	"github.com/signalbox/signalbox/client/loglevel"
)

// Logs writes the cost of a suppressed and of an enabled record, compared with a bare handler with a LevelVar.
func Logs(ctx context.Context, w io.Writer) error {
	bare, ours, unmanaged, leveled := bareLogger(), managedLogger("shop"), managedLogger("other"), leveledLogger()
	suppressed := func(log *slog.Logger) func() { // without attributes, which cost all contenders the same
		return func() { log.LogAttrs(ctx, slog.LevelDebug, "Serving a checkout.") }
	}
	enabled := func(log *slog.Logger) func() {
		return func() {
			log.LogAttrs(ctx, slog.LevelWarn, "Serving a checkout.", slog.String("user", "alice"), slog.Int("items", 3))
		}
	}
	for _, each := range []struct {
		title  string
		record func(*slog.Logger) func()
	}{{"a suppressed record", suppressed}, {"an enabled record", enabled}} {
		figures := compare.Measure([]compare.Contender{
			{Name: "bare handler with a LevelVar", Call: each.record(bare)},
			{Name: "signalbox, managed", Call: each.record(ours)},
			{Name: "signalbox, not managed", Call: each.record(unmanaged)},
			{Name: "signalbox, not managed, with NewLeveled", Call: each.record(leveled)},
			{Name: "an empty wrapper of the bare handler", Call: each.record(slog.New(&wrapper{bare.Handler()}))},
		})
		if err := compare.Report(w, each.title, figures); err != nil {
			return err
		}
	}
	return nil
}

// wrapper shows the least cost of a handler around another.
type wrapper struct{ slog.Handler }

func handler(level slog.Leveler) slog.Handler {
	return slog.NewJSONHandler(io.Discard, &slog.HandlerOptions{Level: level})
}

func bareLogger() *slog.Logger {
	return slog.New(handler(new(slog.LevelVar))).With(slogadapter.NameKey, "shop.payments")
}

// box returns a box that manages "shop" and its descendants.
func box() *live.Box {
	made, _ := live.Static(signalbox.Snapshot{Resource: signalbox.Resource{ID: "production"},
		Loggers: []signalbox.Logger{{Resource: signalbox.Resource{ID: "shop"}, Level: loglevel.Info, Managed: true}}})
	return made
}

func managedLogger(name string) *slog.Logger {
	return slogadapter.New(box(), handler(new(slog.LevelVar))).Logger(name + ".payments")
}

func leveledLogger() *slog.Logger {
	level := new(slog.LevelVar)
	return slogadapter.NewLeveled(box(), handler(level), level).Logger("other.payments")
}
