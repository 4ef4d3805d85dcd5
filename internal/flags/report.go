package flags

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/signalbox/signalbox/client/flageval"
	"github.com/signalbox/signalbox/internal/accounts"
	"github.com/signalbox/signalbox/internal/naming"
	"github.com/signalbox/signalbox/internal/observations"
	"github.com/signalbox/signalbox/internal/rawjson"
)

// Declaration is one flag as a running service declares it.
type Declaration struct {
	Key         string
	Type        string
	Default     json.RawMessage // nil is null
	Service     string
	Environment string
}

// source returns the declared source, and the problem of the declaration or "".
func (d Declaration) source(caller accounts.Caller) (Source, string) {
	kind, known := ParseType(d.Type)
	source := Source{Account: caller.Account, Flag: d.Key, Service: d.Service, Environment: d.Environment, DeclaredType: kind, DeclaredDefault: d.Default}
	if d.Default == nil {
		source.DeclaredDefault = json.RawMessage("null")
	}
	switch {
	case !naming.IsKey(d.Key, naming.MaxKey):
		return source, "id " + naming.KeyRule(naming.MaxKey)
	case !known:
		return source, "type must be BOOLEAN, STRING, NUMERIC or JSON"
	case len(d.Default) > SmallBytes:
		return source, fmt.Sprintf("default must have at most %d bytes as JSON", SmallBytes)
	case d.Default == nil && kind != flageval.JSON:
		return source, "default is required and must be " + noun(kind)
	case !flageval.Fits(kind, source.DeclaredDefault):
		return source, "default must be " + noun(kind) + ", as the flag is " + string(kind)
	}
	return source, source.SourceKey().Check(caller)
}

// Report stores the declarations of services: new flags are discovered, and every
// declaration refreshes its source. The first declaration of a flag decides its
// type and default. Every role may report.
func (s *Service) Report(ctx context.Context, caller accounts.Caller, declarations []Declaration) (observations.Outcome, error) {
	report := observations.ReadReport(declarations, func(each Declaration) (Source, string) { return each.source(caller) })
	return s.sources.Report(ctx, s.reports(), caller, report)
}

// reports returns how package observations handles reports of flags.
func (s *Service) reports() observations.Product[ReadTx, Tx, Source] {
	return observations.Product[ReadTx, Tx, Source]{
		Store: s.Reports, Reading: func(tx Tx) ReadTx { return tx }, Refreshes: s.Refreshes, Slots: s.Slots, Seen: observations.FlagSourceSeen,
		Kind: Kind, MaxResources: MaxFlags,
		Known: ReadTx.KnownFlagSources, CountResources: ReadTx.CountFlags, CountSources: ReadTx.CountFlagSources,
		Kinds: func(tx ReadTx, ctx context.Context, account string, names []string) (map[string]string, error) {
			existing, err := tx.ExistingFlags(ctx, account, names)
			kinds := make(map[string]string, len(existing))
			for _, key := range existing {
				kinds[key] = Kind
			}
			return kinds, err
		},
		Create: func(tx Tx, ctx context.Context, declared []Source) error {
			return tx.CreateFlags(ctx, discovered(declared, tx.Now()))
		},
		Save: func(tx Tx, ctx context.Context, sources []Source) error {
			for i := range sources {
				sources[i].ID = sources[i].SourceKey().ID(sources[i].Account) // existing sources keep their id
				sources[i].FirstObserved, sources[i].LastSeen, sources[i].CreatedAt, sources[i].UpdatedAt = tx.Now(), tx.Now(), tx.Now(), tx.Now()
			}
			return tx.SaveFlagSources(ctx, sources)
		},
	}
}

// discovered returns new flags as declared.
func discovered(declared []Source, now time.Time) []Flag {
	flags, choices := make([]Flag, len(declared)), booleanChoices()
	for i, source := range declared {
		flags[i] = Flag{Account: source.Account, Key: source.Flag, Name: readable(source.Flag), Type: source.DeclaredType,
			Default: source.DeclaredDefault, Environments: map[string]Environment{}, CreatedAt: now, UpdatedAt: now}
		if source.DeclaredType == flageval.Boolean {
			flags[i].Values = choices
		}
	}
	return flags
}

// Evaluated returns the flag whose evaluations a metric counts, or "".
func Evaluated(metric observations.Metric) string {
	var dimensions struct {
		Flag string `json:"flag"`
	}
	if json.Unmarshal(metric.Dimensions, &dimensions) != nil || !naming.IsKey(dimensions.Flag, naming.MaxKey) {
		return ""
	}
	return dimensions.Flag
}

// Source records that a service declares a flag in an environment.
type Source struct {
	ID              string          `json:"-"`
	Account         string          `json:"-"`
	Flag            string          `json:"flag"`
	Service         string          `json:"service"`
	Environment     string          `json:"environment"`
	DeclaredType    flageval.Type   `json:"declared_type"`
	DeclaredDefault json.RawMessage `json:"declared_default"`
	FirstObserved   time.Time       `json:"first_observed"`
	LastSeen        time.Time       `json:"last_seen"`
	CreatedAt       time.Time       `json:"created_at"`
	UpdatedAt       time.Time       `json:"updated_at"`
}

// SourceKey returns the flag, service and environment of the source.
func (s Source) SourceKey() observations.SourceKey {
	return observations.SourceKey{Name: s.Flag, Service: s.Service, Environment: s.Environment}
}

// SourceID returns the source's id.
func (s Source) SourceID() string { return s.ID }

// Agrees reports whether both sources declare the same type and default.
func (s Source) Agrees(with Source) bool {
	return s.DeclaredType == with.DeclaredType && rawjson.Same(s.DeclaredDefault, with.DeclaredDefault)
}

// Describes returns true: every declaration has the flag's type and default.
func (s Source) Describes() bool { return true }
