package environments

import (
	"context"
	"time"

	"github.com/signalbox/signalbox/internal/accounts"
	"github.com/signalbox/signalbox/internal/changes"
	"github.com/signalbox/signalbox/internal/fault"
	"github.com/signalbox/signalbox/internal/naming"
	"github.com/signalbox/signalbox/internal/page"
	"github.com/signalbox/signalbox/internal/plans"
	"github.com/signalbox/signalbox/internal/transaction"
)

// Store runs the transactions in which environments are read and written.
type Store = transaction.Store[ReadTx, Tx]

// ReadTx has the reads of this package.
type ReadTx interface {
	accounts.TenantTx
	Environment(ctx context.Context, account, key string) (Environment, error)
	Environments(ctx context.Context, account string, filter Filter, request page.Request) (page.List[Environment], error)
	CountManagedEnvironments(ctx context.Context, account string) (int, error)
	EnvironmentOrders(ctx context.Context, account string) (Orders, error)
	// CountValues counts the values of the products for an environment.
	CountValues(ctx context.Context, account, environment string) (Usage, error)
}

// FoundingTx has the writes that create environments.
type FoundingTx interface {
	changes.Recorder
	Now() time.Time
	InsertEnvironments(ctx context.Context, environments ...Environment) error
	SetAccountOrder(ctx context.Context, account string, order []string) error
}

// Tx has the reads and writes of this package in one transaction.
type Tx interface {
	ReadTx
	FoundingTx
	accounts.HistoryTx
	UpdateEnvironment(ctx context.Context, environment Environment) error
	DeleteEnvironment(ctx context.Context, account, key string) error
	SetUserOrder(ctx context.Context, account, user string, order []string) error
	// StripValues removes the values of the products for an environment.
	StripValues(ctx context.Context, caller accounts.Caller, environment string) error
}

// Service reads and writes environments, and checks every write.
type Service struct {
	Store Store
	Plans plans.Table
}

// Found creates the environments of a new account: production, which is managed, and staging,
// which is not.
func Found(ctx context.Context, tx FoundingTx, account string) error {
	for _, environment := range []Environment{
		{Key: Production, Name: "Production", Managed: true},
		{Key: staging, Name: "Staging"},
	} {
		environment.Account, environment.Classification = account, Standard
		environment.CreatedAt, environment.UpdatedAt = tx.Now(), tx.Now()
		if err := insert(ctx, tx, changes.Operator(), environment); err != nil {
			return err
		}
	}
	return tx.SetAccountOrder(ctx, account, []string{staging, Production})
}

// Environments lists the environments of the caller's account.
func (s *Service) Environments(ctx context.Context, caller accounts.Caller, filter Filter, request page.Request) (page.List[Environment], error) {
	return accounts.List(ctx, s.Store, caller, ReadTx.Environments, filter, request)
}

// Environment returns one environment.
func (s *Service) Environment(ctx context.Context, caller accounts.Caller, key string) (Environment, error) {
	return accounts.Get(ctx, s.Store, caller, ReadTx.Environment, key)
}

// Usage counts the values that the products have for an environment.
func (s *Service) Usage(ctx context.Context, caller accounts.Caller, key string) (Usage, error) {
	return transaction.Read(ctx, s.Store, func(ctx context.Context, tx ReadTx) (Usage, error) {
		if _, err := tx.Environment(ctx, caller.Account, key); err != nil {
			return Usage{}, err
		}
		return tx.CountValues(ctx, caller.Account, key)
	})
}

// Create creates an environment. A new environment is always STANDARD and managed; only a restored one
// has the draft's values. A STANDARD environment is appended to the account's order. Create requires
// ADMIN or OWNER.
func (s *Service) Create(ctx context.Context, caller accounts.Caller, draft Draft) (Environment, error) {
	naming.CheckID(&draft.Problems, draft.Key, maxKey, "environment")
	if err := draft.validate(); err != nil {
		return Environment{}, err
	}
	return accounts.Write(ctx, s.Store, caller, func(ctx context.Context, tx Tx, caller accounts.Caller) (Environment, error) {
		return s.create(ctx, tx, caller, &draft)
	})
}

func (s *Service) create(ctx context.Context, tx Tx, caller accounts.Caller, draft *Draft) (Environment, error) {
	made := draft.over(Environment{Account: caller.Account, Key: draft.Key.Or(""), CreatedAt: tx.Now()}, tx.Now())
	if !draft.Restores {
		made.Classification, made.Managed = Standard, true
	}
	if err := s.admit(ctx, tx, made); err != nil {
		return Environment{}, err
	}
	if err := naming.WarnSimilar(ctx, tx, &draft.Problems, caller.Account, Kind, made.Key); err != nil {
		return Environment{}, err
	}
	if err := insert(ctx, tx, caller.Actor(), made); err != nil || made.Classification == AdHoc {
		return made, err
	}
	return made, changeOrders(ctx, tx, caller.Account, false, with(made.Key))
}

