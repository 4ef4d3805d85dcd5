package jobs

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/signalbox/signalbox/internal/accounts"
	"github.com/signalbox/signalbox/internal/changes"
	"github.com/signalbox/signalbox/internal/fault"
	"github.com/signalbox/signalbox/internal/naming"
	"github.com/signalbox/signalbox/internal/optional"
	"github.com/signalbox/signalbox/internal/page"
	"github.com/signalbox/signalbox/internal/plans"
	"github.com/signalbox/signalbox/internal/transaction"
)

// Store runs the transactions in which jobs are read and written. Write without an
// account takes no lock.
type Store = transaction.Store[ReadTx, Tx]

// Filter selects jobs. Zero members do not filter.
type Filter struct {
	Search     string
	Enabled    optional.Value[bool]
	LastStatus Status // of the newest run
	Health     HealthState
}

// RunFilter selects runs. Zero members do not filter.
type RunFilter struct {
	Job      string
	Status   Status
	Trigger  Trigger
	From, To time.Time // of created_at; From is included, To is not
}

// ReadTx has the reads of this package.
type ReadTx interface {
	naming.Keys
	accounts.AuthorityTx
	Account(ctx context.Context, id string) (accounts.Account, error)
	Job(ctx context.Context, account, key string) (Job, error)
	Jobs(ctx context.Context, account string, filter Filter, request page.Request) (page.List[Job], error)
	Run(ctx context.Context, account, id string) (Run, error)
	// Runs returns the runs before the cursor, newest first.
	Runs(ctx context.Context, account string, filter RunFilter, cursor page.Cursor) (page.Tail[Run], error)
	// JobConfiguration returns a current or former configuration of a job by its id.
	JobConfiguration(ctx context.Context, account, id string) (Configuration, error)
	// FinishedRuns counts the finished runs of a job that were queued from an instant on.
	FinishedRuns(ctx context.Context, job Job, from time.Time) ([]RunCount, error)
	// RunHours counts the newest runs of an account that were queued from an instant on, up to a limit.
	RunHours(ctx context.Context, account string, from time.Time, limit int) ([]HourCount, error)
	// SkippedInstants counts the instants from a day on that made no run, by day as YYYY-MM-DD.
	SkippedInstants(ctx context.Context, job Job, from time.Time) (map[string]int, error)
	// PendingRuns counts the pending runs of accounts, each up to a limit.
	PendingRuns(ctx context.Context, accounts []string, limit int) (map[string]int, error)
	// PendingAccounts returns the ids of accounts with pending runs, sorted and starting after the given id.
	PendingAccounts(ctx context.Context, after string, limit int) ([]string, error)
	ActiveJobs(ctx context.Context, account string) (int, error)
	Stored(ctx context.Context, account string) (Stored, error)
	RunsUsed(ctx context.Context, account, period string) (int, error)
}

// Tx has the reads and writes of this package in one transaction.
type Tx interface {
	ReadTx
	accounts.HistoryTx
	changes.Recorder
	AfterCommit(fn func())
	// JobToChange returns a job and keeps others from changing or firing it.
	JobToChange(ctx context.Context, account, key string) (Job, error)
	// JobToRun returns the origin of a job's runs and keeps others from deleting the job.
	JobToRun(ctx context.Context, account, key string) (Origin, error)
	// JobOfRun is like JobToRun for the job of a run. The job may be deleted.
	JobOfRun(ctx context.Context, account, run string) (Origin, error)
	// LockJob keeps other callers from queueing runs of a job whose runs must not overlap.
	LockJob(ctx context.Context, uid string) error
	// UnfinishedRuns describes the unfinished runs of jobs, by UID.
	UnfinishedRuns(ctx context.Context, jobs []Origin) (map[string]Unfinished, error)
	InsertJob(ctx context.Context, job Job) error
	UpdateJob(ctx context.Context, job Job) error
	// CancelAttempts cancels the pending further attempts of a job and returns their number.
	CancelAttempts(ctx context.Context, job Job, at time.Time) (canceled int, err error)
	// InsertJobRequest stores the configuration of a job.
	InsertJobRequest(ctx context.Context, job Job) error
	// DeleteJob marks a job deleted, cancels its pending runs and returns their number.
	DeleteJob(ctx context.Context, job Job, at time.Time) (canceled int, err error)
	// AddActiveJobs adds to the number of enabled jobs.
	AddActiveJobs(ctx context.Context, account string, more int) error
	InsertRuns(ctx context.Context, runs []Run) error
	// CancelRun cancels a run, with a detail for its error, or returns false if it has ended.
	CancelRun(ctx context.Context, account, id, detail string, at time.Time) (bool, error)
	// ExpireRuns cancels the oldest pending runs of an account that were queued before
	// an instant, and returns their number.
	ExpireRuns(ctx context.Context, account string, before time.Time, detail string, limit int) (int, error)
}

