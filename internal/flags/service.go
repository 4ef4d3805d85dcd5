package flags

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/signalbox/signalbox/internal/accounts"
	"github.com/signalbox/signalbox/internal/changes"
	"github.com/signalbox/signalbox/internal/fault"
	"github.com/signalbox/signalbox/internal/naming"
	"github.com/signalbox/signalbox/internal/observations"
	"github.com/signalbox/signalbox/internal/optional"
	"github.com/signalbox/signalbox/internal/overrides"
	"github.com/signalbox/signalbox/internal/page"
	"github.com/signalbox/signalbox/internal/plans"
	"github.com/signalbox/signalbox/internal/transaction"
)

// Store runs the transactions in which flags are read and written.
type Store = transaction.Store[ReadTx, Tx]

// Filter narrows a list of flags. Zero members do not filter.
type Filter struct {
	Search  string
	Type    string
	Managed optional.Value[bool]
	// References finds the flags whose rules have all of these references.
	References []Reference
	// Stale finds the flags that are stale by StaleRule or, if false, the others. Service.Flags sets the rule.
	Stale     optional.Value[bool]
	StaleRule StaleRule
}

// SourceFilter narrows a list of sources. Zero members do not filter.
type SourceFilter struct {
	Flag, Service, Environment string
}

// ReadTx has the reads of this package.
type ReadTx interface {
	accounts.TenantTx
	AccountSettings(ctx context.Context, account string) (accounts.Settings, error)
	Flag(ctx context.Context, account, key string) (Flag, error)
	Flags(ctx context.Context, account string, filter Filter, request page.Request) (page.List[Flag], error)
	// FlagsByKey returns the existing flags among keys, or all flags if keys is nil.
	FlagsByKey(ctx context.Context, account string, keys []string) ([]Flag, error)
	// ExistingFlags returns the keys among keys that have a flag.
	ExistingFlags(ctx context.Context, account string, keys []string) ([]string, error)
	// FlagsWithEnvironment returns the flags that have a configuration for an environment.
	FlagsWithEnvironment(ctx context.Context, account, environment string) ([]Flag, error)
	CountFlags(ctx context.Context, account string) (int, error)
	// LargeFlagBytes returns the total size of the flags with more than SmallBytes.
	LargeFlagBytes(ctx context.Context, account string) (int, error)
	FlagSources(ctx context.Context, account string, filter SourceFilter, request page.Request) (page.List[Source], error)
	CountFlagSources(ctx context.Context, account string) (int, error)
	// KnownFlagSources returns the stored sources that have the keys of reported
	// ones.
	KnownFlagSources(ctx context.Context, account string, reported []Source) (map[observations.SourceKey]Source, error)
}

// Tx has the reads and writes of this package in one transaction.
type Tx interface {
	ReadTx
	accounts.HistoryTx
	changes.Recorder
	// SaveFlag inserts a flag and the references of its rules, or replaces a
	// stored or deleted flag with the same key.
	SaveFlag(ctx context.Context, flag Flag, references []Reference) error
	// SaveFlags inserts flags, or replaces stored or deleted flags with the
	// same keys. It does not change the references of their rules.
	SaveFlags(ctx context.Context, flags []Flag) error
	// CreateFlags inserts new flags.
	CreateFlags(ctx context.Context, flags []Flag) error
	// SetFlagReferences replaces the references of some flags, by key.
	SetFlagReferences(ctx context.Context, account string, references map[string][]Reference) error
	DeleteFlag(ctx context.Context, account, key string) error
	// SaveFlagSources inserts or updates sources. Existing ones keep their ids
	// and FirstObserved.
	SaveFlagSources(ctx context.Context, sources []Source) error
}

// Service reads and writes flags, and checks every write.
type Service struct {
	Store Store
	// Reports runs the transactions of reports, which let all others go first.
	Reports Store
	Plans   plans.Table
	// Writable refuses to write a value for an environment that is unmanaged
	// or does not exist.
	Writable overrides.Writable
	// Refreshes records when known sources were last seen.
	Refreshes *observations.Refreshes
	// Slots bounds how many reports are compared at once.
	Slots observations.Slots

	sources observations.Sources[ReadTx, Tx, Source]
}

