package store

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"
)

// maxGroup bounds how many writers share a commit; Limits.Group bounds how long they run.
const maxGroup = 256

// observationTurn is the interval, in groups, at which an observation goes first although other jobs wait.
const observationTurn = 8

// writeJob is a transaction that waits for SQLite's writer.
type writeJob struct {
	ctx      context.Context //nolint:containedctx // the writer runs the job with its caller's context
	priority priority
	account  string
	fn       work
	err      error
	done     chan struct{}
}

func (j *writeJob) finish(err error) {
	j.err = err
	close(j.done)
}

// writeQueue holds the transactions that wait for SQLite's writer. Loops go first, then decisions, then observations;
// within each priority, accounts take turns.
type writeQueue struct {
	mu      sync.Mutex
	filled  sync.Cond
	waiting [priorityCount]turns
	groups  int
	closed  bool
}

func newWriteQueue() *writeQueue {
	q := &writeQueue{}
	q.filled.L = &q.mu
	for i := range q.waiting {
		q.waiting[i].jobs = map[string][]*writeJob{}
	}
	return q
}

// push adds a job and reports whether the queue is open.
func (q *writeQueue) push(job *writeJob) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if !q.closed {
		q.waiting[job.priority].push(job)
		q.filled.Signal()
	}
	return !q.closed
}

// remove takes out a job whose caller left and reports whether it was still waiting.
func (q *writeQueue) remove(job *writeJob) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.waiting[job.priority].remove(job)
}

// wait returns when a job waits, or false when the queue is closed.
func (q *writeQueue) wait() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	for !q.closed && q.len() == 0 {
		q.filled.Wait()
	}
	return !q.closed
}

func (q *writeQueue) len() (count int) {
	for _, each := range q.waiting {
		count += each.count
	}
	return count
}

// first takes the job that begins a group. At every observationTurn-th group it prefers an observation.
func (q *writeQueue) first() *writeJob {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.groups++; q.groups%observationTurn == 0 && q.waiting[forObservations].count > 0 {
		return q.waiting[forObservations].pop()
	}
	return q.pop()
}

// another takes a job that joins a group. Observations have groups of their own. Such a group ends when any other job
// waits, so that heartbeats and decisions do not wait for reports.
func (q *writeQueue) another(group priority) *writeJob {
	q.mu.Lock()
	defer q.mu.Unlock()
	urgent := q.len() > q.waiting[forObservations].count
	if urgent == (group == forObservations) {
		return nil
	}
	return q.pop()
}

func (q *writeQueue) pop() *writeJob {
	for i := range q.waiting {
		if q.waiting[i].count > 0 {
			return q.waiting[i].pop()
		}
	}
	return nil
}

// refuse fails all jobs that wait.
func (q *writeQueue) refuse(cause error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for job := q.pop(); job != nil; job = q.pop() {
		job.finish(cause)
	}
}

func (q *writeQueue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	q.filled.Signal()
}

// turns is a queue in which accounts take turns.
type turns struct {
	accounts []string // that have jobs, in the order of their turns
	jobs     map[string][]*writeJob
	count    int
}

func (t *turns) push(job *writeJob) {
	if len(t.jobs[job.account]) == 0 {
		t.accounts = append(t.accounts, job.account)
	}
	t.jobs[job.account] = append(t.jobs[job.account], job)
	t.count++
}

func (t *turns) pop() *writeJob {
	account := t.accounts[0]
	job := t.jobs[account][0]
	t.jobs[account][0] = nil // frees the job, which may be large
	t.accounts = t.accounts[1:]
	t.count--
	if t.jobs[account] = t.jobs[account][1:]; len(t.jobs[account]) > 0 {
		t.accounts = append(t.accounts, account)
	} else {
		delete(t.jobs, account)
	}
	return job
}

func (t *turns) remove(job *writeJob) bool {
	jobs := t.jobs[job.account]
	place := slices.Index(jobs, job)
	if place < 0 {
		return false
	}
	t.count--
	if t.jobs[job.account] = slices.Delete(jobs, place, place+1); len(jobs) == 1 {
		delete(t.jobs, job.account)
		t.accounts = slices.DeleteFunc(t.accounts, func(account string) bool { return account == job.account })
	}
	return true
}

