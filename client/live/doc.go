// Package live gives a running Go service feature flags that are evaluated locally, log levels that change while it runs,
// and configuration that is always current.
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
// [Start] returns at once. Until the server has answered, flags and configs have the last values of the service, from a file
// in the user's cache directory, or the values of a bootstrap file, or the defaults in the code. [Box.Ready] waits for the
// server, and [Box.State] returns how current the values are. Reading a flag or a config takes no lock and no request.
//
// One snapshot is loaded at the start. Then the event socket announces changes. The box reads changed resources one by one,
// or one snapshot when there are many. It resumes a lost connection after 1 to 60 seconds, and polls the snapshot while no
// socket can be opened. A server that is away, slow or refuses the key never fails the service: the last values stay, and
// the box logs a line per minute at most.
//
// # What is reported
//
// Declared flags, loggers with their levels, contexts (each once) and the number of evaluations by flag and value are sent
// when the service starts, every minute, and when it ends. Reports have a limited size. See [WithoutContextReports].
package live
