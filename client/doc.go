// Package signalbox is the Go client of a Signalbox server.
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
// A [Client] has one member per kind of resource, and their methods have the same names: List returns one page, All
// iterates over every item, Get, Create, Replace, Apply (create or replace) and Delete work on one resource. Report
// sends observations of a running service and returns the items that the server rejected.
//
// # Replacing
//
// Replace overwrites every attribute that a draft has; a nil pointer is sent as null and clears the value.
// The Draft method of a resource returns a draft of its current state:
//
//	environment, err := client.Environments.Get(ctx, "staging")
//	draft := environment.Draft()
//	draft.Name = "Staging (EU)"
//	environment, err = client.Environments.Replace(ctx, environment.ID, draft, signalbox.IfMatch(environment.ETag))
//
// With [IfMatch] the server rejects the write if the resource has changed since it was read; [IsVersionMismatch]
// reports that.
//
// # Flags
//
// [FlagsAPI.Evaluate] asks the server which value a context gets, and why. A service evaluates flags itself: it compiles
// [Flag.Definition] with package flageval.
//
// # Jobs
//
// [JobsAPI.Run] queues a run and [RunsAPI.Wait] waits until it has ended. A run that failed is not an error of this
// package: see [Run.Status].
//
// # Events
//
// [EventsAPI.Follow] streams changes as they happen. It reconnects and resumes by itself; [EventConnected] says whether
// events were missed.
//
// # Errors
//
// A response that is not a success is an [*APIError] with every problem that the server named. The Is… functions
// recognize the common codes.
//
// # Retries
//
// Requests are retried when the server cannot be reached or answers 429 or 503, except reports of metrics, signing in and
// POSTs of [Client.Send]; see [RetryPolicy]. Any other POST is carried out once, however often it is sent: see [Once]. If the
// response to a request that succeeded was lost, the retry sees its effect: Delete may report that the resource does not exist,
// and a write with IfMatch that the resource has changed.
package signalbox
