package configs

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/internal/accounts"
	"github.com/signalbox/signalbox/internal/changes"
	"github.com/signalbox/signalbox/internal/fault"
	"github.com/signalbox/signalbox/internal/naming"
	"github.com/signalbox/signalbox/internal/optional"
	"github.com/signalbox/signalbox/internal/overrides"
	"github.com/signalbox/signalbox/internal/page"
	"github.com/signalbox/signalbox/internal/plans"
	"github.com/signalbox/signalbox/internal/transaction"
)

// Store runs the transactions in which configs are read and written.
type Store = transaction.Store[ReadTx, Tx]

// Filter narrows a list of configs. Zero members do not filter.
type Filter struct {
	Search string
	// Parent finds the children of a config; "" finds configs without a parent.
	Parent optional.Value[string]
}

// ReadTx is what this package reads.
type ReadTx interface {
	accounts.TenantTx
	Config(ctx context.Context, account, key string) (Config, error)
	Configs(ctx context.Context, account string, filter Filter, request page.Request) (page.List[Config], error)
	// ConfigChain returns the ancestors of a config, the root first, and then the config, as of one instant.
	ConfigChain(ctx context.Context, account, key string) ([]Config, error)
	// EachConfigBelow visits all descendants of a config, each after its parent. visit must not use the transaction.
	EachConfigBelow(ctx context.Context, account, key string, visit func(Config) error) error
	// ConfigChildren returns the keys of at most atMost children of a config.
	ConfigChildren(ctx context.Context, account, key string, atMost int) ([]string, error)
	// ConfigsWithEnvironment returns the configs that have overrides in an environment.
	ConfigsWithEnvironment(ctx context.Context, account, environment string) ([]Config, error)
	CountConfigs(ctx context.Context, account string) (int, error)
	// ConfigBytes returns the stored size of all configs of an account.
	ConfigBytes(ctx context.Context, account string) (int, error)
}

// Tx is what this package reads and writes in one transaction.
type Tx interface {
	ReadTx
	accounts.HistoryTx
	changes.Recorder
	// SaveConfigs inserts or replaces configs of one account.
	SaveConfigs(ctx context.Context, configs ...Config) error
	DeleteConfig(ctx context.Context, account, key string) error
}

// Service reads and writes configs, and checks every write.
type Service struct {
	Store Store
	Plans plans.Table
	// Writable refuses to write a value for an environment that is unmanaged or does not exist.
	Writable overrides.Writable
}

// Configs lists the configs of the caller's account.
func (s *Service) Configs(ctx context.Context, caller accounts.Caller, filter Filter, request page.Request) (page.List[Config], error) {
	if err := s.provide(ctx, caller.Account, Common); err != nil {
		return page.List[Config]{}, err
	}
	return accounts.List(ctx, s.Store, caller, ReadTx.Configs, filter, request)
}

// Config returns one config.
func (s *Service) Config(ctx context.Context, caller accounts.Caller, key string) (Config, error) {
	if err := s.provide(ctx, caller.Account, key); err != nil {
		return Config{}, err
	}
	return accounts.Get(ctx, s.Store, caller, ReadTx.Config, key)
}

// Resolved returns the values of a config in an environment, which must exist, or without one.
func (s *Service) Resolved(ctx context.Context, caller accounts.Caller, key string, environment *string) (Resolved, error) {
	if err := s.provide(ctx, caller.Account, key); err != nil {
		return Resolved{}, err
	}
	return transaction.Read(ctx, s.Store, func(ctx context.Context, tx ReadTx) (Resolved, error) {
		chain, err := tx.ConfigChain(ctx, caller.Account, key)
		if err != nil {
			return Resolved{}, err
		}
		if environment != nil {
			managed, err := tx.ManagedEnvironments(ctx, caller.Account)
			if err != nil {
				return Resolved{}, err
			}
			if _, exists := managed[*environment]; !exists {
				return Resolved{}, fault.New(fault.InvalidParameter, "environment must be an environment of this account, or be left out: %q does not exist.%s",
					*environment, naming.DidYouMean(*environment, slices.Sorted(maps.Keys(managed)))).
					At(fault.Parameter("environment"))
			}
		}
		return Resolve(chain, environment), nil
	})
}