// Flags lists the flags of the caller's account.
func (s *Service) Flags(ctx context.Context, caller accounts.Caller, filter Filter, request page.Request) (page.List[Flag], error) {
	return transaction.Read(ctx, s.Store, func(ctx context.Context, tx ReadTx) (list page.List[Flag], err error) {
		if _, asked := filter.Stale.Get(); asked {
			filter.StaleRule, err = staleRule(ctx, tx, caller.Account)
		}
		if err != nil {
			return page.List[Flag]{}, err
		}
		return tx.Flags(ctx, caller.Account, filter, request)
	})
}

// Flag returns one flag, and says whether it is stale.
func (s *Service) Flag(ctx context.Context, caller accounts.Caller, key string) (Flag, error) {
	return transaction.Read(ctx, s.Store, func(ctx context.Context, tx ReadTx) (Flag, error) {
		flag, err := tx.Flag(ctx, caller.Account, key)
		if err != nil {
			return Flag{}, err
		}
		rule, err := staleRule(ctx, tx, caller.Account)
		flag.Stale = rule.Of(flag)
		return flag, err
	})
}

// staleRule returns the rule of an account now.
func staleRule(ctx context.Context, tx ReadTx, account string) (StaleRule, error) {
	settings, err := tx.AccountSettings(ctx, account)
	if err != nil {
		return StaleRule{}, err
	}
	environments, err := tx.ManagedEnvironments(ctx, account)
	return NewStaleRule(settings.StaleFlags(), environments, tx.Now()), err
}

// Sources lists the sources of flags. If the filter names a flag, it must exist.
func (s *Service) Sources(ctx context.Context, caller accounts.Caller, filter SourceFilter, request page.Request) (page.List[Source], error) {
	return transaction.Read(ctx, s.Store, func(ctx context.Context, tx ReadTx) (page.List[Source], error) {
		if filter.Flag != "" {
			if _, err := tx.Flag(ctx, caller.Account, filter.Flag); err != nil {
				return page.List[Source]{}, err
			}
		}
		return tx.FlagSources(ctx, caller.Account, filter, request)
	})
}

// Create creates a managed flag, or restores a discovered one. It requires MEMBER or higher, and refuses keys that are
// restricted to environments.
func (s *Service) Create(ctx context.Context, caller accounts.Caller, draft Draft) (Flag, error) {
	naming.CheckID(&draft.Problems, draft.Key, naming.MaxKey, "flag")
	if managed, sent := draft.Managed.Get(); sent && !managed && !draft.Restores {
		draft.Problems.Attribute("managed", "must be true or left out: only discovery makes discovered flags")
		draft.Managed = optional.Of(true)
	}
	wanted := draft.validate(draft.Key.Or(""))
	if draft.Problems.Err() != nil {
		return Flag{}, s.refused(ctx, caller, "", wanted, &draft)
	}
	return accounts.Write(ctx, s.Store, caller, func(ctx context.Context, tx Tx, caller accounts.Caller) (Flag, error) {
		return s.create(ctx, tx, caller, wanted, &draft)
	})
}

func (s *Service) create(ctx context.Context, tx Tx, caller accounts.Caller, wanted Flag, draft *Draft) (Flag, error) {
	if err := s.admit(ctx, tx, caller.Account, wanted.Key); err != nil {
		return Flag{}, err
	}
	if err := naming.WarnSimilar(ctx, tx, &draft.Problems, caller.Account, Kind, wanted.Key); err != nil {
		return Flag{}, err
	}
	before := unwritten(caller.Account, wanted.Key, tx.Now())
	before.Managed = draft.Managed.Or(true)
	flag, references, err := s.checked(ctx, tx, caller, before, wanted, draft)
	if err != nil {
		return Flag{}, err
	}
	if err := store(ctx, tx, before, flag, references); err != nil {
		return Flag{}, err
	}
	return flag, changes.Record(ctx, tx, caller.Account, caller.Actor(), Kind, flag.Key, nil, &flag)
}

// unwritten returns the state of a flag before its first write.
func unwritten(account, key string, now time.Time) Flag {
	return Flag{Account: account, Key: key, Name: readable(key), Managed: true, CreatedAt: now}
}

