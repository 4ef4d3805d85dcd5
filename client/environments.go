package signalbox

import (
	"context"
	"iter"
	"net/url"
	"time"
)

const (
	environmentKind        = "environment"
	environmentsCollection = "environments"
)

// Classification decides who sees an environment by default.
type Classification string

// The classifications. Everybody sees a standard environment; an ad-hoc one is
// seen by those who asked for it.
const (
	ClassificationStandard Classification = "STANDARD"
	ClassificationAdHoc    Classification = "AD_HOC"
)

// Environment is a deployment target.
type Environment struct {
	Resource
	// Name is what people call it.
	Name string `json:"name"`
	// Color is a hex color such as "#0a7", or nil.
	Color *string `json:"color"`
	// Classification decides who sees it by default.
	Classification Classification `json:"classification"`
	// Managed tells whether values for it may be written. Managed environments
	// count against the plan.
	Managed bool `json:"managed"`
	// CreatedAt and UpdatedAt are when it was made and last changed.
	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"`
}

// EnvironmentDraft is what an environment is to become.
type EnvironmentDraft struct {
	// Name is what people call it.
	Name string `json:"name"`
	// Color is a hex color such as "#0a7". nil means none, and clears the one
	// that is stored.
	Color *string `json:"color"`
	// Classification stays as it is when it is empty.
	Classification Classification `json:"classification,omitempty"`
	// Managed stays as it is when it is nil.
	Managed *bool `json:"managed,omitempty"`
}

// EnvironmentUsage counts the values that an account holds for an environment.
type EnvironmentUsage struct {
	Resource
	// FlagRules and FlagDefaults are of flags.
	FlagRules    int `json:"flag_rules"`
	FlagDefaults int `json:"flag_env_defaults"`
	// ConfigOverrides are values of configurations.
	ConfigOverrides int `json:"config_overrides"`
	// LoggerOverrides are levels of loggers and groups.
	LoggerOverrides int `json:"logger_overrides"`
}

// EnvironmentParams choose environments.
type EnvironmentParams struct {
	Paging
	// Search is a part of the id or the name, in any case.
	Search string
	// Classification is the one to list; empty lists both.
	Classification Classification
	// Managed is the state to list; nil lists both.
	Managed *bool
}

// EnvironmentsAPI is the environments of the account.
type EnvironmentsAPI struct{ transport *transport }

// Draft is the draft that changes nothing.
func (e Environment) Draft() EnvironmentDraft {
	return EnvironmentDraft{Name: e.Name, Color: e.Color, Classification: e.Classification, Managed: &e.Managed}
}

func (p EnvironmentParams) query() url.Values {
	query := p.Paging.query()
	filter(query, "search", p.Search)
	filter(query, "classification", string(p.Classification))
	filterBool(query, "managed", p.Managed)
	return query
}

// List gives one page of environments.
func (a EnvironmentsAPI) List(ctx context.Context, params EnvironmentParams) (Page[Environment], error) {
	return listed[Environment](ctx, a.transport, params.query(), environmentsCollection)
}

// All gives every environment from the page of the params on. It ends after
// the first error.
func (a EnvironmentsAPI) All(ctx context.Context, params EnvironmentParams) iter.Seq2[Environment, error] {
	return every(params.Paging, func(paging Paging) (Page[Environment], error) {
		params.Paging = paging
		return a.List(ctx, params)
	})
}

// Get gives one environment.
func (a EnvironmentsAPI) Get(ctx context.Context, id string) (Environment, error) {
	return one[Environment](ctx, a.transport, get(environmentsCollection, id))
}

// Create makes an environment. It is always standard and managed, whatever
// the draft says, and so takes a slot of the plan: see [IsLimitReached]. It
// needs the role ADMIN.
func (a EnvironmentsAPI) Create(ctx context.Context, id string, draft EnvironmentDraft) (Environment, error) {
	return one[Environment](ctx, a.transport, post(enclose(environmentKind, id, draft), environmentsCollection))
}

// Replace changes an environment. To set Managed takes a slot of the plan: see
// [IsLimitReached]. Production cannot be demoted: see [IsEnvironmentProtected].
// It needs the role ADMIN.
func (a EnvironmentsAPI) Replace(ctx context.Context, id string, draft EnvironmentDraft, options ...WriteOption) (Environment, error) {
	return one[Environment](ctx, a.transport, put(enclose(environmentKind, id, draft), environmentsCollection, id).with(options))
}

// Delete removes an environment. Values that flags, loggers and configurations
// hold for it stay, and count again if it comes back. It needs the role ADMIN.
func (a EnvironmentsAPI) Delete(ctx context.Context, id string, options ...WriteOption) error {
	_, err := a.transport.call(ctx, remove(environmentsCollection, id).with(options), nil)
	return err
}

// DeleteWithValues removes an environment and every value that is held for it.
// It needs the role ADMIN.
func (a EnvironmentsAPI) DeleteWithValues(ctx context.Context, id string, options ...WriteOption) error {
	r := remove(environmentsCollection, id).with(options)
	r.query = url.Values{"cascade": {"true"}}
	_, err := a.transport.call(ctx, r, nil)
	return err
}

// Usage counts the values that are held for an environment.
func (a EnvironmentsAPI) Usage(ctx context.Context, id string) (EnvironmentUsage, error) {
	return one[EnvironmentUsage](ctx, a.transport, get(environmentsCollection, id, "usage"))
}