// Create creates a config. It requires MEMBER or higher, and refuses keys that are restricted to environments.
func (s *Service) Create(ctx context.Context, caller accounts.Caller, draft Draft) (Config, error) {
	naming.CheckID(&draft.Problems, draft.Key, naming.MaxKey, "config")
	wanted, schemas := draft.validate(draft.Key.Or(""))
	if draft.Parent.IsAbsent() && wanted.Key != Common {
		wanted.Parent = new(Common)
	}
	if draft.Problems.Err() != nil {
		return Config{}, s.allProblems(ctx, caller, "", wanted, schemas, &draft)
	}
	return accounts.Write(ctx, s.Store, caller, func(ctx context.Context, tx Tx, caller accounts.Caller) (Config, error) {
		return s.create(ctx, tx, caller, wanted, schemas, &draft)
	})
}

func (s *Service) create(ctx context.Context, tx Tx, caller accounts.Caller, made Config, schemas *schemas, draft *Draft) (Config, error) {
	made.Account, made.CreatedAt, made.UpdatedAt = caller.Account, tx.Now(), tx.Now()
	if err := s.checkNew(ctx, tx, made); err != nil { // first, because common counts once it is created
		return Config{}, err
	}
	if err := naming.WarnSimilar(ctx, tx, &draft.Problems, caller.Account, Kind, made.Key); err != nil {
		return Config{}, err
	}
	made, err := s.checked(ctx, tx, caller, write{sent: made.Environments, schemas: schemas, warn: &draft.Problems}, made)
	if err == nil {
		err = saveWithinLimit(ctx, tx, made)
	}
	if err != nil {
		return Config{}, err
	}
	return made, changes.Record(ctx, tx, caller.Account, caller.Actor(), Kind, made.Key, nil, &made)
}

// checkNew checks that a config does not exist and that the account may have one more.
func (s *Service) checkNew(ctx context.Context, tx Tx, config Config) error {
	_, err := tx.Config(ctx, config.Account, config.Key)
	if err == nil {
		return fault.New(fault.AlreadyExists, "There is a config %q already.", config.Key).At(fault.Pointer("/data/id"))
	}
	if !fault.Is(err, fault.NotFound) {
		return err
	}
	if config.Key == Common {
		return nil // common is never refused
	}
	account, err := tx.Account(ctx, config.Account)
	if err != nil {
		return err
	}
	count, err := tx.CountConfigs(ctx, config.Account)
	if err != nil {
		return err
	}
	if count >= MaxConfigs {
		return fault.RowLimit("config.config_rows", MaxConfigs, "An account may have %d configs. Delete some that are not used.", MaxConfigs)
	}
	return s.Plans.Entitlement(account.Plans, plans.ConfigItems).Take(count)
}

// Replace replaces a config. Its overrides in unmanaged environments are frozen: they stay and cannot be changed. It
// requires MEMBER or higher; a key that is restricted to environments may change the overrides of these only.
func (s *Service) Replace(ctx context.Context, caller accounts.Caller, key string, draft Draft, match changes.Match[Config]) (Config, error) {
	wanted, schemas := draft.validate(key)
	if draft.Problems.Err() != nil {
		return Config{}, s.allProblems(ctx, caller, key, wanted, schemas, &draft)
	}
	return accounts.Write(ctx, s.Store, caller, func(ctx context.Context, tx Tx, caller accounts.Caller) (Config, error) {
		return s.replace(ctx, tx, caller, wanted, schemas, &draft, match)
	})
}

func (s *Service) replace(
	ctx context.Context, tx Tx, caller accounts.Caller, wanted Config, schemas *schemas, draft *Draft, match changes.Match[Config],
) (Config, error) {
	if wanted.Key == Common {
		if err := ensureCommon(ctx, tx, caller.Account); err != nil {
			return Config{}, err
		}
	}
	return changes.Replace(ctx, tx, accounts.Target(ctx, caller, Kind, wanted.Key, match, tx.Config), func(before Config) (Config, error) {
		after := draft.over(before, wanted)
		after.UpdatedAt = tx.Now()
		return s.checked(ctx, tx, caller, write{before: &before, sent: wanted.Environments, schemas: schemas, warn: &draft.Problems}, after)
	}, func(_, after Config) error { return saveWithinLimit(ctx, tx, after) })
}

