package signalbox

import (
	"context"
	"encoding/json"
	"iter"
	"net/url"
	"time"

	"github.com/signalbox/signalbox/client/flageval"
)

const (
	flagKind              = "flag"
	flagsCollection       = "flags"
	flagSourcesCollection = "flag_sources"
)

// Flag is a typed, named decision.
type Flag struct {
	Resource
	// Name is what people call it.
	Name string `json:"name"`
	// Description says what it is for; nil means nothing.
	Description *string `json:"description"`
	// Type is what its values are.
	Type flageval.Type `json:"type"`
	// Default is what is served when nothing else is.
	Default json.RawMessage `json:"default"`
	// Values are all that it may serve; nil for any value of its type. A
	// BOOLEAN flag always has two.
	Values []FlagChoice `json:"values"`
	// Managed tells whether people control it. It is false for a flag that
	// services declared and nobody configured yet.
	Managed bool `json:"managed"`
	// Environments are its configuration, by environment.
	Environments map[string]flageval.Environment `json:"environments"`
	// LastSeen is when a service last declared it, and LastEvaluated when one
	// last reported that it used it; nil for never.
	LastSeen      *time.Time `json:"last_seen"`
	LastEvaluated *time.Time `json:"last_evaluated"`
	// CreatedAt and UpdatedAt are when it was made and last changed.
	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"`
}

// FlagChoice is one of the values that a flag may serve.
type FlagChoice struct {
	// Name is what people call it.
	Name string `json:"name"`
	// Value is of the flag's type.
	Value json.RawMessage `json:"value"`
}

// FlagDraft is what a flag is to become.
type FlagDraft struct {
	// Name is what people call it. An empty one is made from the id for a new
	// flag, and stays as it is on a replace.
	Name string `json:"name,omitempty"`
	// Description says what it is for. nil means nothing, and clears the one
	// that is stored.
	Description *string `json:"description"`
	// Type is what its values are.
	Type flageval.Type `json:"type"`
	// Default is what is served when nothing else is. nil is a JSON null, which
	// only a JSON flag may have.
	Default json.RawMessage `json:"default"`
	// Values are all that it may serve; nil for any value of its type.
	Values []FlagChoice `json:"values"`
	// Managed stays as it is when it is nil; a new flag is managed. A
	// discovered flag must become managed to be configured for environments,
	// and no flag becomes discovered again.
	Managed *bool `json:"managed,omitempty"`
	// Environments are its configuration, by environment. One that is not
	// Enabled serves its default and asks no rules.
	Environments map[string]flageval.Environment `json:"environments"`
}

// FlagParams choose flags.
type FlagParams struct {
	Paging
	// Search is a part of the id or the name, in any case.
	Search string
	// Type is the one to list; empty lists all.
	Type flageval.Type
	// Managed is the state to list; nil lists both.
	Managed *bool
	// ReferencesContext is the id of a context, see [ContextID]: the flags with
	// a rule that compares its key are listed.
	ReferencesContext string
	// ReferencesContextType is the id of a context type: the flags with a rule
	// that reads anything of such contexts are listed.
	ReferencesContextType string
}

// FlagSource is one service that declares a flag in one environment.
type FlagSource struct {
	Resource
	// Flag is the id of the flag.
	Flag string `json:"flag"`
	// Service and Environment are what declared it.
	Service     string `json:"service"`
	Environment string `json:"environment"`
	// DeclaredType and DeclaredDefault are what the code says. They need not be
	// the flag's own: the first declaration decided those.
	DeclaredType    flageval.Type   `json:"declared_type"`
	DeclaredDefault json.RawMessage `json:"declared_default"`
	// FirstObserved and LastSeen are when it was first and last reported.
	FirstObserved time.Time `json:"first_observed"`
	LastSeen      time.Time `json:"last_seen"`
	// CreatedAt and UpdatedAt are when it was made, and when what it reports
	// last changed.
	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"`
}

// ReportedFlag is a flag that a running service declares.
type ReportedFlag struct {
	// ID is the flag's.
	ID string `json:"id"`
	// Type is what its values are.
	Type flageval.Type `json:"type"`
	// Default is what the code falls back to. nil is a JSON null, which only a
	// JSON flag may have.
	Default json.RawMessage `json:"default"`
	// Service and Environment are where it is; empty for unknown.
	Service     string `json:"service,omitempty"`
	Environment string `json:"environment,omitempty"`
}