// write queues fn and waits for its commit. When ctx ends, it returns at once if fn still waits, and otherwise after fn.
func (e *sqliteEngine) write(ctx context.Context, options writeOptions, fn work) error {
	if err := expired(ctx); err != nil {
		return err
	}
	job := &writeJob{ctx: ctx, priority: options.priority, account: options.account, fn: fn, done: make(chan struct{})}
	if !e.queue.push(job) {
		return errClosed
	}
	select {
	case <-job.done:
	case <-ctx.Done():
		if e.queue.remove(job) {
			return ctx.Err()
		}
		<-job.done
	}
	return job.err
}

// runWriter commits groups until the queue is closed.
func (e *sqliteEngine) runWriter() {
	defer close(e.ended)
	for e.queue.wait() {
		e.commitGroup()
	}
	e.queue.refuse(errClosed)
}

// commitGroup runs waiting jobs in one transaction. Jobs stay in the queue until the transaction has begun, so that
// their callers can still leave while another process locks the file.
func (e *sqliteEngine) commitGroup() {
	ctx := context.Background()
	if err := e.writer.run(ctx, "BEGIN IMMEDIATE"); err != nil {
		e.queue.refuse(err) // these jobs have waited too; a retry would make them wait again
		return
	}
	kept, ok := e.runGroup(ctx)
	if !ok {
		return
	}
	if len(kept) == 0 { // a commit would write and sync the pages that were rolled back
		e.abandon(ctx, nil, nil)
		return
	}
	if err := e.writer.run(ctx, "COMMIT"); err != nil {
		e.abandon(ctx, kept, err)
		return
	}
	e.commits.Add(1)
	e.grouped(len(kept))
	for _, job := range kept {
		job.finish(nil)
	}
}

// runGroup runs jobs and returns the jobs that await the commit; false when the transaction is gone.
func (e *sqliteEngine) runGroup(ctx context.Context) (kept []*writeJob, ok bool) {
	began := time.Now()
	next := e.queue.first()
	for count := 1; next != nil; count++ {
		job := next
		switch lost := e.runInSavepoint(job); {
		case lost != nil:
			if isFull(job.err) || isOutage(job.err) { // this broke the transaction for all
				lost = errors.Join(job.err, lost)
			}
			job.finish(errors.Join(job.err, lost))
			e.abandon(ctx, kept, lost)
			return nil, false
		case job.err != nil:
			job.finish(job.err)
		default:
			kept = append(kept, job)
		}
		if count == maxGroup || time.Since(began) >= e.limits.Group {
			break
		}
		next = e.queue.another(job.priority)
	}
	return kept, true
}

// runInSavepoint runs a job so that its failure undoes only its work. It returns only errors of the whole transaction.
func (e *sqliteEngine) runInSavepoint(job *writeJob) error {
	if job.err = expired(job.ctx); job.err != nil {
		return nil //nolint:nilerr // the job's error is not the transaction's
	}
	ctx := context.WithoutCancel(job.ctx)
	if err := e.writer.run(ctx, "SAVEPOINT job"); err != nil {
		return err
	}
	if job.err = job.fn(ctx, e.writer, 0); job.err != nil {
		if err := e.writer.run(ctx, "ROLLBACK TO job"); err != nil {
			return err
		}
	}
	return e.writer.run(ctx, "RELEASE job")
}

// abandon rolls the transaction back and fails the jobs that were part of it.
func (e *sqliteEngine) abandon(ctx context.Context, jobs []*writeJob, cause error) {
	_ = e.writer.run(ctx, "ROLLBACK") // fails when SQLite has rolled back by itself, as on a full disk
	for _, job := range jobs {
		job.finish(cause)
	}
}

// expired returns why a context has ended. It looks at the clock too: a context
// ends a moment after the deadline of its parent.
func expired(ctx context.Context) error {
	if deadline, set := ctx.Deadline(); set && !time.Now().Before(deadline) {
		return context.DeadlineExceeded
	}
	return ctx.Err()
}
