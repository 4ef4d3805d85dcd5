package logging

import (
	"cmp"
	"context"

	"github.com/signalbox/signalbox/internal/accounts"
	"github.com/signalbox/signalbox/internal/changes"
	"github.com/signalbox/signalbox/internal/fault"
	"github.com/signalbox/signalbox/internal/naming"
	"github.com/signalbox/signalbox/internal/overrides"
	"github.com/signalbox/signalbox/internal/plans"
	"github.com/signalbox/signalbox/internal/transaction"
)

// Replace changes or creates a logger. A level, an override or a group promotes a discovered
// logger; managed: false releases it instead. Overrides for unmanaged environments are frozen:
// they stay and cannot be changed. Replace requires MEMBER or higher. A key that is restricted
// to environments may change only their overrides.
func (s *Service) Replace(ctx context.Context, caller accounts.Caller, key string, draft Draft, match changes.Match[View]) (View, error) {
	wanted := draft.validate(key)
	if draft.Problems.Err() != nil {
		return View{}, s.refused(ctx, caller.Account, key, wanted, &draft.Problems)
	}
	made, err := accounts.Write(ctx, s.Store, caller, func(ctx context.Context, tx Tx, caller accounts.Caller) (Logger, error) {
		return s.replace(ctx, tx, caller, key, wanted, &draft.Problems, match)
	})
	if err != nil {
		return View{}, err
	}
	// Effective and observed levels are read after the lock is released.
	return transaction.Read(ctx, snapshots{s.Store}, func(ctx context.Context, tx ReadTx) (View, error) { return view(ctx, tx, made) })
}

func (s *Service) replace(
	ctx context.Context, tx Tx, caller accounts.Caller, key string, wanted request, warn *fault.Problems, match changes.Match[View],
) (Logger, error) {
	before, exists, err := stored(ctx, tx, caller.Account, key, match)
	if err == nil && !exists {
		err = naming.WarnSimilar(ctx, tx, warn, caller.Account, Kind, key)
	}
	if err != nil {
		return Logger{}, err
	}
	after, err := s.replaced(ctx, tx, caller, before, exists, wanted)
	if err != nil {
		return Logger{}, err
	}
	if exists {
		if same, err := changes.IsRepetition(caller.Actor(), Kind, key, &before, &after); same || err != nil {
			return before, err
		}
	}
	return after, s.save(ctx, tx, caller, before, after, exists)
}

// refused returns all problems of a draft at once. It adds the problems that only the database
// can show, in a read without a lock.
func (s *Service) refused(ctx context.Context, account, key string, wanted request, problems *fault.Problems) error {
	err := s.Store.Read(ctx, func(ctx context.Context, tx ReadTx) error {
		before, err := tx.Logger(ctx, account, key)
		if err != nil && !fault.Is(err, fault.NotFound) {
			return err
		}
		before.Account = account
		_, err = s.settle(ctx, tx, before, wanted, problems)
		return err
	})
	return cmp.Or(err, problems.Err())
}

// stored returns the logger with a key, or an empty logger if it does not exist.
func stored(ctx context.Context, tx Tx, account, key string, match changes.Match[View]) (Logger, bool, error) {
	logger, err := tx.Logger(ctx, account, key)
	if err == nil {
		return logger, true, match.Check(viewLogger(logger))
	}
	if !fault.Is(err, fault.NotFound) {
		return Logger{}, false, err
	}
	if match != nil {
		return Logger{}, false, fault.New(fault.VersionMismatch, "The logger does not exist, and If-Match says that it does.")
	}
	kinds, err := tx.LoggerKinds(ctx, account, []string{key})
	if err == nil && kinds[key] == KindGroup {
		err = taken(key, "a log group")
	}
	return Logger{Account: account, Key: key, Name: key, CreatedAt: tx.Now()}.released(), false, err
}

// taken returns the error for a key that a resource of the other kind has.
func taken(key, by string) *fault.Error {
	return fault.New(fault.AlreadyExists, "There is %s %q already, and loggers and log groups share their ids.", by, key)
}

// replaced applies a request to a stored logger, and checks the rights of the caller.
func (s *Service) replaced(ctx context.Context, tx Tx, caller accounts.Caller, before Logger, exists bool, wanted request) (Logger, error) {
	var problems fault.Problems
	after, err := s.settle(ctx, tx, before, wanted, &problems)
	if err := cmp.Or(err, problems.Err()); err != nil {
		return Logger{}, err
	}
	if err := checkTotalSize(ctx, tx, caller.Account, before.Levels, after.Levels); err != nil {
		return Logger{}, err
	}
	return after, checkScope(caller, before, after, exists)
}

// settle applies a request to a stored logger, and adds the problems that only the database can
// show.
func (s *Service) settle(ctx context.Context, tx ReadTx, before Logger, wanted request, problems *fault.Problems) (Logger, error) {
	after := before
	after.Name, after.UpdatedAt = wanted.name, tx.Now()
	if wanted.release {
		after = after.released()
		if wanted.levels.restores { // restore the level that was reported before the promotion
			after.Level = wanted.levels.base.level
		}
		return after, nil
	}
	levels, err := s.mergeLevels(ctx, tx, before.Account, before.Levels, wanted.levels, problems)
	if err != nil {
		return Logger{}, err
	}
	after.Levels, after.Group = levels, wanted.group
	return after.settled(), checkGroup(ctx, tx, before, after, wanted.groupAt, problems)
}

