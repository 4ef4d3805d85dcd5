package worker

import (
	"context"
	"errors"
	"fmt"
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
	errCanceled = errors.New("the run was canceled")
	errLost     = errors.New("the node could not reach the database for too long and gave up its runs")
	errStopped  = errors.New("the node was shut down before the response came")
)

// ErrExhausted means that this node had no file descriptor or memory for a
// request. Nothing was sent.
var ErrExhausted = errors.New("the node is out of resources")

// Store provides the transactions of a worker.
type Store interface {
	Read(ctx context.Context, fn func(context.Context, ReadTx) error) error
	Write(ctx context.Context, account string, fn func(context.Context, Tx) error) error
	// Pack makes an outcome smaller before it waits for FinishRuns. It may be called by many goroutines at once.
	Pack(outcome *Outcome)
	// FinishRuns stores the outcomes of runs that the lease still owns, and returns their ids. If the accounts of some are
	// busy, it stores nothing and returns a BusyError.
	FinishRuns(ctx context.Context, lease string, outcomes []Outcome) ([]string, error)
	// FinishBusy is FinishRuns for the runs of one account, and waits until the account is no longer busy.
	FinishBusy(ctx context.Context, account, lease string, outcomes []Outcome) ([]string, error)
}

// ReadTx is the reading part of a worker's transaction.
type ReadTx interface {
	// Nodes returns every registered node with its last heartbeat.
	Nodes(ctx context.Context) ([]Node, error)
	// Owned returns the running runs of a worker. OwnedOf checks only the given runs, which takes less time.
	Owned(ctx context.Context, lease string) ([]string, error)
	OwnedOf(ctx context.Context, lease string, runs []string) ([]string, error)
	// CountPending counts the pending runs, up to a limit.
	CountPending(ctx context.Context, limit int) (int, error)
	// UnhealthyJobs returns jobs that are failing or late, up to a limit.
	UnhealthyJobs(ctx context.Context, limit int) ([]jobs.Unhealthy, error)
	// Configurations returns the configurations with the ids, except those that cannot be decrypted.
	Configurations(ctx context.Context, ids []string) (map[string]jobs.Configuration, error)
}

// Tx is the transaction of a worker.
type Tx interface {
	ReadTx
	Now() time.Time
	Account(ctx context.Context, id string) (accounts.Account, error)
	// PendingAccounts returns accounts with pending runs, and PendingLanes lanes of an account. Both are sorted and
	// start after the given one.
	PendingAccounts(ctx context.Context, after string, limit int) ([]string, error)
	PendingLanes(ctx context.Context, account, after string, limit int) ([]string, error)
	// ClaimRuns gives the oldest pending runs of a lane to a worker.
	ClaimRuns(ctx context.Context, lane, lease string, limit int) ([]Claim, error)
	// RefuseRuns fails the oldest pending runs of a lane as QUOTA_EXCEEDED, or none while the account is busy.
	RefuseRuns(ctx context.Context, lane, detail string, limit int) (int, error)
	RunsUsed(ctx context.Context, account, period string) (int, error)
	// MeterRuns adds to the account's used runs and locks that number.
	MeterRuns(ctx context.Context, account, period string, more int) error
	Beat(ctx context.Context, boot, node string) error
	// Lives reports whether a worker is registered, and locks its row.
	Lives(ctx context.Context, boot string) (bool, error)
	// Settled reports whether no claim of a worker is in progress.
	Settled(ctx context.Context, boot string) (bool, error)
	// IsSilent reports whether a node has sent no heartbeat since, and locks it.
	IsSilent(ctx context.Context, node Node) (bool, error)
	// GiveUp removes a node, or returns false if it has sent a heartbeat since.
	GiveUp(ctx context.Context, node Node) (bool, error)
	// PutBack makes a run pending again if the worker still owns it, and reports
	// whether it did. The run of a deleted job is canceled instead.
	PutBack(ctx context.Context, run, lease string) (bool, error)
	// LoseRuns fails the running runs of a worker as WORKER_LOST, except those of busy accounts, which it returns.
	LoseRuns(ctx context.Context, lease, detail string) (lost int, busy []string, err error)
}

// Claim is a run that this worker has claimed.
type Claim struct {
	Run, Account, Lane, Job string
	Request                 string // the id of the configuration
	Period                  string // the month in which it is metered
}