// admit refuses a new flag whose key is in use, or for which the account has no
// capacity.
func (s *Service) admit(ctx context.Context, tx Tx, account, key string) error {
	_, err := tx.Flag(ctx, account, key)
	if err == nil {
		return fault.New(fault.AlreadyExists, "There is a flag %q already.", key).At(fault.Pointer("/data/id"))
	}
	if !fault.Is(err, fault.NotFound) {
		return err
	}
	holder, err := tx.Account(ctx, account)
	if err != nil {
		return err
	}
	count, err := tx.CountFlags(ctx, account)
	if err != nil {
		return err
	}
	if count >= MaxFlags {
		return fault.RowLimit("flags.flag_rows", MaxFlags, "An account may have %d flags. Delete some that are not used.", MaxFlags)
	}
	return s.Plans.Entitlement(holder.Plans, plans.FlagsItems).Take(count)
}

// Replace changes a flag. Its configuration for unmanaged environments is frozen: it
// stays and cannot be changed. Replace requires MEMBER or higher; a key that is
// restricted to environments may change the configuration of these only.
func (s *Service) Replace(ctx context.Context, caller accounts.Caller, key string, draft Draft, match changes.Match[Flag]) (Flag, error) {
	wanted := draft.validate(key)
	if draft.Problems.Err() != nil {
		return Flag{}, s.refused(ctx, caller, key, wanted, &draft)
	}
	return accounts.Write(ctx, s.Store, caller, func(ctx context.Context, tx Tx, caller accounts.Caller) (Flag, error) {
		return s.replace(ctx, tx, caller, wanted, &draft, match)
	})
}

func (s *Service) replace(ctx context.Context, tx Tx, caller accounts.Caller, wanted Flag, draft *Draft, match changes.Match[Flag]) (Flag, error) {
	var references referenceSet
	return changes.Replace(ctx, tx, accounts.Target(ctx, caller, Kind, wanted.Key, match, tx.Flag), func(before Flag) (after Flag, err error) {
		after, references, err = s.checked(ctx, tx, caller, before, wanted, draft)
		return after, err
	}, func(before, after Flag) error { return store(ctx, tx, before, after, references) })
}

// refused returns all problems of a draft at once: it adds the problems that only the
// database shows, in a read that locks nothing.
func (s *Service) refused(ctx context.Context, caller accounts.Caller, key string, wanted Flag, draft *Draft) error {
	err := s.Store.Read(ctx, func(ctx context.Context, tx ReadTx) error {
		before, err := tx.Flag(ctx, caller.Account, key)
		if fault.Is(err, fault.NotFound) {
			before, err = unwritten(caller.Account, key, tx.Now()), nil
		}
		if err != nil {
			return err
		}
		_, _, err = s.settle(ctx, tx, caller, before, wanted, draft, &draft.Problems)
		return err
	})
	return cmp.Or(err, draft.Problems.Err())
}

// settle applies a draft to a stored flag and adds the problems that need the
// database. It returns the resulting flag and the references of its rules.
func (s *Service) settle(ctx context.Context, tx ReadTx, caller accounts.Caller, before, wanted Flag, draft *Draft, problems *fault.Problems) (Flag, referenceSet, error) {
	after := draft.over(before, wanted, tx.Now())
	if before.Managed && !after.Managed && problems.Err() == nil {
		return Flag{}, nil, fault.New(fault.FlagDemotion, "A managed flag stays managed until it is deleted.").At(fault.Attribute("managed"))
	}
	if !after.Managed && len(after.Environments) > 0 {
		problems.Add(fault.New(fault.FlagUnmanaged, "This flag is discovered; send managed: true to configure it per environment.").
			At(fault.Attribute("environments")))
	}
	managed, err := tx.ManagedEnvironments(ctx, caller.Account)
	if err != nil {
		return Flag{}, nil, err
	}
	after.Environments, err = overrides.Merge(managed, before.Environments, wanted.Environments, sameEnvironment, s.Writable)
	if err := problems.Take(err); err != nil {
		return Flag{}, nil, err
	}
	if problems.Err() == nil {
		if err := checkScope(caller, before, after); err != nil {
			return Flag{}, nil, err
		}
	}
	references := maps.Clone(draft.references)
	checkFrozen(after, wanted, problems, references)
	return after, references, nil
}

// checked applies a validated draft to a flag. It returns the resulting flag and the
// references of its rules, or the problems.
func (s *Service) checked(ctx context.Context, tx Tx, caller accounts.Caller, before, wanted Flag, draft *Draft) (Flag, referenceSet, error) {
	var problems fault.Problems
	after, references, err := s.settle(ctx, tx, caller, before, wanted, draft, &problems)
	if err := cmp.Or(err, problems.Err()); err != nil {
		return Flag{}, nil, err
	}
	return after, references, s.checkRules(ctx, tx, caller.Account, wanted.CountRules())
}

