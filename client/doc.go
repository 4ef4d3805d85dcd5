// Package signalbox is the client of a Signalbox server.
//
//	client, err := signalbox.New("http://127.0.0.1:8080", os.Getenv("SIGNALBOX_API_KEY"))
//	if err != nil {
//		return err
//	}
//	for environment, err := range client.Environments.All(ctx, signalbox.EnvironmentParams{}) {
//		if err != nil {
//			return err
//		}
//		fmt.Println(environment.ID, environment.Managed)
//	}
//
// A [Client] has one member per kind of resource. Their methods are named
// alike: List gives one page, All every item, Get, Create, Replace and Delete
// one resource. What a running service observes is sent with Report, which
// tells what the server did not take.
//
// # Replacing
//
// Replace sends a draft, and the server overwrites everything that a draft
// holds: a nil pointer is sent as null and clears the value. The Draft method
// of a resource gives the draft that changes nothing, to be altered:
//
//	environment, err := client.Environments.Get(ctx, "staging")
//	draft := environment.Draft()
//	draft.Name = "Staging (EU)"
//	environment, err = client.Environments.Replace(ctx, environment.ID, draft, signalbox.IfMatch(environment.ETag))
//
// With [IfMatch] the server refuses the write when somebody else has changed
// the resource since it was read; [IsVersionMismatch] recognizes that.
//
// # Flags
//
// [FlagsAPI.Evaluate] asks the server which value a context gets, and why. A
// service that serves flags evaluates them itself: [Flag.Definition] is what
// package flageval compiles.
//
// # Jobs
//
// [JobsAPI.Run] queues a run and [RunsAPI.Wait] waits for its end. What a
// receiver answers is no error of this package: [Run.Status] tells.
//
// # Events
//
// [EventsAPI.Follow] tells what happens as it happens. It connects again by
// itself and goes on where it was; [EventConnected] says whether anything was
// missed meanwhile.
//
// # Errors
//
// What the server refuses is an [*APIError] with every problem it named. The
// functions Is… recognize the common kinds.
//
// # Repeating
//
// Requests whose repetition does no harm are repeated when the server cannot
// be reached, answers 429, or answers 503; see [RetryPolicy]. A server may
// have carried out a request whose answer was lost. Its repetition then finds
// the work done: a Delete may report that there is nothing to delete, and a
// write with IfMatch that the resource has changed.
package signalbox