// Service reads and writes jobs and runs, and checks every write.
type Service struct {
	Store    Store
	Plans    plans.Table
	Backlog  *Backlog
	Due      func()           // called when a job may be due sooner than the scheduler expects
	Queued   func()           // called when a run was queued
	Aborted  func(run string) // called when a run was canceled
	Canceled func(runs int)   // called with the number of canceled runs
}

// Jobs lists the jobs of the caller's account, as the caller may see them.
func (s *Service) Jobs(ctx context.Context, caller accounts.Caller, filter Filter, request page.Request) (page.List[Job], error) {
	found, err := accounts.List(ctx, s.Store, caller, ReadTx.Jobs, filter, request)
	for i, job := range found.Items {
		found.Items[i] = job.shownTo(caller)
	}
	return found, err
}

// Job returns one job, as the caller may see it.
func (s *Service) Job(ctx context.Context, caller accounts.Caller, key string) (Job, error) {
	job, err := accounts.Get(ctx, s.Store, caller, ReadTx.Job, key)
	return job.shownTo(caller), err
}

// Create creates a job. It requires MEMBER or higher, and refuses keys that are
// restricted to environments.
func (s *Service) Create(ctx context.Context, caller accounts.Caller, draft Draft) (Job, error) {
	naming.CheckID(&draft.Problems, draft.Key, naming.MaxKey, "job")
	wanted, times := draft.validate(draft.Key.Or(""))
	wanted.Account = caller.Account
	if draft.Problems.Err() != nil {
		return s.refused(ctx, &draft, wanted, times)
	}
	return accounts.Write(ctx, s.Store, caller, func(ctx context.Context, tx Tx, caller accounts.Caller) (Job, error) {
		return s.create(ctx, tx, caller, wanted, times, &draft)
	})
}

func (s *Service) create(ctx context.Context, tx Tx, caller accounts.Caller, job Job, times timetable, draft *Draft) (Job, error) {
	job.UID, job.RequestID, job.Version = newID(), newID(), 1
	job.CreatedAt, job.UpdatedAt = tx.Now(), tx.Now()
	job.Health = Health{}.Resume(tx.Now())
	if err := s.checkNew(ctx, tx, draft, &job, times); err != nil {
		return Job{}, err
	}
	if err := tx.InsertJob(ctx, job); err != nil {
		return Job{}, err
	}
	if err := storeRequest(ctx, tx, job); err != nil {
		return Job{}, err
	}
	s.wakeFor(tx, job)
	return job, changes.Record(ctx, tx, caller.Account, caller.Actor(), Kind, job.Key, nil, &job)
}

// checkNew checks a new job, which needs a free key, and sets when it fires.
func (s *Service) checkNew(ctx context.Context, tx Tx, draft *Draft, job *Job, times timetable) error {
	_, err := tx.Job(ctx, job.Account, job.Key)
	if err == nil {
		return fault.New(fault.AlreadyExists, "There is a job %q already.", job.Key).At(fault.Pointer("/data/id"))
	}
	if !fault.Is(err, fault.NotFound) {
		return err
	}
	draft.disablePassed(Job{}, job, times, tx.Now())
	if err := naming.WarnSimilar(ctx, tx, &draft.Problems, job.Account, Kind, job.Key); err != nil {
		return err
	}
	if err := s.check(ctx, tx, draft, *job, times); err != nil {
		return err
	}
	reschedule(Job{}, job, times, tx.Now())
	job.settleHealth(true)
	return s.countEnabled(ctx, tx, Job{}, *job)
}

