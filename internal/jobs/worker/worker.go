package worker

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/signalbox/signalbox/internal/accounts"
	"github.com/signalbox/signalbox/internal/background"
	"github.com/signalbox/signalbox/internal/jobs"
	"github.com/signalbox/signalbox/internal/plans"
)

// Why a request was aborted.
var (
	errCanceled = errors.New("the run was cancelled")
	errLost     = errors.New("the node could not reach the database for too long and gave its runs up")
	errStopped  = errors.New("the node was shut down before the response came")
)

// Store gives the transactions of a worker.
type Store interface {
	Read(ctx context.Context, fn func(ReadTx) error) error
	Write(ctx context.Context, account string, fn func(Tx) error) error
	// FinishRuns stores, in a transaction of its own, what came of runs that
	// the lease still owns, and gives their ids.
	FinishRuns(ctx context.Context, lease string, outcomes []Outcome) ([]string, error)
}

// ReadTx is what a worker reads.
type ReadTx interface {
	// Nodes gives every node that has not been given up, with its last beat.
	Nodes(ctx context.Context) ([]Node, error)
	// Owned gives the running runs of a worker.
	Owned(ctx context.Context, lease string) ([]string, error)
	// CountPending counts the runs that wait, up to a limit.
	CountPending(ctx context.Context, limit int) (int, error)
	// Configurations gives what jobs send, by the ids that claims have. What
	// cannot be read is left out.
	Configurations(ctx context.Context, ids []string) (map[string]jobs.Configuration, error)
}

// Tx is what a worker reads and writes in one transaction.
type Tx interface {
	ReadTx
	Now() time.Time
	Account(ctx context.Context, id string) (accounts.Account, error)
	// PendingAccounts gives the accounts after one that have pending runs.
	PendingAccounts(ctx context.Context, after string, limit int) ([]string, error)
	// PendingLanes gives the lanes of an account, after one, that have pending runs.
	PendingLanes(ctx context.Context, account, after string, limit int) ([]string, error)
	// ClaimRuns makes the oldest pending runs of a lane a worker's own.
	ClaimRuns(ctx context.Context, lane, lease string, limit int) ([]Claim, error)
	// RefuseRuns fails the oldest pending runs of a lane as QUOTA_EXCEEDED.
	RefuseRuns(ctx context.Context, lane, detail string, limit int) (int, error)
	RunsUsed(ctx context.Context, account, period string) (int, error)
	// MeterRuns counts runs; nobody else counts there until the transaction ends.
	MeterRuns(ctx context.Context, account, period string, more int) error
	Beat(ctx context.Context, boot, node string) error
	// Lives tells whether a worker has not been given up. Until the transaction
	// ends, it is not.
	Lives(ctx context.Context, boot string) (bool, error)
	// Settled tells that no transaction in which a worker claims is under way.
	Settled(ctx context.Context, boot string) (bool, error)
	// GiveUp removes a node unless it has beaten since, and tells whether it did.
	GiveUp(ctx context.Context, node Node) (bool, error)
	// LoseRuns fails the running runs of a worker that is gone.
	LoseRuns(ctx context.Context, lease, detail string) (int, error)
}

// Claim is a run that this worker is to execute.
type Claim struct {
	Run, Account, Lane, Job string
	// Request is the id of the configuration.
	Request string
}

// host is the part of the lane that names the destination.
func (c Claim) host() string { return hostOf(c.Lane) }

func hostOf(lane string) string {
	_, host, _ := strings.Cut(lane, ":")
	return host
}

// Outcome is what came of a run.
type Outcome struct {
	Run        string
	Status     jobs.Status
	Reason     *jobs.Reason
	Error      *string
	Result     *jobs.Result
	FinishedAt time.Time
}

// Order is a request to make.
type Order struct {
	Account, Run, Job string
	Configuration     jobs.Configuration
}

// Sender makes requests. The error is a *SendError, or what ended ctx.
type Sender interface {
	Send(ctx context.Context, order Order) (jobs.Result, error)
}

// SendError is a request that got no response, or none in time.
type SendError struct {
	Reason jobs.Reason
	Detail string
}

// Error gives the detail.
func (e *SendError) Error() string { return e.Detail }

// Node is a worker as the others see it.
type Node struct {
	Boot, Name string
	Beat       int64
}

// Limits bound how many requests are in flight at once.
type Limits struct{ Node, Account, Host int }

// Observer is told what a worker does.
type Observer interface {
	RunFinished(status jobs.Status, reason jobs.Reason)
	InFlight(requests int)
	QueueDepth(runs int)
}

