package environments

import (
	"context"
	"encoding/json"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/signalbox/signalbox/internal/fault"
	"github.com/signalbox/signalbox/internal/naming"
	"github.com/signalbox/signalbox/internal/optional"
	"github.com/signalbox/signalbox/internal/page"
)

// The JSON:API types of what services report.
const (
	KindService     = "service"
	KindContextType = "context_type"
	KindContext     = "context"
)

// Services and contexts are named by the programs that report them, so their
// keys are freer than those of environments.
const (
	maxReportedKey = 255
	maxTypeKey     = 100
	maxAttributes  = 16 << 10
	maxKnownNames  = 200
)

// Hard caps per account on what programs can make without anybody's doing.
const (
	maxReportedEnvironments = 1000
	maxServices             = 10_000
	maxContextTypes         = 1000
	maxContexts             = 100_000
)

// ReportingService is a program that has reported itself.
type ReportingService struct {
	Account   string    `json:"-"`
	Key       string    `json:"-"`
	Name      string    `json:"name"`
	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"`
}

// ContextType is a kind of thing that rules may look at, such as "user".
type ContextType struct {
	Account string `json:"-"`
	Key     string `json:"-"`
	Name    string `json:"name"`
	// Attributes has a member for every attribute that contexts of this type
	// have been seen with.
	Attributes json.RawMessage `json:"attributes"`
	CreatedAt  time.Time       `json:"created_at"`
	UpdatedAt  time.Time       `json:"updated_at"`
}

// Context is one thing of a type, such as the user "alice".
type Context struct {
	Account    string          `json:"-"`
	Type       string          `json:"context_type"`
	Key        string          `json:"key"`
	Name       string          `json:"name"`
	Attributes json.RawMessage `json:"attributes"`
	CreatedAt  time.Time       `json:"created_at"`
	UpdatedAt  time.Time       `json:"updated_at"`
}

// Definition is the context without what is only observed: people name it,
// services report the rest.
func (c Context) Definition() any {
	return struct {
		Name      string
		CreatedAt time.Time
	}{c.Name, c.CreatedAt}
}

// ID is the context's id in the API: type and key.
func (c Context) ID() string { return c.Type + ":" + c.Key }

// SplitContextID takes an id apart at its first colon.
func SplitContextID(id string) (typeKey, key string, ok bool) { return strings.Cut(id, ":") }

// ReportedFilter narrows a list of services, contexts or context types.
type ReportedFilter struct {
	Search      string
	ContextType string // contexts only
}

// ReportedReadTx is what this package reads of what services report.
type ReportedReadTx interface {
	Service(ctx context.Context, account, key string) (ReportingService, error)
	Services(ctx context.Context, account string, filter ReportedFilter, request page.Request) (page.List[ReportingService], error)
	// ExistingServices tells which of the named services exist.
	ExistingServices(ctx context.Context, account string, keys []string) ([]string, error)
	ContextType(ctx context.Context, account, key string) (ContextType, error)
	// ContextTypesByKey gives those of the named context types that exist.
	ContextTypesByKey(ctx context.Context, account string, keys []string) ([]ContextType, error)
	ContextTypes(ctx context.Context, account string, filter ReportedFilter, request page.Request) (page.List[ContextType], error)
	Context(ctx context.Context, account, typeKey, key string) (Context, error)
	// KnownContexts tells, by their ids, which of the contexts exist, and of
	// those whether UpsertContexts would leave them as they are.
	KnownContexts(ctx context.Context, account string, contexts []Context) (map[string]bool, error)
	Contexts(ctx context.Context, account string, filter ReportedFilter, request page.Request) (page.List[Context], error)
}

// ReportedTx is what this package writes of what services report.
type ReportedTx interface {
	InsertServices(ctx context.Context, services ...ReportingService) error
	UpdateService(ctx context.Context, service ReportingService) error
	DeleteService(ctx context.Context, account, key string) error
	// SaveContextTypes writes context types, new or not.
	SaveContextTypes(ctx context.Context, types ...ContextType) error
	DeleteContextType(ctx context.Context, account, key string) error
	// UpsertContexts writes contexts, keeping the names and, where a context
	// has none, the attributes of those that exist.
	UpsertContexts(ctx context.Context, contexts []Context) error
	UpdateContext(ctx context.Context, context Context) error
	DeleteContext(ctx context.Context, account, typeKey, key string) error
	AddMetrics(ctx context.Context, account string, minutes []MetricMinute) error
}

// NameDraft is what a caller wants a service, context or context type to be
// called. Attributes count for context types only.
type NameDraft struct {
	Key        optional.Value[string]
	Name       optional.Value[string]
	Attributes optional.Value[json.RawMessage]
	Problems   fault.Problems
}

func (d *NameDraft) validate() error {
	naming.CheckName(&d.Problems, d.Name, maxName)
	if attributes, sent := d.Attributes.Get(); sent && len(attributes) > maxAttributes {
		d.Problems.Attribute("attributes", "must have at most %d bytes", maxAttributes)
	}
	return d.Problems.Err()
}

// reportedName tells what is wrong with a key that a program chose and that
// paths name, or "". Those of contexts stand behind their type.
func reportedName(key string, maximum int) string {
	if !naming.InPath(key) {
		return naming.PathRule
	}
	return reportedKey(key, maximum)
}

// reportedKey tells what is wrong with a key that a program chose, or "".
func reportedKey(key string, maximum int) string {
	switch {
	case !naming.Fits(key, 1, maximum):
		return "must have 1 to " + strconv.Itoa(maximum) + " characters"
	case strings.ContainsFunc(key, unicode.IsControl):
		return "must not contain control characters"
	}
	return ""
}