// check adds the problems of a draft that depend on the account's plan and the time:
// a timeout that is too long, and an instant in the past.
func (s *Service) check(ctx context.Context, tx ReadTx, draft *Draft, job Job, times timetable) error {
	account, err := tx.Account(ctx, job.Account)
	if err != nil {
		return err
	}
	allowed := s.Plans.Entitlement(account.Plans, plans.JobsMaxTimeoutSeconds)
	if allowed.Maximum != plans.Unlimited && job.Configuration.plain.Timeout > allowed.Maximum {
		draft.Problems.Attribute("configuration/timeout", "must be at most %d seconds on the %s plan", allowed.Maximum, allowed.Plan)
	}
	draft.checkTime(times, job.Enabled, tx.Now())
	draft.warnRare(times, tx.Now())
	return draft.Problems.Err()
}

// refused returns all problems of a draft at once, including the problems that check finds.
func (s *Service) refused(ctx context.Context, draft *Draft, job Job, times timetable) (Job, error) {
	return Job{}, s.Store.Read(ctx, func(ctx context.Context, tx ReadTx) error { return s.check(ctx, tx, draft, job, times) })
}

// Replace changes a job. It requires MEMBER or higher, and refuses keys that are
// restricted to environments.
func (s *Service) Replace(ctx context.Context, caller accounts.Caller, key string, draft Draft, match changes.Match[Job]) (Job, error) {
	wanted, times := draft.validate(key)
	wanted.Account = caller.Account
	if draft.Problems.Err() != nil {
		return s.refused(ctx, &draft, wanted, times)
	}
	return accounts.Write(ctx, s.Store, caller, func(ctx context.Context, tx Tx, caller accounts.Caller) (Job, error) {
		return s.replace(ctx, tx, caller, wanted, times, &draft, match)
	})
}

func (s *Service) replace(
	ctx context.Context, tx Tx, caller accounts.Caller, wanted Job, times timetable, draft *Draft, match changes.Match[Job],
) (Job, error) {
	return changes.Replace(ctx, tx, accounts.Target(ctx, caller, Kind, wanted.Key, match, tx.JobToChange), func(before Job) (Job, error) {
		after := wanted
		after.UID, after.RequestID, after.CreatedAt = before.UID, before.RequestID, before.CreatedAt
		after.LastRun, after.SkippedAt, after.Health = before.LastRun, before.SkippedAt, before.Health
		after.UpdatedAt, after.Version = tx.Now(), before.Version+1
		if !after.Configuration.Equal(before.Configuration) {
			after.RequestID = newID()
		}
		return after, s.settle(ctx, tx, draft, before, &after, times)
	}, func(before, after Job) error { return s.store(ctx, tx, before, after) })
}

// settle checks a changed job and sets when it fires next.
func (s *Service) settle(ctx context.Context, tx Tx, draft *Draft, before Job, after *Job, times timetable) error {
	draft.disablePassed(before, after, times, tx.Now())
	decided := times
	if keepsTime(before, *after) {
		decided = timetable{} // an instant that has just passed is not refused
	}
	if err := s.check(ctx, tx, draft, *after, decided); err != nil {
		return err
	}
	reschedule(before, after, times, tx.Now())
	after.settleHealth(before.Enabled)
	return nil
}

// settleHealth pauses the health of a job that a write disables, and resumes it when a write enables the job.
func (j *Job) settleHealth(wasEnabled bool) {
	switch {
	case !j.Enabled:
		j.Health = j.Health.Pause(j.UpdatedAt)
	case !wasEnabled:
		j.Health = j.Health.Resume(j.UpdatedAt)
	}
}

// store writes a changed job, its new configuration and the number of enabled jobs.
func (s *Service) store(ctx context.Context, tx Tx, before, after Job) error {
	if err := s.countEnabled(ctx, tx, before, after); err != nil {
		return err
	}
	if after.RequestID != before.RequestID {
		if err := storeRequest(ctx, tx, after); err != nil {
			return err
		}
	}
	s.wakeFor(tx, after)
	canceled, err := tx.CancelAttempts(ctx, after, tx.Now())
	if err != nil {
		return err
	}
	tx.AfterCommit(func() { s.Canceled(canceled) })
	return tx.UpdateJob(ctx, after)
}