// Worker executes runs on one node.
type Worker struct {
	Store   Store
	Sender  Sender
	Plans   plans.Table
	Limits  Limits
	Log     *slog.Logger
	Observe Observer
	Now     func() time.Time
	// Boot is new at every start; Node is the same after a restart.
	Boot, Node string
	// Pace is how often it does what it does; zero is as the package's
	// documentation says.
	Pace Pace

	flights        flights
	configurations configurationCache
	reads          sync.Mutex // held by who reads configurations
	turns          turns
	sweep          sweep
	outcomes       chan Outcome
	wake           background.Bell
	beaten         background.Bell
	lives          atomic.Bool // others have no reason to give it up
	fuse           *time.Timer // ends lives
	short          atomic.Bool // runs wait for room
	stopped        sync.Once
	uncertain      bool // a claim may have been committed without an answer

	claims, beats      background.Loop
	writing, executing sync.WaitGroup
	cancelWrites       context.CancelFunc
}

// Start begins to claim and execute runs.
func (w *Worker) Start(ctx context.Context) {
	ctx = context.WithoutCancel(ctx)
	if w.Pace == (Pace{}) {
		w.Pace = defaultPace()
	}
	w.flights.limits, w.flights.observe = w.Limits, w.Observe.InFlight
	w.wake, w.beaten = background.NewBell(), background.NewBell()
	w.outcomes = make(chan Outcome, 4*w.Limits.Node)
	w.fuse = time.AfterFunc(w.Pace.GiveUpOwn, w.burn)
	w.beats.Start(ctx, w.beat, w.listen, w.watch)
	w.claims.Start(ctx, w.claimAll)
	ctx, w.cancelWrites = context.WithCancel(ctx)
	w.writing.Go(func() { w.writeAll(ctx) })
}

// Wake makes the worker look for runs now. It never blocks.
func (w *Worker) Wake() { w.wake.Ring() }

// Abort ends the request of a run that was cancelled, if it is made here.
func (w *Worker) Abort(run string) { w.flights.abort(run, errCanceled) }

// endTimeout bounds what is left to write once no request is in flight: a
// database that does not answer must not keep the process.
const endTimeout = 5 * time.Second

// Stop ends the worker as the package's documentation says. It returns when
// nothing is left of it, and may be called again.
func (w *Worker) Stop(ctx context.Context) {
	if w.cancelWrites != nil { // it was started
		w.stopped.Do(func() { w.stop(ctx) })
	}
}

func (w *Worker) stop(ctx context.Context) {
	w.claims.Stop()
	select {
	case <-w.flights.empty():
	case <-ctx.Done():
		w.flights.abortAll(errStopped)
	}
	late := time.AfterFunc(endTimeout, w.cancelWrites) // an abort frees whoever waits for the writer, too
	defer late.Stop()
	w.executing.Wait()
	close(w.outcomes)
	w.writing.Wait()
	w.cancelWrites()
	w.beats.Stop()
	w.fuse.Stop()
	ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), endTimeout)
	defer cancel()
	w.leave(ending)
}

// execute makes the request of a run and reports what came of it.
func (w *Worker) execute(ctx context.Context, claim Claim, configuration jobs.Configuration) {
	var result jobs.Result
	err := ctx.Err() // it may have been aborted before it began
	if err == nil {
		result, err = w.Sender.Send(ctx, Order{Account: claim.Account, Run: claim.Run, Job: claim.Job, Configuration: configuration})
	}
	aborted := context.Cause(ctx) // before it lands, which ends the context
	w.land(claim)
	w.report(claim, conclude(configuration, result, err, aborted))
}

// land makes room for another run.
func (w *Worker) land(claim Claim) {
	w.flights.land(claim)
	if w.short.Load() {
		w.Wake()
	}
}

// report hands an outcome to whoever writes it.
func (w *Worker) report(claim Claim, outcome Outcome) {
	outcome.Run, outcome.FinishedAt = claim.Run, w.Now().UTC().Truncate(time.Microsecond)
	w.outcomes <- outcome
}

// conclude turns an exchange into the final state of its run.
func conclude(configuration jobs.Configuration, result jobs.Result, err, aborted error) Outcome {
	failed, refused := errors.AsType[*SendError](err)
	switch {
	case err == nil && configuration.Succeeds(result.Status):
		return Outcome{Status: jobs.Succeeded, Result: &result}
	case err == nil:
		return failure(jobs.NonSuccessStatus, "The response's status "+result.StatusText()+" is not the wanted "+configuration.Plain().SuccessStatus+".", &result)
	case aborted != nil:
		return failure(jobs.WorkerLost, "The run was given up: "+aborted.Error()+".", nil)
	case refused:
		return failure(failed.Reason, failed.Detail, nil)
	}
	return failure(jobs.ConnectionError, err.Error(), nil)
}

func failure(reason jobs.Reason, detail string, result *jobs.Result) Outcome {
	detail = strings.ReplaceAll(strings.ToValidUTF8(detail, "\uFFFD"), "\x00", "\uFFFD") // what others sent may be quoted in it
	return Outcome{Status: jobs.Failed, Reason: &reason, Error: &detail, Result: result}
}