// mergeLevels applies the wanted levels to the stored levels. Frozen overrides stay.
func (s *Service) mergeLevels(ctx context.Context, tx ReadTx, account string, before Levels, wanted wantedLevels, problems *fault.Problems) (Levels, error) {
	levels := wanted.over(before, tx.Now(), problems)
	managed, err := tx.ManagedEnvironments(ctx, account)
	if err != nil {
		return Levels{}, err
	}
	levels.Environments, err = overrides.Merge(managed, before.Environments, levels.Environments, Override.same, s.Writable)
	return levels, problems.Take(err)
}

// checkGroup adds a problem if the new group does not exist. at is the member that named it.
func checkGroup(ctx context.Context, tx ReadTx, before, after Logger, at string, problems *fault.Problems) error {
	if after.Group == "" || after.Group == before.Group {
		return nil
	}
	_, err := tx.LogGroup(ctx, after.Account, after.Group)
	if fault.Is(err, fault.NotFound) {
		problems.Attribute(at, "must be a log group of this account; there is no %q", after.Group)
		return nil
	}
	return err
}

// checkScope refuses a change outside the environments to which the caller's key is restricted.
// Such a key may not promote a logger, because that takes a slot and clears the levels of
// descendants. It may remove everything that is set, which releases the logger.
func checkScope(caller accounts.Caller, before, after Logger, exists bool) error {
	if caller.Environments == nil {
		return nil
	}
	promotes := !before.Managed && after.Managed
	if !exists || promotes || before.Name != after.Name || before.Group != after.Group || !before.sameBase(after.Levels) {
		return caller.RequireUnscoped()
	}
	return checkEnvironments(caller, before.Levels, after.Levels)
}

func checkEnvironments(caller accounts.Caller, before, after Levels) error {
	return caller.RequireEnvironments(overrides.Changed(before.Environments, after.Environments, Override.same)...)
}

// save stores a logger if the limits allow it, and records the changes.
func (s *Service) save(ctx context.Context, tx Tx, caller accounts.Caller, before, after Logger, exists bool) error {
	promotes := !before.Managed && after.Managed
	if err := s.admit(ctx, tx, caller.Account, !exists, promotes); err != nil {
		return err
	}
	if err := tx.SaveLoggers(ctx, []Logger{after}); err != nil {
		return err
	}
	var was *Logger
	if exists {
		was = &before
	}
	if err := changes.Record(ctx, tx, caller.Account, caller.Actor(), Kind, after.Key, was, &after); err != nil {
		return err
	}
	if !promotes {
		return nil
	}
	return cascade(ctx, tx, caller, after.Key)
}

// admit refuses a logger beyond the limit of the account, and a managed logger beyond the limit
// of the plan.
func (s *Service) admit(ctx context.Context, tx Tx, account string, creates, promotes bool) error {
	if creates {
		count, err := tx.CountLoggers(ctx, account)
		if err != nil {
			return err
		}
		if count >= MaxLoggers {
			return fault.RowLimit("logging.logger_rows", MaxLoggers, "An account may have %d loggers. Delete some that are not used.", MaxLoggers)
		}
	}
	if !promotes {
		return nil
	}
	return accounts.TakeSlot(ctx, s.Plans, account, plans.LoggingManagedLoggers, tx.Account, tx.CountManagedLoggers)
}

// cascade makes the unmanaged descendants of a logger follow it. For each key this happens only
// once.
func cascade(ctx context.Context, tx Tx, caller accounts.Caller, key string) error {
	before, err := tx.LoggerCascaded(ctx, caller.Account, key)
	if err != nil || before {
		return err
	}
	if err := tx.MarkLoggerCascaded(ctx, caller.Account, key); err != nil {
		return err
	}
	touched, err := tx.ClearDescendants(ctx, caller.Account, key, tx.Now())
	if err != nil {
		return err
	}
	return changes.RecordSeveral(ctx, tx, caller.Account, caller.Actor(), changes.Cascaded, Kind,
		changes.Several{Keys: touched, Cause: Kind + ":" + key})
}

// Delete removes a logger with its sources; the next report discovers it again.
// It requires MEMBER or higher, and refuses keys that are restricted to environments.
func (s *Service) Delete(ctx context.Context, caller accounts.Caller, key string, match changes.Match[View]) error {
	defer s.sources.Deleted(caller.Account)
	return accounts.Do(ctx, s.Store, caller, func(ctx context.Context, tx Tx, caller accounts.Caller) error {
		return remove(ctx, tx, caller, key, match)
	})
}

func remove(ctx context.Context, tx Tx, caller accounts.Caller, key string, match changes.Match[View]) error {
	target := accounts.Target(ctx, caller, Kind, key, onStored(match, viewLogger), tx.Logger)
	return changes.Delete(ctx, tx, target, func(Logger) error { return tx.DeleteLogger(ctx, caller.Account, key, tx.Now()) })
}

// Restore reverts a change of a logger. The draft is the logger before the change.
func (s *Service) Restore(ctx context.Context, caller accounts.Caller, revert accounts.Revert, draft Draft) (changes.Change, error) {
	defer s.sources.Deleted(caller.Account)
	key := revert.Change.Key
	wanted := draft.validate(key)
	return accounts.Restore(ctx, s.Store, caller, revert, func(ctx context.Context, tx Tx, caller accounts.Caller) accounts.Restoration[Logger] {
		_, err := tx.Logger(ctx, caller.Account, key)
		write := func() (Logger, error) { return s.replace(ctx, tx, caller, key, wanted, &draft.Problems, nil) }
		return accounts.Restoration[Logger]{Found: err, Check: draft.Problems.Err, Create: write, Replace: write,
			Remove: func() error { return remove(ctx, tx, caller, key, nil) }}
	})
}
