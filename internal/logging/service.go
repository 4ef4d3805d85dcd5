package logging

import (
	"context"
	"time"

	"github.com/signalbox/signalbox/internal/accounts"
	"github.com/signalbox/signalbox/internal/changes"
	"github.com/signalbox/signalbox/internal/observations"
	"github.com/signalbox/signalbox/internal/optional"
	"github.com/signalbox/signalbox/internal/overrides"
	"github.com/signalbox/signalbox/internal/page"
	"github.com/signalbox/signalbox/internal/plans"
	"github.com/signalbox/signalbox/internal/transaction"
)

// Store runs the transactions in which loggers are read and written.
type Store interface {
	transaction.Store[ReadTx, Tx]
	// Snapshot is like Read, but all its queries see the same state.
	Snapshot(ctx context.Context, fn func(context.Context, ReadTx) error) error
}

// Filter narrows a list of loggers. Zero members do not filter.
type Filter struct {
	Search  string
	Managed optional.Value[bool]
	Group   string
	// Service finds loggers that a service reports.
	Service string
	// SeenFrom and SeenTo find loggers that were last seen in this period.
	SeenFrom, SeenTo time.Time
}

// GroupFilter narrows a list of groups. Zero members do not filter.
type GroupFilter struct{ Search string }

// SourceFilter narrows a list of sources. Zero members do not filter.
type SourceFilter struct{ Logger, Service, Environment string }

// Expiring is a logger or group with a temporary level.
type Expiring struct {
	Account, Kind, Key string
	At                 time.Time // its earliest expiry
}

// ReadTx has the reads of this package.
type ReadTx interface {
	accounts.TenantTx

	Logger(ctx context.Context, account, key string) (Logger, error)
	Loggers(ctx context.Context, account string, filter Filter, request page.Request) (page.List[Logger], error)
	// LoggersByKey returns the loggers that exist with these keys.
	LoggersByKey(ctx context.Context, account string, keys []string) ([]Logger, error)
	// LoggerKeys returns the keys of all loggers.
	LoggerKeys(ctx context.Context, account string) ([]string, error)
	// LoggersOfGroup returns the members of a group.
	LoggersOfGroup(ctx context.Context, account, group string) ([]Logger, error)
	// LoggersWithEnvironment returns the loggers that have an override for an environment.
	LoggersWithEnvironment(ctx context.Context, account, environment string) ([]Logger, error)
	// LoggerKinds returns the kind of each key that is in use, because loggers and groups share
	// their keys.
	LoggerKinds(ctx context.Context, account string, keys []string) (map[string]string, error)
	CountLoggers(ctx context.Context, account string) (int, error)
	CountManagedLoggers(ctx context.Context, account string) (int, error)
	// LargeOverrideBytes returns the total size of the overrides of all loggers and
	// groups that have more than SmallBytes of overrides.
	LargeOverrideBytes(ctx context.Context, account string) (int, error)
	// LoggerCascaded reports whether a logger was ever promoted. It remembers deleted loggers.
	LoggerCascaded(ctx context.Context, account, key string) (bool, error)

	LogGroup(ctx context.Context, account, key string) (Group, error)
	LogGroups(ctx context.Context, account string, filter GroupFilter, request page.Request) (page.List[Group], error)
	LogGroupsByKey(ctx context.Context, account string, keys []string) ([]Group, error)
	LogGroupsWithEnvironment(ctx context.Context, account, environment string) ([]Group, error)
	CountLogGroups(ctx context.Context, account string) (int, error)

	LoggerSources(ctx context.Context, account string, filter SourceFilter, request page.Request) (page.List[Source], error)
	// NewestSources returns the most recently seen sources of each logger, at most
	// limit per logger.
	NewestSources(ctx context.Context, account string, loggers []string, limit int) ([]Source, error)
	// LevelsSeen returns the distinct levels of each logger per environment, at most limit per
	// logger.
	LevelsSeen(ctx context.Context, account string, loggers []string, limit int) ([]LevelSeen, error)
	// KnownLoggerSources returns the stored sources with the same keys as the reported ones.
	KnownLoggerSources(ctx context.Context, account string, reported []Source) (map[observations.SourceKey]Source, error)
	CountLoggerSources(ctx context.Context, account string) (int, error)

	// ExpiringLevels returns the loggers and groups with the next expiries, soonest first. It skips
	// the accounts in except.
	ExpiringLevels(ctx context.Context, except []string, limit int) ([]Expiring, error)
}