// hostOf returns the destination host of a lane: the text after the account, without the name of a queue.
func hostOf(lane string) string {
	_, host, _ := strings.Cut(lane, ":")
	host, _, _ = strings.Cut(host, "#")
	return host
}

// Outcome is the final state of a run.
type Outcome struct {
	Run        string
	Account    string // "" if it is not known
	Status     jobs.Status
	Reason     *jobs.Reason
	Error      *string
	Result     *jobs.Result
	FinishedAt time.Time
	// Packed is the body of Result, whose own body is then empty; nil if the body was not packed.
	Packed *PackedBody
}

// PackedBody is a body as the Store keeps it.
type PackedBody struct {
	Encoding string
	Bytes    []byte
}

// Order is a request to make.
type Order struct {
	Account, Run, Job string
	Configuration     jobs.Configuration
}

// Sender makes requests. Its error is a *SendError, ErrExhausted, or the error of ctx.
type Sender interface {
	Send(ctx context.Context, order Order) (jobs.Result, error)
}

// SendError says why a request got no response.
type SendError struct {
	Reason jobs.Reason
	Detail string
}

// Error returns the detail.
func (e *SendError) Error() string { return e.Detail }

// Node is a registered worker.
type Node struct {
	Boot, Name string
	Beat       int64
}

// Limits bound the requests in flight.
type Limits struct {
	Node, Account, Host int
	// Lane bounds the requests of one lane; 0 means that only the limit of its host applies.
	Lane int
}

// Observer receives a worker's metrics.
type Observer interface {
	RunFinished(status jobs.Status, reason jobs.Reason)
	InFlight(requests int)
	QueueDepth(runs int)
	// Unhealthy gets the jobs that are failing or late now.
	Unhealthy(found []jobs.Unhealthy)
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
	// Alone means that no other node uses the database, as on SQLite. No other worker would take over its runs, so this
	// worker keeps them however long its heartbeats fail.
	Alone bool
	// Paused reports whether this worker must claim no runs and give up no workers, because its clock is wrong. nil means never.
	Paused background.Pause
	// Followers are other workers of this process. They have this worker's boot, and claim only while its heartbeats
	// succeed. This worker starts and stops them.
	Followers []*Worker
	// Unmetered means that requests do not count toward a plan.
	Unmetered bool
	// Once means that every configuration is sent only once, so the worker does not cache it.
	Once bool
	// Intervals are the documented intervals if zero.
	Intervals Intervals

	inFlight       inFlight
	configurations configurationCache
	rotation       rotation
	visited        visited
	outcomes       chan Outcome
	busy           chan struct{} // has an element for each account that outcomes wait for
	wake           background.Bell
	seen           map[string]sighting // the other nodes by boot; nil before the first check
	lookout        lookout
	alive          atomic.Bool  // the last heartbeat is not too old
	abortTimer     *time.Timer  // ends alive
	atLimit        atomic.Bool  // pending runs wait for requests to end
	uncertain      bool         // a claim may have been committed without an answer
	exhausted      atomic.Int64 // when claiming may go on after a shortage, in Unix nanoseconds
	stopped        sync.Once
	follows        bool // another worker sends the heartbeats

	claiming, heartbeats      background.Loop
	writing, executing        sync.WaitGroup
	reading                   sync.Mutex // one reader of configurations at a time
	readContext, writeContext context.Context
	cancelReads, cancelWrites context.CancelFunc
}

// Start begins to claim and execute runs.
func (w *Worker) Start(ctx context.Context) {
	ctx = context.WithoutCancel(ctx)
	if w.Intervals == (Intervals{}) {
		w.Intervals = defaultIntervals()
	}
	w.inFlight.limits, w.inFlight.observe = w.Limits, w.Observe.InFlight
	w.configurations.known = map[string]jobs.Configuration{}
	w.wake = background.NewBell()
	w.outcomes, w.busy = make(chan Outcome, 4*w.Limits.Node), make(chan struct{}, maxBusy)
	w.readContext, w.cancelReads = context.WithCancel(ctx)
	w.writeContext, w.cancelWrites = context.WithCancel(ctx)
	if w.follows {
		w.heartbeats.Start(ctx, w.checkOwned)
	} else {
		w.startFollowers(ctx)
	}
	w.claiming.Start(ctx, w.claimRuns)
	w.writing.Go(func() { w.writeOutcomes(w.writeContext) })
}