// store stores a flag with the references of its rules.
func store(ctx context.Context, tx Tx, before, after Flag, references referenceSet) error {
	if err := tx.SaveFlag(ctx, after, references.list()); err != nil {
		return err
	}
	return checkTotalSize(ctx, tx, before, after)
}

// over returns the wanted flag; members that the draft leaves out come from before.
func (d *Draft) over(before, wanted Flag, now time.Time) Flag {
	after := wanted
	after.Account, after.CreatedAt, after.UpdatedAt = before.Account, before.CreatedAt, now
	after.LastSeen, after.LastEvaluated = before.LastSeen, before.LastEvaluated
	after.Name, after.Managed = d.Name.Or(before.Name), d.Managed.Or(before.Managed)
	return after
}

// checkFrozen checks the frozen environments that the draft left out: their values
// must fit a new type or new choices too.
func checkFrozen(after, wanted Flag, problems *fault.Problems, references referenceSet) {
	frozen := slices.DeleteFunc(slices.Sorted(maps.Keys(after.Environments)), func(key string) bool {
		_, sent := wanted.Environments[key] // validate checked these
		return sent
	})
	if len(frozen) == 0 || !checkSize(problems, after) {
		return
	}
	check := newChecker(problems, after, references)
	for _, key := range frozen {
		check.environment(key, after.Environments[key])
	}
}

// checkRules refuses more rules than the plan allows. Frozen rules that were not
// sent do not count: the caller cannot remove them.
func (s *Service) checkRules(ctx context.Context, tx ReadTx, account string, sent int) error {
	holder, err := tx.Account(ctx, account)
	if err != nil {
		return err
	}
	allowed := s.Plans.Entitlement(holder.Plans, plans.FlagsRules)
	if allowed.Maximum == plans.Unlimited || sent <= allowed.Maximum {
		return nil
	}
	refusal := allowed.Exceeded(sent)
	refusal.Detail = fmt.Sprintf("The %s plan allows %d rules per flag, over all its environments, and %d were sent.", allowed.Plan, allowed.Maximum, sent)
	return refusal
}

// Delete removes a flag; the next declaration discovers it again. It requires MEMBER
// or higher, and refuses keys that are restricted to environments.
func (s *Service) Delete(ctx context.Context, caller accounts.Caller, key string, match changes.Match[Flag]) error {
	defer s.sources.Deleted(caller.Account)
	return accounts.Do(ctx, s.Store, caller, func(ctx context.Context, tx Tx, caller accounts.Caller) error {
		return remove(ctx, tx, caller, key, match)
	})
}

func remove(ctx context.Context, tx Tx, caller accounts.Caller, key string, match changes.Match[Flag]) error {
	return changes.Delete(ctx, tx, accounts.Target(ctx, caller, Kind, key, match, tx.Flag), func(Flag) error {
		return tx.DeleteFlag(ctx, caller.Account, key)
	})
}

// Restore reverts a change of a flag. The draft is the flag before the change.
func (s *Service) Restore(ctx context.Context, caller accounts.Caller, revert accounts.Revert, draft Draft) (changes.Change, error) {
	defer s.sources.Deleted(caller.Account)
	wanted := draft.validate(revert.Change.Key)
	return accounts.Restore(ctx, s.Store, caller, revert, func(ctx context.Context, tx Tx, caller accounts.Caller) accounts.Restoration[Flag] {
		current, err := tx.Flag(ctx, caller.Account, wanted.Key)
		restoration := accounts.Restoration[Flag]{Found: err, Check: draft.Problems.Err,
			Create:  func() (Flag, error) { return s.create(ctx, tx, caller, wanted, &draft) },
			Replace: func() (Flag, error) { return s.replace(ctx, tx, caller, wanted, &draft, nil) },
			Remove:  func() error { return remove(ctx, tx, caller, wanted.Key, nil) }}
		if current.Managed && !draft.Managed.Or(true) {
			restoration.Blocked = fault.New(fault.FlagDemotion, "Before this change the flag was discovered, and a managed flag cannot become discovered again. Delete it instead.")
		}
		return restoration
	})
}