// admit refuses a new environment if its key is in use or the account has reached a limit.
func (s *Service) admit(ctx context.Context, tx Tx, made Environment) error {
	known, err := tx.ManagedEnvironments(ctx, made.Account)
	if err != nil {
		return err
	}
	if _, exists := known[made.Key]; exists {
		return fault.New(fault.AlreadyExists, "There is an environment %q already.", made.Key).At(fault.Pointer("/data/id"))
	}
	if len(known) >= maxEnvironments {
		return fault.RowLimit("platform.environment_rows", maxEnvironments, "An account may have %d environments. Delete some that are not used.", maxEnvironments)
	}
	if !made.Managed {
		return nil
	}
	return s.takeSlot(ctx, tx, made.Account)
}

// Replace changes an environment. A promotion to managed takes a slot of the plan. A new classification
// adds the environment to orders or removes it from them. Replace requires ADMIN or OWNER.
func (s *Service) Replace(ctx context.Context, caller accounts.Caller, key string, draft Draft, match changes.Match[Environment]) (Environment, error) {
	if err := draft.validate(); err != nil {
		return Environment{}, err
	}
	return accounts.Write(ctx, s.Store, caller, func(ctx context.Context, tx Tx, caller accounts.Caller) (Environment, error) {
		return s.replace(ctx, tx, caller, key, &draft, match)
	})
}

func (s *Service) replace(ctx context.Context, tx Tx, caller accounts.Caller, key string, draft *Draft, match changes.Match[Environment]) (Environment, error) {
	return changes.Replace(ctx, tx, accounts.Target(ctx, caller, Kind, key, match, tx.Environment),
		func(before Environment) (Environment, error) { return draft.over(before, tx.Now()), nil },
		func(before, after Environment) error {
			if err := s.move(ctx, tx, before, after); err != nil {
				return err
			}
			return tx.UpdateEnvironment(ctx, after)
		})
}

// move carries out a change of managed or of classification.
func (s *Service) move(ctx context.Context, tx Tx, before, after Environment) error {
	switch {
	case !before.Managed && after.Managed:
		if err := s.takeSlot(ctx, tx, before.Account); err != nil {
			return err
		}
	case before.Managed && !after.Managed && before.Key == Production:
		return protected("demoted").At(fault.Attribute("managed"))
	}
	switch {
	case before.Classification == AdHoc && after.Classification == Standard:
		return changeOrders(ctx, tx, before.Account, true, with(before.Key))
	case before.Classification == Standard && after.Classification == AdHoc:
		return changeOrders(ctx, tx, before.Account, false, without(before.Key))
	}
	return nil
}

// Delete removes an environment from the account and from all orders. If cascade is set, it
// also removes the products' values for it. Delete requires ADMIN or OWNER.
func (s *Service) Delete(ctx context.Context, caller accounts.Caller, key string, cascade bool, match changes.Match[Environment]) error {
	return accounts.Do(ctx, s.Store, caller, func(ctx context.Context, tx Tx, caller accounts.Caller) error {
		return remove(ctx, tx, caller, key, cascade, match)
	})
}

func remove(ctx context.Context, tx Tx, caller accounts.Caller, key string, cascade bool, match changes.Match[Environment]) error {
	return changes.Delete(ctx, tx, accounts.Target(ctx, caller, Kind, key, match, tx.Environment), func(Environment) error {
		if key == Production {
			return protected("deleted")
		}
		if cascade {
			if err := tx.StripValues(ctx, caller, key); err != nil {
				return err
			}
		}
		if err := changeOrders(ctx, tx, caller.Account, true, without(key)); err != nil {
			return err
		}
		return tx.DeleteEnvironment(ctx, caller.Account, key)
	})
}

// Restore reverts a change of an environment. The draft is the environment before the change.
func (s *Service) Restore(ctx context.Context, caller accounts.Caller, revert accounts.Revert, draft Draft) (changes.Change, error) {
	key := revert.Change.Key
	return accounts.Restore(ctx, s.Store, caller, revert, func(ctx context.Context, tx Tx, caller accounts.Caller) accounts.Restoration[Environment] {
		_, err := tx.Environment(ctx, caller.Account, key)
		return accounts.Restoration[Environment]{Found: err, Check: draft.validate,
			Create:  func() (Environment, error) { return s.create(ctx, tx, caller, &draft) },
			Replace: func() (Environment, error) { return s.replace(ctx, tx, caller, key, &draft, nil) },
			Remove:  func() error { return remove(ctx, tx, caller, key, false, nil) }}
	})
}

// takeSlot refuses a managed environment beyond the limit of the plan.
func (s *Service) takeSlot(ctx context.Context, tx Tx, account string) error {
	return accounts.TakeSlot(ctx, s.Plans, account, plans.PlatformManagedEnvironments, tx.Account, tx.CountManagedEnvironments)
}

func insert(ctx context.Context, tx FoundingTx, actor changes.Actor, environment Environment) error {
	if err := tx.InsertEnvironments(ctx, environment); err != nil {
		return err
	}
	return changes.Record(ctx, tx, environment.Account, actor, Kind, environment.Key, nil, &environment)
}

func protected(verb string) *fault.Error {
	return fault.New(fault.EnvironmentProtected, "The environment %q is always managed and cannot be %s.", Production, verb)
}
