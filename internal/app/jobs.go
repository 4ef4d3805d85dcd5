package app

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/signalbox/signalbox/internal/egress"
	"github.com/signalbox/signalbox/internal/jobs"
	"github.com/signalbox/signalbox/internal/jobs/scheduler"
	"github.com/signalbox/signalbox/internal/jobs/worker"
	"github.com/signalbox/signalbox/internal/telemetry"
)

// limits bounds the requests in flight of the node, of each account and of each host.
func limits(node int) worker.Limits {
	return worker.Limits{Node: node, Account: node / 2, Host: node / 4}
}

// wireJobs connects the jobs engine: a due job wakes the scheduler, a queued run
// wakes the worker, and a canceled run aborts its request.
func (a *App) wireJobs() *jobs.Service {
	a.egress = egress.New(egress.Options{Allow: a.settings.AllowNetworks, Self: a.ownAddresses, UserAgent: "signalbox/" + version, Idle: a.settings.RunsInFlight})
	a.worker = &worker.Worker{
		Store: a.db.Worker(), Sender: sender{a.egress}, Plans: a.plans, Limits: limits(a.settings.RunsInFlight), Log: a.log, Observe: runObserver{a},
		Now: a.options.Now, Boot: uuid.NewString(), Paused: a.clock.isWrong, Alone: a.settings.Database == "",
	}
	backlog := &jobs.Backlog{Requests: a.db.Jobs(), Loops: a.db.Jobs().ForLoops(), Limit: a.options.PendingRuns, Now: a.options.Now}
	a.scheduler = &scheduler.Scheduler{
		Store: a.db.Scheduler(), Log: a.log, Backlog: backlog, Skipped: a.metrics.CountSkips, Queued: a.worker.Wake, Fired: a.metrics.ObserveScheduleLag, Ticked: a.metrics.SetLastTick,
		Paused: a.clock.isWrong,
	}
	a.pendingRuns = &jobs.Expirer{Store: a.db.Jobs().ForObservations(), Log: a.log, Limit: a.settings.PendingLimit, Canceled: a.countCanceled,
		Paused: a.clock.isWrong}
	a.worker.Followers = []*worker.Worker{a.wireDeliveries()}
	a.listener.OnAbort(a.worker.Abort)
	return &jobs.Service{Store: a.db.Jobs(), Plans: a.plans, Backlog: backlog, Due: a.scheduler.Wake, Queued: a.worker.Wake, Aborted: a.worker.Abort, Canceled: a.countCanceled}
}

func (a *App) countCanceled(runs int) {
	for range runs {
		a.metrics.CountRun(string(jobs.Canceled), "")
	}
}

// ownAddresses returns the addresses of this process, which jobs may not call.
func (a *App) ownAddresses() []netip.AddrPort {
	var own []netip.AddrPort
	for _, server := range a.servers {
		if address, ok := server.listener.Addr().(*net.TCPAddr); ok {
			own = append(own, address.AddrPort())
		}
	}
	return own
}

// runObserver passes the worker's reports to the metrics.
type runObserver struct{ app *App }

func (o runObserver) RunFinished(status jobs.Status, reason jobs.Reason) {
	o.app.metrics.CountRun(string(status), string(reason))
}
func (o runObserver) InFlight(requests int) { o.app.metrics.SetRunsInFlight(requests) }
func (o runObserver) QueueDepth(runs int)   { o.app.metrics.SetRunQueueDepth(runs) }
func (o runObserver) Unhealthy(found []jobs.Unhealthy) {
	o.app.metrics.SetJobHealth(healthLabels(found))
}

// healthLabels returns the labels of jobs, or webhooks, that are not well.
func healthLabels(found []jobs.Unhealthy) map[telemetry.Health]bool {
	labels := make(map[telemetry.Health]bool, len(found))
	for _, each := range found {
		labels[telemetry.Health{Account: each.Account, ID: each.Key, State: string(each.State)}] = true
	}
	return labels
}

// sender sends the requests of runs through egress.
type sender struct{ client *egress.Client }

// Send sends the request of a run.
func (s sender) Send(ctx context.Context, order worker.Order) (jobs.Result, error) {
	return s.send(ctx, order, egress.Request{Headers: outboundHeaders(order, order.Configuration.Plain().Headers)})
}

// send sends a request with the configuration of an order.
func (s sender) send(ctx context.Context, order worker.Order, request egress.Request) (jobs.Result, error) {
	plain := order.Configuration.Plain()
	request.Account, request.Method, request.URL = order.Account, plain.Method, plain.URL
	request.Insecure, request.Timeout = !plain.TLSVerify, order.Configuration.Timeout()
	if plain.Body != nil {
		request.Body = *plain.Body
	}
	if plain.CACert != nil {
		request.CACert = *plain.CACert
	}
	answer, err := s.client.Do(ctx, request)
	return result(answer), sendError(err)
}

// sendError translates the error of a failed request for the worker. A request that was
// canceled, or that this node had no resources for, is not a failure of the destination.
func sendError(err error) error {
	failed, ok := errors.AsType[*egress.Error](err)
	if !ok {
		return err
	}
	reason := jobs.ConnectionError
	switch failed.Reason {
	case egress.Canceled:
		return err
	case egress.Exhausted:
		return fmt.Errorf("%w: %s", worker.ErrExhausted, failed.Detail)
	case egress.Timeout:
		reason = jobs.Timeout
	case egress.SSRFBlocked:
		reason = jobs.SSRFBlocked
	case egress.ConnectionError:
	}
	return &worker.SendError{Reason: reason, Detail: failed.Detail}
}

func result(answer egress.Result) jobs.Result {
	body, cut := jobs.RecordedBody(answer.Body, answer.Truncated)
	return jobs.Result{
		Status: answer.Status, Headers: answer.Header, Body: body, BodyTruncated: cut, BodyBytes: answer.BodyBytes,
		Timings: &jobs.Timings{
			DNS: milliseconds(answer.Timings.DNS), Connect: milliseconds(answer.Timings.Connect), TLS: milliseconds(answer.Timings.TLS),
			FirstByte: milliseconds(answer.Timings.FirstByte), Total: milliseconds(answer.Timings.Total),
		},
	}
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

func asHeaders(own []jobs.Header) []egress.Header {
	headers := make([]egress.Header, len(own))
	for i, header := range own {
		headers[i] = egress.Header(header)
	}
	return headers
}

// outboundHeaders adds the headers that identify the run, unless the job sets them.
func outboundHeaders(order worker.Order, own []jobs.Header) []egress.Header {
	headers := slices.Grow(asHeaders(own), 3)
	trace := fmt.Sprintf("00-%016x%016x-%016x-00", rand.Uint64()|1, rand.Uint64(), rand.Uint64()|1) //nolint:gosec // the id need not be secret
	for _, ours := range []egress.Header{{Name: "X-Signalbox-Run", Value: order.Run}, {Name: "X-Signalbox-Job", Value: order.Job}, {Name: "Traceparent", Value: trace}} {
		if !slices.ContainsFunc(own, func(header jobs.Header) bool { return strings.EqualFold(header.Name, ours.Name) }) {
			headers = append(headers, ours)
		}
	}
	return headers
}
