package signalbox

import (
	"context"
	"iter"
	"net/url"
)

// Classification decides who sees an environment by default.
type Classification string

// The classifications. Everybody sees a standard environment; only users who asked for an ad-hoc environment see it.
const (
	ClassificationStandard Classification = "STANDARD"
	ClassificationAdHoc    Classification = "AD_HOC"
)

// Environment is a deployment target.
type Environment struct {
	Resource
	Name string `json:"name"`
	// Color is a hex color such as "#0a7", or nil.
	Color          *string        `json:"color"`
	Classification Classification `json:"classification"`
	// Managed reports whether values for the environment may be written. Managed environments count against the plan.
	Managed bool `json:"managed"`
	Timestamps
}

// EnvironmentDraft creates or replaces an environment.
type EnvironmentDraft struct {
	Name string `json:"name"`
	// Color is a hex color such as "#0a7"; nil is none.
	Color *string `json:"color"`
	// Classification is not changed when it is empty.
	Classification Classification `json:"classification,omitempty"`
	// Managed is not changed when it is nil.
	Managed *bool `json:"managed,omitempty"`
}

// EnvironmentUsage counts the values that an account stores for an environment.
type EnvironmentUsage struct {
	Resource
	FlagRules       int `json:"flag_rules"`
	FlagDefaults    int `json:"flag_env_defaults"`
	ConfigOverrides int `json:"config_overrides"`
	// LoggerOverrides counts levels of loggers and of log groups.
	LoggerOverrides int `json:"logger_overrides"`
}

// EnvironmentParams filter environments.
type EnvironmentParams struct {
	Paging
	// Search is a part of the id or the name, ignoring case.
	Search string
	// Classification to list; empty lists both.
	Classification Classification
	// Managed lists only managed or only unmanaged environments; nil lists both.
	Managed *bool
}

// EnvironmentsAPI manages the environments of the account.
type EnvironmentsAPI struct {
	environments collection[Environment, *Environment]
}

// Draft returns a draft of the environment's current state.
func (e Environment) Draft() EnvironmentDraft {
	return EnvironmentDraft{Name: e.Name, Color: e.Color, Classification: e.Classification, Managed: &e.Managed}
}

func (p EnvironmentParams) query() url.Values {
	return filtered(p.Paging.query(), "search", p.Search, "classification", string(p.Classification), "managed", boolFilter(p.Managed))
}

// Get returns an environment. [IsNotFound] reports that there is no environment with this id. Any role may read.
func (a EnvironmentsAPI) Get(ctx context.Context, id string) (Environment, error) {
	return a.environments.get(ctx, id)
}

// List returns one page of environments, by default in the order of their names. [Paging.Sort] takes name, key (the
// id), created_at and updated_at. Any role may read.
func (a EnvironmentsAPI) List(ctx context.Context, params EnvironmentParams) (Page[Environment], error) {
	return a.environments.list(ctx, params)
}

// All iterates over every environment that params select, starting at their page. It ends after the first error.
func (a EnvironmentsAPI) All(ctx context.Context, params EnvironmentParams) iter.Seq2[Environment, error] {
	return a.environments.all(ctx, params)
}

// Create creates an environment. It is standard and managed, whatever the draft says, and counts against the plan: see
// [IsLimitReached]. [IsAlreadyExists] reports that its id is in use. It needs the role ADMIN.
func (a EnvironmentsAPI) Create(ctx context.Context, id string, draft EnvironmentDraft, options ...WriteOption) (Environment, error) {
	return a.environments.create(ctx, id, draft, options)
}

// Replace replaces an environment. Setting Managed counts against the plan: see [IsLimitReached]. Production stays
// managed: see [IsEnvironmentProtected]. It needs the role ADMIN.
func (a EnvironmentsAPI) Replace(ctx context.Context, id string, draft EnvironmentDraft, options ...WriteOption) (Environment, error) {
	return a.environments.replace(ctx, id, draft, options)
}

// Apply replaces an environment, or creates it if there is none. It needs the role ADMIN.
func (a EnvironmentsAPI) Apply(ctx context.Context, id string, draft EnvironmentDraft, options ...WriteOption) (Environment, error) {
	return a.environments.apply(ctx, id, draft, options)
}

// Delete deletes an environment. The values of flags, loggers and configs for it stay, and are used again if an
// environment with this id is created. [IsEnvironmentProtected] reports that it cannot be deleted. It needs the role ADMIN.
func (a EnvironmentsAPI) Delete(ctx context.Context, id string, options ...WriteOption) error {
	return a.environments.delete(ctx, id, options)
}

// DeleteWithValues deletes an environment and every value that is stored for it. [IsEnvironmentProtected] reports that
// it cannot be deleted. It needs the role ADMIN.
func (a EnvironmentsAPI) DeleteWithValues(ctx context.Context, id string, options ...WriteOption) error {
	cascade := func(r *request) { r.ask("cascade", "true") }
	return a.environments.delete(ctx, id, append(options, cascade))
}

// Usage counts the values that are stored for an environment. Any role may read.
func (a EnvironmentsAPI) Usage(ctx context.Context, id string) (EnvironmentUsage, error) {
	return fetch[EnvironmentUsage](ctx, a.environments.transport, get(a.environments.path, id, "usage"))
}
