package jobs

import (
	"context"
	"regexp"
	"time"

	"github.com/signalbox/signalbox/internal/accounts"
	"github.com/signalbox/signalbox/internal/fault"
	"github.com/signalbox/signalbox/internal/page"
	"github.com/signalbox/signalbox/internal/plans"
	"github.com/signalbox/signalbox/internal/transaction"
)

// Runs lists the runs of the caller's account, newest first.
func (s *Service) Runs(ctx context.Context, caller accounts.Caller, filter RunFilter, cursor page.Cursor) (page.Tail[Run], error) {
	return accounts.List(ctx, s.Store, caller, ReadTx.Runs, filter, cursor)
}

// Run returns one run.
func (s *Service) Run(ctx context.Context, caller accounts.Caller, id string) (Run, error) {
	return accounts.Get(ctx, s.Store, caller, ReadTx.Run, id)
}

// RunNow queues a run of a job, enabled or not. It requires MEMBER or higher.
func (s *Service) RunNow(ctx context.Context, caller accounts.Caller, key string) (Run, error) {
	return s.queue(ctx, caller, func(ctx context.Context, tx Tx) (Run, error) {
		job, err := tx.JobToRun(ctx, caller.Account, key)
		if err != nil {
			return Run{}, err
		}
		return job.queued(ctx, tx, Manual)
	})
}

// queued returns a run that a caller asks for, as the job's policy for overlapping runs wants it.
func (o Origin) queued(ctx context.Context, tx Tx, trigger Trigger) (Run, error) {
	run := o.newRun(trigger, tx.Now())
	if o.Overlap == OverlapAllow {
		return run, nil
	}
	if err := tx.LockJob(ctx, o.UID); err != nil { // otherwise two runs could be queued at the same time
		return Run{}, err
	}
	unfinished, err := tx.UnfinishedRuns(ctx, []Origin{o})
	if err != nil {
		return Run{}, err
	}
	now := unfinished[o.UID]
	switch {
	case !now.IsBusy():
		return run, nil
	case o.Overlap == OverlapWait && now.Held == "":
		run.Lane = HeldLane
		return run, nil
	case o.Overlap == OverlapWait:
		return Run{}, fault.New(fault.AlreadyRunning, "Another run of the job %q is waiting already. Wait until it has started, or cancel it.", o.Key)
	}
	return Run{}, fault.New(fault.AlreadyRunning, "A run of the job %q is pending or running, and the job's overlap is skip. Wait until it has ended, or cancel it.", o.Key)
}

// Unfinished describes the runs of a job that have not ended.
type Unfinished struct {
	Others int    // pending or running, except the held one
	Held   string // the run that waits for the others; "" for none
}

// IsBusy reports whether a run of the job has not ended.
func (u Unfinished) IsBusy() bool { return u.Others > 0 || u.Held != "" }

// Rerun queues another run of the job of a run, with the current configuration of the
// job. It requires MEMBER or higher.
func (s *Service) Rerun(ctx context.Context, caller accounts.Caller, id string) (Run, error) {
	return s.queue(ctx, caller, func(ctx context.Context, tx Tx) (Run, error) {
		job, err := tx.JobOfRun(ctx, caller.Account, id)
		if err != nil {
			return Run{}, err
		}
		if job.Deleted {
			return Run{}, fault.New(fault.JobDeleted, "The job %q of this run was deleted, so it cannot run again.", job.Key)
		}
		run, err := job.queued(ctx, tx, Rerun)
		run.RerunOf = &id
		return run, err
	})
}

// queue stores a run and wakes the workers. It does not lock the account, so that
// runs of many jobs can be queued at the same time.
func (s *Service) queue(ctx context.Context, caller accounts.Caller, newRun func(context.Context, Tx) (Run, error)) (Run, error) {
	admission, err := s.Backlog.Admit(ctx, caller.Account, 1)
	if err != nil {
		return Run{}, err
	}
	queued, err := transaction.Write(ctx, s.Store, "", func(ctx context.Context, tx Tx) (Run, error) {
		if _, err := caller.Begin(ctx, tx); err != nil {
			return Run{}, err
		}
		run, err := newRun(ctx, tx)
		if err == nil && admission.Runs[caller.Account] == 0 {
			err = fault.RowLimit("jobs.pending_runs", s.Backlog.Limit, "An account may have %d runs pending. Cancel some, or wait until some have run.", s.Backlog.Limit)
		}
		if err != nil {
			return Run{}, err
		}
		tx.AfterCommit(s.Queued)
		return run, tx.InsertRuns(ctx, []Run{run})
	})
	admission.Settle(err == nil)
	return queued, err
}

// newRun returns a pending run of a job.
func (o Origin) newRun(trigger Trigger, now time.Time) Run {
	return Run{ID: newID(), Account: o.Account, JobUID: o.UID, JobKey: o.Key, Lane: o.Lane,
		Trigger: trigger, Attempt: 1, Status: Pending, CreatedAt: now}
}

// Run returns the run of a firing.
func (f Firing) Run(now time.Time) Run {
	run := f.newRun(OnSchedule, now)
	run.ScheduledFor = &f.ScheduledFor
	return run
}

// Cancel cancels a run that has not ended: a pending run never starts, and the request
// of a running one is aborted. It requires MEMBER or higher.
func (s *Service) Cancel(ctx context.Context, caller accounts.Caller, id string) (Run, error) {
	return transaction.Write(ctx, s.Store, "", func(ctx context.Context, tx Tx) (Run, error) {
		if _, err := caller.Begin(ctx, tx); err != nil {
			return Run{}, err
		}
		ended, err := tx.CancelRun(ctx, caller.Account, id, canceledBy(caller), tx.Now())
		if err != nil {
			return Run{}, err
		}
		run, err := tx.Run(ctx, caller.Account, id)
		if err == nil && !ended {
			err = fault.New(fault.RunFinished, "The run has ended already: it is %s.", run.Status)
		}
		tx.AfterCommit(func() {
			s.Aborted(id)
			s.Canceled(1)
		})
		return run, err
	})
}

// canceledBy says in a run's error who canceled it.
func canceledBy(caller accounts.Caller) string {
	if caller.IsPerson() {
		return "Canceled by " + caller.UserName + "."
	}
	return "Canceled with the key " + caller.KeyName + "."
}

var periodPattern = regexp.MustCompile(`^[0-9]{4}-(0[1-9]|1[0-2])$`)

// Usage returns the account's usage in a month: "current" or YYYY-MM.
func (s *Service) Usage(ctx context.Context, caller accounts.Caller, period string) (Usage, error) {
	if period != "current" && !periodPattern.MatchString(period) {
		return Usage{}, fault.New(fault.InvalidParameter, "filter[period] must be current or a month as YYYY-MM.").
			At(fault.Parameter("filter[period]"))
	}
	return transaction.Read(ctx, s.Store, func(ctx context.Context, tx ReadTx) (Usage, error) {
		if period == "current" {
			period = Period(tx.Now())
		}
		account, err := tx.Account(ctx, caller.Account)
		if err != nil {
			return Usage{}, err
		}
		used, err := tx.RunsUsed(ctx, caller.Account, period)
		if err != nil {
			return Usage{}, err
		}
		active, err := tx.ActiveJobs(ctx, caller.Account)
		return Usage{Period: period, RunsUsed: used, ActiveJobs: active,
			RunsIncluded:    s.Plans.Entitlement(account.Plans, plans.JobsIncludedRuns).Maximum,
			ActiveJobsLimit: s.Plans.Entitlement(account.Plans, plans.JobsActiveJobs).Maximum}, err
	})
}
