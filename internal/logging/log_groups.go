package logging

import (
	"cmp"
	"context"

	"github.com/signalbox/signalbox/internal/accounts"
	"github.com/signalbox/signalbox/internal/changes"
	"github.com/signalbox/signalbox/internal/fault"
	"github.com/signalbox/signalbox/internal/naming"
	"github.com/signalbox/signalbox/internal/plans"
)

// CreateGroup creates a log group. It requires MEMBER or higher, and refuses keys that
// are restricted to environments.
func (s *Service) CreateGroup(ctx context.Context, caller accounts.Caller, draft GroupDraft) (GroupView, error) {
	draft.checkKey()
	key := draft.Key.Or("")
	wanted := draft.validate(key)
	if draft.Problems.Err() != nil {
		return GroupView{}, s.refusedGroup(ctx, caller.Account, "", wanted, &draft.Problems)
	}
	return accounts.Write(ctx, s.Store, caller, func(ctx context.Context, tx Tx, caller accounts.Caller) (GroupView, error) {
		return s.createGroup(ctx, tx, caller, key, wanted, &draft.Problems)
	})
}

func (s *Service) createGroup(ctx context.Context, tx Tx, caller accounts.Caller, key string, wanted request, warn *fault.Problems) (GroupView, error) {
	if err := s.admitGroup(ctx, tx, caller.Account, key); err != nil {
		return GroupView{}, err
	}
	if err := naming.WarnSimilar(ctx, tx, warn, caller.Account, KindGroup, key); err != nil {
		return GroupView{}, err
	}
	group, err := s.replacedGroup(ctx, tx, caller, Group{Account: caller.Account, Key: key, CreatedAt: tx.Now()}, wanted)
	if err != nil {
		return GroupView{}, err
	}
	if err := tx.SaveLogGroups(ctx, []Group{group}); err != nil {
		return GroupView{}, err
	}
	if err := changes.Record(ctx, tx, caller.Account, caller.Actor(), KindGroup, key, nil, &group); err != nil {
		return GroupView{}, err
	}
	return groupView(ctx, tx, group)
}

// admitGroup refuses a key that is in use, and a group beyond the limit of the plan.
func (s *Service) admitGroup(ctx context.Context, tx Tx, account, key string) error {
	kinds, err := tx.LoggerKinds(ctx, account, []string{key})
	if err != nil {
		return err
	}
	switch kinds[key] {
	case KindGroup:
		return fault.New(fault.AlreadyExists, "There is a log group %q already.", key).At(fault.Pointer("/data/id"))
	case Kind:
		return taken(key, "a logger").At(fault.Pointer("/data/id"))
	}
	return accounts.TakeSlot(ctx, s.Plans, account, plans.LoggingGroups, tx.Account, tx.CountLogGroups)
}

// refusedGroup is like refused, for groups. key is "" for a new group.
func (s *Service) refusedGroup(ctx context.Context, account, key string, wanted request, problems *fault.Problems) error {
	err := s.Store.Read(ctx, func(ctx context.Context, tx ReadTx) error {
		before, err := tx.LogGroup(ctx, account, key)
		if err != nil && !fault.Is(err, fault.NotFound) {
			return err
		}
		before.Account = account
		_, err = s.settleGroup(ctx, tx, before, wanted, problems)
		return err
	})
	return cmp.Or(err, problems.Err())
}

// settleGroup applies a request to a stored group, and adds the problems that only the database
// can show.
func (s *Service) settleGroup(ctx context.Context, tx ReadTx, before Group, wanted request, problems *fault.Problems) (after Group, err error) {
	after = before
	after.Name, after.UpdatedAt = wanted.name, tx.Now()
	after.Levels, err = s.mergeLevels(ctx, tx, before.Account, before.Levels, wanted.levels, problems)
	return after, err
}

// replacedGroup applies a request to a group, and checks the rights of the caller.
func (s *Service) replacedGroup(ctx context.Context, tx Tx, caller accounts.Caller, before Group, wanted request) (Group, error) {
	var problems fault.Problems
	after, err := s.settleGroup(ctx, tx, before, wanted, &problems)
	if err := cmp.Or(err, problems.Err()); err != nil {
		return Group{}, err
	}
	if err := checkTotalSize(ctx, tx, caller.Account, before.Levels, after.Levels); err != nil {
		return Group{}, err
	}
	if before.Name != after.Name || !before.sameBase(after.Levels) {
		if err := caller.RequireUnscoped(); err != nil {
			return Group{}, err
		}
	}
	return after, checkEnvironments(caller, before.Levels, after.Levels)
}