// allProblems returns all problems of a draft at once: it adds those that need the database, in a read that locks
// nothing. The key is "" for a new config.
func (s *Service) allProblems(ctx context.Context, caller accounts.Caller, key string, wanted Config, schemas *schemas, draft *Draft) error {
	if schemas == nil {
		return draft.Problems.Err()
	}
	err := s.Store.Read(ctx, func(ctx context.Context, tx ReadTx) error {
		write, after := write{sent: wanted.Environments, schemas: schemas}, wanted
		after.Account = caller.Account
		before, err := tx.Config(ctx, caller.Account, key)
		switch {
		case err == nil:
			write.before, after = &before, draft.over(before, wanted)
		case !fault.Is(err, fault.NotFound):
			return err
		}
		_, err = s.prepare(ctx, tx, caller, write, after, &draft.Problems)
		return err
	})
	return cmp.Or(err, draft.Problems.Err())
}

// over returns the wanted config; a parent or schemas that the draft leaves out come from before.
func (d *Draft) over(before, wanted Config) Config {
	after := wanted
	after.Account, after.CreatedAt = before.Account, before.CreatedAt
	if d.Parent.IsAbsent() {
		after.Parent = before.Parent
	}
	after.Items = make(map[string]Item, len(wanted.Items))
	for key, item := range wanted.Items {
		if d.Items[key].Schema.IsAbsent() && item.Type == JSON && !d.Restores {
			item.Schema = before.Items[key].Schema
		}
		after.Items[key] = item
	}
	return after
}

// Delete deletes a config without children. It requires MEMBER or higher, and refuses keys restricted to environments.
func (s *Service) Delete(ctx context.Context, caller accounts.Caller, key string, match changes.Match[Config]) error {
	return accounts.Do(ctx, s.Store, caller, func(ctx context.Context, tx Tx, caller accounts.Caller) error {
		return remove(ctx, tx, caller, key, match)
	})
}

func remove(ctx context.Context, tx Tx, caller accounts.Caller, key string, match changes.Match[Config]) error {
	if key == Common {
		return fault.New(fault.ConfigProtected, "The config %q is the default parent and cannot be deleted.", Common)
	}
	return changes.Delete(ctx, tx, accounts.Target(ctx, caller, Kind, key, match, tx.Config), func(Config) error {
		const named = 5
		children, err := tx.ConfigChildren(ctx, caller.Account, key, named+1)
		if err != nil {
			return err
		}
		if len(children) > 0 {
			return inUse(key, children, named)
		}
		return tx.DeleteConfig(ctx, caller.Account, key)
	})
}

// Restore reverts a change of a config. The draft is the config before the change.
func (s *Service) Restore(ctx context.Context, caller accounts.Caller, revert accounts.Revert, draft Draft) (changes.Change, error) {
	key := revert.Change.Key
	wanted, schemas := draft.validate(key)
	return accounts.Restore(ctx, s.Store, caller, revert, func(ctx context.Context, tx Tx, caller accounts.Caller) accounts.Restoration[Config] {
		_, err := tx.Config(ctx, caller.Account, key)
		return accounts.Restoration[Config]{Found: err, Check: draft.Problems.Err,
			Create:  func() (Config, error) { return s.create(ctx, tx, caller, wanted, schemas, &draft) },
			Replace: func() (Config, error) { return s.replace(ctx, tx, caller, wanted, schemas, &draft, nil) },
			Remove:  func() error { return remove(ctx, tx, caller, key, nil) }}
	})
}

func inUse(key string, children []string, named int) error {
	more := ""
	if len(children) > named {
		children, more = children[:named], " and others"
	}
	return fault.New(fault.ConfigInUse, "The config %q is the parent of %s%s. Give them another parent, or none, before it is deleted.",
		key, strings.Join(children, ", "), more)
}
