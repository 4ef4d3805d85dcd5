package signalbox

import (
	"context"
	"encoding/json"
	"iter"
	"net/url"
	"time"

	"github.com/signalbox/signalbox/client/flageval"
)

const flagSourcesPath = "flag_sources"

// Flag is a feature flag.
type Flag struct {
	Resource
	Name        string        `json:"name"`
	Description *string       `json:"description"`
	Type        flageval.Type `json:"type"`
	// Default is served when no environment's configuration decides.
	Default json.RawMessage `json:"default"`
	// Values are all values that the flag may serve; nil allows every value of its type. A BOOLEAN flag always has two.
	Values []FlagChoice `json:"values"`
	// Managed reports whether people control the flag. A flag that only services have declared is not managed.
	Managed bool `json:"managed"`
	// Environments are the flag's configuration by environment.
	Environments map[string]flageval.Environment `json:"environments"`
	// LastSeen is when a service last declared the flag, LastEvaluated when a service last reported using it; nil is never.
	LastSeen      *time.Time `json:"last_seen"`
	LastEvaluated *time.Time `json:"last_evaluated"`
	// Stale says why the flag is stale. Only Get, and lists with FlagParams.Stale, set it; it is nil if the flag is not stale.
	Stale *FlagStale `json:"stale,omitempty"`
	Timestamps
}

// FlagStale says since when and why a flag can probably be removed.
type FlagStale struct {
	// Since is when the flag was last used, evaluated or changed.
	Since  time.Time       `json:"since"`
	Reason FlagStaleReason `json:"reason"`
}

// FlagStaleReason is why a flag is stale. The numbers of days below are the defaults; see [Settings].
type FlagStaleReason string

// The reasons of stale flags.
const (
	// FlagNotDeclared: no service declared or evaluated the flag for 30 days.
	FlagNotDeclared FlagStaleReason = "not_declared"
	// FlagNotEvaluated: services declare the flag, but none evaluated it for 30 days.
	FlagNotEvaluated FlagStaleReason = "not_evaluated"
	// FlagOneValue: the flag serves one value in every environment and was not changed for 90 days.
	FlagOneValue FlagStaleReason = "one_value"
)

// FlagChoice is one of the values that a flag may serve.
type FlagChoice struct {
	Name  string          `json:"name"`
	Value json.RawMessage `json:"value"`
}

// FlagDraft creates or replaces a flag.
type FlagDraft struct {
	// Name may be empty: a new flag then gets a name made from its id, and a replace keeps the stored name.
	Name        string        `json:"name,omitempty"`
	Description *string       `json:"description"`
	Type        flageval.Type `json:"type"`
	// Default is served when no environment's configuration decides. nil is a JSON null, which only a JSON flag may have.
	Default json.RawMessage `json:"default"`
	// Values are all values that the flag may serve; nil allows every value of its type.
	Values []FlagChoice `json:"values"`
	// A nil Managed keeps the current state; a new flag is managed. An unmanaged flag must become managed to be
	// configured for environments. A managed flag cannot become unmanaged.
	Managed *bool `json:"managed,omitempty"`
	// Environments are the configuration by environment. Without Enabled, an environment ignores its rules.
	Environments map[string]flageval.Environment `json:"environments"`
}

// FlagParams filter flags.
type FlagParams struct {
	Paging
	// Search is a part of the id or the name, ignoring case.
	Search string
	// Type to list; empty lists all.
	Type flageval.Type
	// Managed lists only managed or only unmanaged flags; nil lists both.
	Managed *bool
	// ReferencesContext is a context's id, see [ContextID]. It lists flags with a rule that compares the context's key.
	ReferencesContext string
	// ReferencesContextType is a context type's id. It lists flags with a rule that reads contexts of this type.
	ReferencesContextType string
	// Stale lists only stale flags, or only the others; nil lists both.
	Stale *bool
}

// FlagSource is one service that declares a flag in one environment. UpdatedAt is when the declaration last changed.
type FlagSource struct {
	Resource
	Flag        string `json:"flag"`
	Service     string `json:"service"`
	Environment string `json:"environment"`
	// DeclaredType and DeclaredDefault are this service's declaration. The flag's own type and default come from the
	// first declaration.
	DeclaredType    flageval.Type   `json:"declared_type"`
	DeclaredDefault json.RawMessage `json:"declared_default"`
	// FirstObserved and LastSeen are when the service first and last reported the flag.
	FirstObserved time.Time `json:"first_observed"`
	LastSeen      time.Time `json:"last_seen"`
	Timestamps
}

// ReportedFlag is a flag that a running service declares.
type ReportedFlag struct {
	ID   string        `json:"id"`
	Type flageval.Type `json:"type"`
	// Default is the fallback in the code. nil is a JSON null, which only a JSON flag may have.
	Default json.RawMessage `json:"default"`
	// Service and Environment are where the flag is declared; empty for unknown.
	Service     string `json:"service,omitempty"`
	Environment string `json:"environment,omitempty"`
}