// ReplaceGroup changes a log group. Overrides for unmanaged environments are frozen: they stay
// and cannot be changed. ReplaceGroup requires MEMBER or higher. A key that is restricted to
// environments may change only their overrides.
func (s *Service) ReplaceGroup(ctx context.Context, caller accounts.Caller, key string, draft GroupDraft, match changes.Match[GroupView]) (GroupView, error) {
	wanted := draft.validate(key)
	if draft.Problems.Err() != nil {
		return GroupView{}, s.refusedGroup(ctx, caller.Account, key, wanted, &draft.Problems)
	}
	return accounts.Write(ctx, s.Store, caller, func(ctx context.Context, tx Tx, caller accounts.Caller) (GroupView, error) {
		return s.replaceGroup(ctx, tx, caller, key, wanted, match)
	})
}

func (s *Service) replaceGroup(ctx context.Context, tx Tx, caller accounts.Caller, key string, wanted request, match changes.Match[GroupView]) (GroupView, error) {
	target := accounts.Target(ctx, caller, KindGroup, key, onStored(match, viewGroup), tx.LogGroup)
	group, err := changes.Replace(ctx, tx, target,
		func(before Group) (Group, error) { return s.replacedGroup(ctx, tx, caller, before, wanted) },
		func(_, after Group) error { return tx.SaveLogGroups(ctx, []Group{after}) })
	if err != nil {
		return GroupView{}, err
	}
	return groupView(ctx, tx, group)
}

// DeleteGroup removes a group after detaching its members. Members on which nothing else is set
// are released. DeleteGroup requires MEMBER or higher, and refuses keys that are restricted to
// environments.
func (s *Service) DeleteGroup(ctx context.Context, caller accounts.Caller, key string, match changes.Match[GroupView]) error {
	return accounts.Do(ctx, s.Store, caller, func(ctx context.Context, tx Tx, caller accounts.Caller) error {
		return removeGroup(ctx, tx, caller, key, match)
	})
}

func removeGroup(ctx context.Context, tx Tx, caller accounts.Caller, key string, match changes.Match[GroupView]) error {
	var detached []string
	target := accounts.Target(ctx, caller, KindGroup, key, onStored(match, viewGroup), tx.LogGroup)
	err := changes.Delete(ctx, tx, target, func(Group) (err error) {
		if detached, err = detach(ctx, tx, caller, key); err != nil {
			return err
		}
		return tx.DeleteLogGroup(ctx, caller.Account, key, tx.Now())
	})
	if err != nil {
		return err
	}
	return changes.RecordSeveral(ctx, tx, caller.Account, caller.Actor(), changes.Cascaded, Kind,
		changes.Several{Keys: detached, Cause: KindGroup + ":" + key})
}

// RestoreGroup reverts a change of a log group. The draft is the group before the change.
func (s *Service) RestoreGroup(ctx context.Context, caller accounts.Caller, revert accounts.Revert, draft GroupDraft) (changes.Change, error) {
	key := revert.Change.Key
	wanted := draft.validate(key)
	return accounts.Restore(ctx, s.Store, caller, revert, func(ctx context.Context, tx Tx, caller accounts.Caller) accounts.Restoration[GroupView] {
		_, err := tx.LogGroup(ctx, caller.Account, key)
		return accounts.Restoration[GroupView]{Found: err, Check: draft.Problems.Err,
			Create:  func() (GroupView, error) { return s.createGroup(ctx, tx, caller, key, wanted, &draft.Problems) },
			Replace: func() (GroupView, error) { return s.replaceGroup(ctx, tx, caller, key, wanted, nil) },
			Remove:  func() error { return removeGroup(ctx, tx, caller, key, nil) }}
	})
}

func detach(ctx context.Context, tx Tx, caller accounts.Caller, group string) ([]string, error) {
	members, err := tx.LoggersOfGroup(ctx, caller.Account, group)
	if err != nil {
		return nil, err
	}
	after := make([]Logger, len(members))
	for i, member := range members {
		member.Group = ""
		after[i] = member.with(member.Levels, tx.Now())
	}
	return saveEach(ctx, tx, cause{caller.Account, caller.Actor(), changes.Cascaded}, Kind, members, after, tx.SaveLoggers)
}
