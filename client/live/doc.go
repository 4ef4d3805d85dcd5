// Package live is what a running Go service imports: feature flags that are evaluated locally, log levels that change while
// it runs, and configuration that is always current.
//
//	box, err := live.Start(ctx) // SIGNALBOX_URL, SIGNALBOX_API_KEY, SIGNALBOX_ENVIRONMENT, SIGNALBOX_SERVICE
//	if err != nil {
//		return err
//	}
//	defer box.Close(ctx)
//
//	checkout := box.Bool("checkout-v2", false)
//	settings := live.Config(box, "checkout", Checkout{TimeoutMS: 1500})
//	log := slogadapter.New(box, slog.NewJSONHandler(os.Stdout, nil)).Logger("shop.payments")
//
//	ctx = live.WithContext(ctx, live.User("alice", live.Attr("plan", "pro")))
//	if checkout.Get(ctx) {
//		log.DebugContext(ctx, "New checkout.", "timeout", settings.Get().TimeoutMS)
//	}
//
// # What is read, and when
//
// [Start] returns at once. Until the server has answered, flags and configs have the values that the service had last time,
// from a file in the user's cache directory, or those of a bootstrap file, or the defaults in the code. [Box.Ready] waits for
// the server, [Box.State] says how current everything is. Reading a flag or a config takes no lock and no request.
//
// One snapshot is loaded at the start. Then the event socket tells of changes, which are read one by one, or as one snapshot
// when there are many. A lost connection is resumed where it was, after 1 to 60 seconds; while no socket can be opened, the
// snapshot is polled. Nothing here fails a service: a server that is away, slow or refuses the key leaves the last values in
// place, and costs a log line per minute at most.
//
// # What is reported
//
// Declared flags, loggers with their levels, contexts (each once) and how often a flag had which value are sent when the
// service starts, every minute, and when it ends. All of it is bounded. See [WithoutContextReports].
package live