// FlagEvaluation is the value that a context gets, and why. Its id is the flag's.
type FlagEvaluation struct {
	Resource
	Environment string          `json:"environment"`
	Value       json.RawMessage `json:"value"`
	Reason      flageval.Reason `json:"reason"`
	// Rule is the index of the rule that decided; nil when none did.
	Rule *int `json:"rule"`
	// Explanation has every rule with the result of each of its steps.
	Explanation flageval.Explanation `json:"explanation"`
}

// FlagsAPI manages the flags of the account.
type FlagsAPI struct{ flags collection[Flag, *Flag] }

// Draft returns a draft of the flag's current state.
func (f Flag) Draft() FlagDraft {
	return FlagDraft{Name: f.Name, Description: f.Description, Type: f.Type, Default: f.Default, Values: f.Values,
		Managed: &f.Managed, Environments: f.Environments}
}

// Definition returns the flag for package flageval to compile.
func (f Flag) Definition() flageval.Definition {
	return flageval.Definition{Key: f.ID, Type: f.Type, Default: f.Default, Environments: f.Environments}
}

func (p FlagParams) query() url.Values {
	return filtered(p.Paging.query(), "search", p.Search, "type", string(p.Type), "managed", boolFilter(p.Managed),
		"references_context", p.ReferencesContext, "references_context_type", p.ReferencesContextType, "stale", boolFilter(p.Stale))
}

// Get returns a flag with its configuration of every environment. [IsNotFound] reports that there is no flag with this
// id. Any role may read.
func (a FlagsAPI) Get(ctx context.Context, id string) (Flag, error) { return a.flags.get(ctx, id) }

// List returns one page of flags, by default in the order of their ids. [Paging.Sort] takes key (the id), name, type,
// created_at and updated_at. Any role may read.
func (a FlagsAPI) List(ctx context.Context, params FlagParams) (Page[Flag], error) {
	return a.flags.list(ctx, params)
}

// All iterates over every flag that params select, starting at their page. It ends after the first error.
func (a FlagsAPI) All(ctx context.Context, params FlagParams) iter.Seq2[Flag, error] {
	return a.flags.all(ctx, params)
}

// Create creates a managed flag. [IsAlreadyExists] reports that its id is in use. The plan limits its rules over all
// environments: see [IsLimitReached]. It needs the role MEMBER.
func (a FlagsAPI) Create(ctx context.Context, id string, draft FlagDraft, options ...WriteOption) (Flag, error) {
	return a.flags.create(ctx, id, draft, options)
}

// Replace replaces a flag. [IsNotFound] reports that there is none with this id. An unmanaged flag cannot be configured
// for environments unless the draft makes it managed: see [IsFlagUnmanaged]. Stored values for unmanaged environments stay
// and cannot be changed: see [IsEnvironmentUnmanaged]. It needs the role MEMBER.
func (a FlagsAPI) Replace(ctx context.Context, id string, draft FlagDraft, options ...WriteOption) (Flag, error) {
	return a.flags.replace(ctx, id, draft, options)
}

// Apply replaces a flag, or creates it if there is none. Afterward the flag is managed, even if only services had declared
// it before. It needs the role MEMBER.
func (a FlagsAPI) Apply(ctx context.Context, id string, draft FlagDraft, options ...WriteOption) (Flag, error) {
	if draft.Managed == nil {
		draft.Managed = new(true)
	}
	return a.flags.apply(ctx, id, draft, options)
}

// Delete deletes a flag until a service declares it again. It needs the role MEMBER.
func (a FlagsAPI) Delete(ctx context.Context, id string, options ...WriteOption) error {
	return a.flags.delete(ctx, id, options)
}

// Sources returns one page of the sources of a flag; an empty id selects the sources of every flag.
func (a FlagsAPI) Sources(ctx context.Context, id string, params SourceParams) (Page[FlagSource], error) {
	return listPage[FlagSource](ctx, a.flags.transport, params.query(), sourcesPath(flagSourcesPath, a.flags.path, id)...)
}

// AllSources iterates over every source, starting at the page of params. It ends after the first error.
func (a FlagsAPI) AllSources(ctx context.Context, id string, params SourceParams) iter.Seq2[FlagSource, error] {
	return allPages[FlagSource](ctx, a.flags.transport, params, sourcesPath(flagSourcesPath, a.flags.path, id)...)
}

// Report sends the flags that a service declares. A new flag becomes an unmanaged flag. Any role may report.
func (a FlagsAPI) Report(ctx context.Context, flags []ReportedFlag) (Reported, error) {
	return report(ctx, a.flags.transport, a.flags.path, flags)
}

// Evaluate asks the server which value a context gets in an environment, and why. The context has a member for each type
// of context, such as {"user": {"key": "alice", "plan": "gold"}}; nil is an empty context. To serve flags, evaluate them
// with package flageval instead. Any role may evaluate.
func (a FlagsAPI) Evaluate(ctx context.Context, id, environment string, evaluated map[string]any) (FlagEvaluation, error) {
	r := send(map[string]any{"environment": environment, "context": evaluated}, a.flags.path, id, "actions", "evaluate")
	r.repeatable = true // an evaluation changes nothing
	return fetch[FlagEvaluation](ctx, a.flags.transport, r)
}