// startFollowers starts the followers, and the heartbeats for this worker and them.
func (w *Worker) startFollowers(ctx context.Context) {
	for _, follower := range w.Followers {
		follower.follows, follower.Boot, follower.Intervals = true, w.Boot, w.Intervals
		follower.Start(ctx)
	}
	w.abortTimer = time.AfterFunc(w.Intervals.AbortAfter, w.abortOwn)
	w.heartbeats.Start(ctx, w.sendHeartbeats, w.watchNodes, w.checkOwned)
}

// Wake makes the worker claim now. It never blocks.
func (w *Worker) Wake() { w.wake.Ring() }

// Abort ends the request of a canceled run, if this worker makes it.
func (w *Worker) Abort(run string) { w.inFlight.abort(run, errCanceled) }

// endTimeout bounds the last writes: a database that does not answer must not keep the process running.
const endTimeout = 5 * time.Second

// Stop ends the worker as the package documentation says. It may be repeated.
func (w *Worker) Stop(ctx context.Context) {
	if w.cancelWrites != nil { // it was started
		w.stopped.Do(func() { w.stop(ctx) })
	}
}

func (w *Worker) stop(ctx context.Context) {
	var leaving sync.WaitGroup
	for _, follower := range w.Followers {
		leaving.Go(func() { follower.Stop(ctx) })
	}
	w.claiming.Stop()
	finished := make(chan struct{})
	go func() {
		w.executing.Wait()
		close(finished)
	}()
	select {
	case <-finished:
	case <-ctx.Done():
		w.inFlight.abortAll(errStopped)
	}
	w.cancelReads()
	late := time.AfterFunc(endTimeout, w.cancelWrites)
	defer late.Stop()
	<-finished
	close(w.outcomes)
	w.writing.Wait()
	w.cancelWrites()
	leaving.Wait()
	w.heartbeats.Stop()
	if w.follows {
		return
	}
	w.abortTimer.Stop()
	ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), endTimeout)
	defer cancel()
	w.deregister(ending)
}

// execute makes the request of a run and reports its outcome.
func (w *Worker) execute(ctx context.Context, claim Claim, configuration jobs.Configuration) {
	var result jobs.Result
	err := ctx.Err() // the run may have been aborted already
	if err == nil {
		result, err = w.Sender.Send(ctx, Order{Account: claim.Account, Run: claim.Run, Job: claim.Job, Configuration: configuration})
	}
	aborted := context.Cause(ctx)
	outcome := conclude(configuration, result, err, aborted)
	if aborted != nil || !errors.Is(err, ErrExhausted) {
		w.finish(claim, outcome)
	} else if !w.putBack(claim, err) {
		w.report(claim, outcome)
	}
}

// finish frees the capacity of a run and hands its outcome to the writer.
func (w *Worker) finish(claim Claim, outcome Outcome) {
	w.inFlight.end(claim)
	if w.atLimit.Load() {
		w.Wake()
	}
	w.report(claim, outcome)
}

// report hands the outcome of a run to the writer.
func (w *Worker) report(claim Claim, outcome Outcome) {
	outcome.Run, outcome.Account, outcome.FinishedAt = claim.Run, claim.Account, w.Now().UTC().Truncate(time.Microsecond)
	w.Store.Pack(&outcome)
	w.outcomes <- outcome
}

// conclude returns the outcome of a request.
func conclude(configuration jobs.Configuration, result jobs.Result, err, aborted error) Outcome {
	failed, refused := errors.AsType[*SendError](err)
	switch {
	case err == nil && configuration.Succeeds(result.Status):
		return Outcome{Status: jobs.Succeeded, Result: &result}
	case err == nil:
		return failure(jobs.NonSuccessStatus, fmt.Sprintf("The response's status %d is not the wanted %s.", result.Status, configuration.Plain().SuccessStatus), &result)
	case aborted != nil:
		return failure(jobs.WorkerLost, "The run was given up: "+aborted.Error()+".", nil)
	case refused:
		return failure(failed.Reason, failed.Detail, nil)
	}
	return failure(jobs.ConnectionError, err.Error(), nil)
}

func failure(reason jobs.Reason, detail string, result *jobs.Result) Outcome {
	detail = strings.ReplaceAll(strings.ToValidUTF8(detail, "\uFFFD"), "\x00", "\uFFFD") // it may quote bytes of a server
	return Outcome{Status: jobs.Failed, Reason: &reason, Error: &detail, Result: result}
}