// FlagEvaluation is the value that a context gets, and why. Its id is the
// flag's.
type FlagEvaluation struct {
	Resource
	// Environment is the one that was asked for.
	Environment string `json:"environment"`
	// Value is what is served.
	Value json.RawMessage `json:"value"`
	// Reason is why it is this value.
	Reason flageval.Reason `json:"reason"`
	// Rule is the index of the rule that decided; nil when none did.
	Rule *int `json:"rule"`
	// Explanation has every rule with the result of each of its steps.
	Explanation flageval.Explanation `json:"explanation"`
}

// FlagsAPI is the flags of the account.
type FlagsAPI struct{ transport *transport }

// Draft is the draft that changes nothing.
func (f Flag) Draft() FlagDraft {
	return FlagDraft{Name: f.Name, Description: f.Description, Type: f.Type, Default: f.Default, Values: f.Values,
		Managed: &f.Managed, Environments: f.Environments}
}

// Definition is what package flageval evaluates.
func (f Flag) Definition() flageval.Definition {
	return flageval.Definition{Key: f.ID, Type: f.Type, Default: f.Default, Environments: f.Environments}
}

func (p FlagParams) query() url.Values {
	query := p.Paging.query()
	filter(query, "search", p.Search)
	filter(query, "type", string(p.Type))
	filterBool(query, "managed", p.Managed)
	filter(query, "references_context", p.ReferencesContext)
	filter(query, "references_context_type", p.ReferencesContextType)
	return query
}

// List gives one page of flags.
func (a FlagsAPI) List(ctx context.Context, params FlagParams) (Page[Flag], error) {
	return listed[Flag](ctx, a.transport, params.query(), flagsCollection)
}

// All gives every flag from the page of the params on. It ends after the first
// error.
func (a FlagsAPI) All(ctx context.Context, params FlagParams) iter.Seq2[Flag, error] {
	return every(params.Paging, func(paging Paging) (Page[Flag], error) {
		params.Paging = paging
		return a.List(ctx, params)
	})
}

// Get gives one flag.
func (a FlagsAPI) Get(ctx context.Context, id string) (Flag, error) {
	return one[Flag](ctx, a.transport, get(flagsCollection, id))
}

// Create makes a managed flag. The plan bounds its rules over all environments:
// see [IsLimitReached]. It needs the role MEMBER.
func (a FlagsAPI) Create(ctx context.Context, id string, draft FlagDraft) (Flag, error) {
	return one[Flag](ctx, a.transport, post(enclose(flagKind, id, draft), flagsCollection))
}

// Replace changes a flag. A discovered one takes no configuration for
// environments unless the draft makes it managed: see [IsFlagUnmanaged]. What
// is stored for environments that are not managed stays, and to change it is
// refused: see [IsEnvironmentUnmanaged]. It needs the role MEMBER.
func (a FlagsAPI) Replace(ctx context.Context, id string, draft FlagDraft, options ...WriteOption) (Flag, error) {
	return one[Flag](ctx, a.transport, put(enclose(flagKind, id, draft), flagsCollection, id).with(options))
}

// Delete removes a flag until a service declares it again. It needs the role
// MEMBER.
func (a FlagsAPI) Delete(ctx context.Context, id string, options ...WriteOption) error {
	_, err := a.transport.call(ctx, remove(flagsCollection, id).with(options), nil)
	return err
}

// Sources gives one page of where a flag is declared; without an id, of where
// all flags are.
func (a FlagsAPI) Sources(ctx context.Context, id string, params SourceParams) (Page[FlagSource], error) {
	return sources[FlagSource](ctx, a.transport, params, flagSourcesCollection, flagsCollection, id)
}

// AllSources gives every source from the page of the params on. It ends after
// the first error.
func (a FlagsAPI) AllSources(ctx context.Context, id string, params SourceParams) iter.Seq2[FlagSource, error] {
	return every(params.Paging, func(paging Paging) (Page[FlagSource], error) {
		params.Paging = paging
		return a.Sources(ctx, id, params)
	})
}

// Report tells the server which flags a service declares. Those that are new
// become discovered flags. Items that it does not take are listed in the
// result, and the others are kept. Every role may report.
func (a FlagsAPI) Report(ctx context.Context, flags []ReportedFlag) (Reported, error) {
	return report(ctx, a.transport, flagsCollection, flags)
}

// Evaluate asks which value a context gets in an environment, and why. The
// context has a member for each type of context, such as
// {"user": {"key": "alice", "plan": "gold"}}; nil is an empty one. To serve
// flags, evaluate them with package flageval instead. Every role may ask.
func (a FlagsAPI) Evaluate(ctx context.Context, id, environment string, evaluated map[string]any) (FlagEvaluation, error) {
	r := post(map[string]any{"environment": environment, "context": evaluated}, flagsCollection, id, "actions", "evaluate")
	r.repeatable = true // it changes nothing
	return one[FlagEvaluation](ctx, a.transport, r)
}
