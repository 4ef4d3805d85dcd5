package observations

import (
	"context"
	"time"

	"github.com/signalbox/signalbox/internal/accounts"
	"github.com/signalbox/signalbox/internal/changes"
	"github.com/signalbox/signalbox/internal/naming"
	"github.com/signalbox/signalbox/internal/page"
	"github.com/signalbox/signalbox/internal/transaction"
)

// Store runs the transactions of this package.
type Store = transaction.Store[ReadTx, Tx]

// ReadTx is what this package reads.
type ReadTx interface {
	naming.Keys
	accounts.AuthorityTx
	// ManagedEnvironments returns every environment of an account and whether it
	// is managed.
	ManagedEnvironments(ctx context.Context, account string) (map[string]bool, error)

	Service(ctx context.Context, account, key string) (ReportingService, error)
	Services(ctx context.Context, account string, filter Filter, request page.Request) (page.List[ReportingService], error)
	CountServices(ctx context.Context, account string) (int, error)
	// ExistingServices returns the keys among keys that have a service.
	ExistingServices(ctx context.Context, account string, keys []string) ([]string, error)
	ContextType(ctx context.Context, account, key string) (ContextType, error)
	// ContextTypesByKey returns the existing context types among keys.
	ContextTypesByKey(ctx context.Context, account string, keys []string) ([]ContextType, error)
	ContextTypes(ctx context.Context, account string, filter Filter, request page.Request) (page.List[ContextType], error)
	CountContextTypes(ctx context.Context, account string) (int, error)
	Context(ctx context.Context, account, typeKey, key string) (Context, error)
	// KnownContexts returns an entry for the id of every context that exists. It is
	// true if UpsertContexts would not change the context.
	KnownContexts(ctx context.Context, account string, contexts []Context) (map[string]bool, error)
	Contexts(ctx context.Context, account string, filter Filter, request page.Request) (page.List[Context], error)
	CountContexts(ctx context.Context, account string) (int, error)
	// MetricSums calls each for every sum, in order, until each returns an error.
	MetricSums(ctx context.Context, account string, by Resolution, filter MetricFilter, each func(MetricSum) error) error
	// CountMetrics counts the sums of one minute or hour.
	CountMetrics(ctx context.Context, account string, by Resolution, at time.Time) (int, error)
}

// Tx is what this package reads and writes in one transaction.
type Tx interface {
	ReadTx
	accounts.HistoryTx
	changes.Recorder
	// CreateEnvironments creates the environments of a report.
	CreateEnvironments(ctx context.Context, caller accounts.Caller, keys []string) error

	InsertServices(ctx context.Context, services ...ReportingService) error
	UpdateService(ctx context.Context, service ReportingService) error
	DeleteService(ctx context.Context, account, key string) error
	// SaveContextTypes inserts or replaces context types.
	SaveContextTypes(ctx context.Context, types ...ContextType) error
	DeleteContextType(ctx context.Context, account, key string) error
	// UpsertContexts inserts or updates contexts. Existing ones keep their names,
	// and their attributes if no attributes are given.
	UpsertContexts(ctx context.Context, contexts []Context) error
	UpdateContext(ctx context.Context, context Context) error
	DeleteContext(ctx context.Context, account, typeKey, key string) error
	// AddMetrics adds sums to the stored sums with the same set.
	AddMetrics(ctx context.Context, account string, by Resolution, sums []MetricSum) error
}

// Service takes reports of contexts and metrics, and manages the created resources.
type Service struct {
	Store Store
	// Reports runs the transactions of reports, which have the lowest priority.
	Reports Store
	// Series bounds how many series are read at once, because one series may have many
	// sums.
	Series Slots
	// Discoverable returns the new environments that a report may create, and the
	// number of environments past the cap.
	Discoverable func(known map[string]bool, keys []string) (created []string, dropped int)
	// Measured receives every usable metric once it is stored.
	Measured func(account string, metric Metric)
	// Dropped, unless it is nil, receives the number of sums or counts past a cap.
	Dropped func(sums int)

	queue queue[Tx]
}