// keepsTime reports whether a change does not affect the time of the next run.
func keepsTime(before, after Job) bool {
	return before.Enabled && after.Enabled && before.Schedule == after.Schedule && equal(before.Timezone, after.Timezone)
}

// equal reports whether two optional values are the same.
func equal[T comparable](a, b *T) bool {
	if a == nil || b == nil {
		return a == b
	}
	return *a == *b
}

// reschedule sets when a new or changed job fires next.
func reschedule(before Job, after *Job, times timetable, now time.Time) {
	switch {
	case keepsTime(before, *after):
		after.NextRunAt = before.NextRunAt
	case after.Enabled:
		after.NextRunAt = new(times.first(now))
	}
}

// countEnabled updates the number of enabled jobs, within the limit of the plan.
func (s *Service) countEnabled(ctx context.Context, tx Tx, before, after Job) error {
	switch {
	case after.Enabled && !before.Enabled:
		if err := accounts.TakeSlot(ctx, s.Plans, after.Account, plans.JobsActiveJobs, tx.Account, tx.ActiveJobs); err != nil {
			return err
		}
		return tx.AddActiveJobs(ctx, after.Account, 1)
	case before.Enabled && !after.Enabled:
		return tx.AddActiveJobs(ctx, after.Account, -1)
	}
	return nil
}

// Delete removes a job and cancels its pending runs; started runs finish. It requires
// MEMBER or higher, and refuses keys that are restricted to environments.
func (s *Service) Delete(ctx context.Context, caller accounts.Caller, key string, match changes.Match[Job]) error {
	return accounts.Do(ctx, s.Store, caller, func(ctx context.Context, tx Tx, caller accounts.Caller) error {
		return s.remove(ctx, tx, caller, key, match)
	})
}

func (s *Service) remove(ctx context.Context, tx Tx, caller accounts.Caller, key string, match changes.Match[Job]) error {
	return changes.Delete(ctx, tx, accounts.Target(ctx, caller, Kind, key, match, tx.JobToChange), func(job Job) error {
		if job.Enabled {
			if err := tx.AddActiveJobs(ctx, job.Account, -1); err != nil {
				return err
			}
		}
		canceled, err := tx.DeleteJob(ctx, job, tx.Now())
		tx.AfterCommit(func() { s.Canceled(canceled) })
		return err
	})
}

// Restore reverts a change of a job. The draft is the job before the change, from the
// history. Its configuration is stored apart, and only for a time.
func (s *Service) Restore(ctx context.Context, caller accounts.Caller, revert accounts.Revert, draft Draft) (changes.Change, error) {
	key := revert.Change.Key
	var wanted Job
	var times timetable
	return accounts.Restore(ctx, s.Store, caller, revert, func(ctx context.Context, tx Tx, caller accounts.Caller) accounts.Restoration[Job] {
		_, err := tx.Job(ctx, caller.Account, key)
		return accounts.Restoration[Job]{Found: err, Check: func() error {
			sent, err := tx.JobConfiguration(ctx, caller.Account, draft.ConfigurationID)
			if fault.Is(err, fault.NotFound) {
				err = fault.New(fault.NotRevertible, "The configuration from before this change is no longer kept. Replace the job instead.")
			}
			if err != nil {
				return err
			}
			draft.Configuration = optional.Of(sent.draft())
			wanted, times = draft.validate(key)
			wanted.Account = caller.Account
			return draft.Problems.Err()
		},
			Create:  func() (Job, error) { return s.create(ctx, tx, caller, wanted, times, &draft) },
			Replace: func() (Job, error) { return s.replace(ctx, tx, caller, wanted, times, &draft, nil) },
			Remove:  func() error { return s.remove(ctx, tx, caller, key, nil) }}
	})
}

// wakeFor wakes the scheduler for a job that may be due soon.
func (s *Service) wakeFor(tx Tx, job Job) {
	if job.NextRunAt != nil {
		tx.AfterCommit(s.Due)
	}
}

// newID returns an id that sorts by its creation time.
func newID() string { return uuid.Must(uuid.NewV7()).String() }