// Tx has the reads and writes of this package in one transaction.
type Tx interface {
	ReadTx
	accounts.HistoryTx
	changes.Recorder
	// SaveLoggers inserts or replaces loggers. It also replaces deleted rows with the same
	// keys.
	SaveLoggers(ctx context.Context, loggers []Logger) error
	// CreateLoggers inserts new loggers, and replaces deleted rows with the same
	// keys.
	CreateLoggers(ctx context.Context, loggers []Logger) error
	DeleteLogger(ctx context.Context, account, key string, at time.Time) error
	// MarkLoggerCascaded stores that a logger was promoted. Deleting the logger keeps this.
	MarkLoggerCascaded(ctx context.Context, account, key string) error
	// ClearDescendants removes the levels of the unmanaged descendants of a logger, and returns
	// the keys of the changed loggers.
	ClearDescendants(ctx context.Context, account, key string, at time.Time) ([]string, error)

	SaveLogGroups(ctx context.Context, groups []Group) error
	DeleteLogGroup(ctx context.Context, account, key string, at time.Time) error

	// SaveLoggerSources inserts or updates sources. Existing sources keep their FirstObserved.
	SaveLoggerSources(ctx context.Context, sources []Source) error
}

// Service reads and writes loggers and groups, and checks every write.
type Service struct {
	Store Store
	// Reports runs the transactions of reports. They wait for all other transactions.
	Reports Store
	Plans   plans.Table
	// Writable refuses to write a level for an environment that is unmanaged
	// or does not exist.
	Writable overrides.Writable
	// Refreshes records when known sources were last seen.
	Refreshes *observations.Refreshes
	// Slots bounds how many reports are compared at once.
	Slots observations.Slots

	sources observations.Sources[ReadTx, Tx, Source]
}

// onStored turns a precondition on a view into a precondition on the stored logger or group.
// The precondition compares only the definition.
func onStored[T, V any](match changes.Match[V], view func(T) V) changes.Match[T] {
	if match == nil {
		return nil
	}
	return func(current T) bool { return match(view(current)) }
}

func viewLogger(logger Logger) View { return View{Logger: logger} }

func viewGroup(group Group) GroupView { return GroupView{Group: group} }

// snapshots is a Store whose Read sees one state of the database.
type snapshots struct{ Store }

// Read calls the Store's Snapshot.
func (s snapshots) Read(ctx context.Context, fn func(context.Context, ReadTx) error) error {
	return s.Snapshot(ctx, fn)
}

// viewList returns the list with views instead of its items, or err if reading the list failed.
func viewList[T, V any](ctx context.Context, list page.List[T], err error, views func(context.Context, []T) ([]V, error)) (page.List[V], error) {
	if err != nil {
		return page.List[V]{}, err
	}
	items, err := views(ctx, list.Items)
	return page.List[V]{Items: items, Total: list.Total}, err
}

// Loggers lists the loggers of the caller's account. The type View says what a list omits.
func (s *Service) Loggers(ctx context.Context, caller accounts.Caller, filter Filter, request page.Request) (page.List[View], error) {
	return transaction.Read(ctx, snapshots{s.Store}, func(ctx context.Context, tx ReadTx) (page.List[View], error) {
		list, err := tx.Loggers(ctx, caller.Account, filter, request)
		return viewList(ctx, list, err, viewer{tx, caller.Account, true}.loggers)
	})
}

// Logger returns one logger.
func (s *Service) Logger(ctx context.Context, caller accounts.Caller, key string) (View, error) {
	return transaction.Read(ctx, snapshots{s.Store}, func(ctx context.Context, tx ReadTx) (View, error) {
		logger, err := tx.Logger(ctx, caller.Account, key)
		if err != nil {
			return View{}, err
		}
		return view(ctx, tx, logger)
	})
}

// Sources lists the sources of loggers. If the filter names a logger, it must exist.
func (s *Service) Sources(ctx context.Context, caller accounts.Caller, filter SourceFilter, request page.Request) (page.List[Source], error) {
	return transaction.Read(ctx, s.Store, func(ctx context.Context, tx ReadTx) (page.List[Source], error) {
		if filter.Logger != "" {
			if _, err := tx.Logger(ctx, caller.Account, filter.Logger); err != nil {
				return page.List[Source]{}, err
			}
		}
		return tx.LoggerSources(ctx, caller.Account, filter, request)
	})
}

// Groups lists the log groups of the caller's account.
func (s *Service) Groups(ctx context.Context, caller accounts.Caller, filter GroupFilter, request page.Request) (page.List[GroupView], error) {
	return transaction.Read(ctx, snapshots{s.Store}, func(ctx context.Context, tx ReadTx) (page.List[GroupView], error) {
		list, err := tx.LogGroups(ctx, caller.Account, filter, request)
		return viewList(ctx, list, err, viewer{tx, caller.Account, true}.groups)
	})
}

// Group returns one log group.
func (s *Service) Group(ctx context.Context, caller accounts.Caller, key string) (GroupView, error) {
	return transaction.Read(ctx, snapshots{s.Store}, func(ctx context.Context, tx ReadTx) (GroupView, error) {
		group, err := tx.LogGroup(ctx, caller.Account, key)
		if err != nil {
			return GroupView{}, err
		}
		return groupView(ctx, tx, group)
	})
}
