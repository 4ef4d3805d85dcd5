package flags

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/signalbox/signalbox/client/flageval"
	"github.com/signalbox/signalbox/internal/accounts"
	"github.com/signalbox/signalbox/internal/bulk"
	"github.com/signalbox/signalbox/internal/changes"
	"github.com/signalbox/signalbox/internal/naming"
	"github.com/signalbox/signalbox/internal/rawjson"
	"github.com/signalbox/signalbox/internal/transaction"
)

// Declaration is one flag as a running service declares it.
type Declaration struct {
	Key         string
	Type        string
	Default     json.RawMessage // nil is null
	Service     string
	Environment string
}

// SourceKey is what a source is one of.
type SourceKey struct{ Flag, Service, Environment string }

func (d Declaration) check(caller accounts.Caller) string {
	kind, known := ParseType(d.Type)
	switch {
	case !naming.IsKey(d.Key, naming.MaxKey):
		return "id " + naming.KeyRule(naming.MaxKey)
	case !known:
		return "type must be BOOLEAN, STRING, NUMERIC or JSON"
	case len(d.Default) > smallBytes:
		return fmt.Sprintf("default must have at most %d bytes as JSON", smallBytes)
	case d.Default == nil && kind != flageval.JSON:
		return "default is required and must be " + noun(kind)
	case !flageval.Fits(kind, d.base()):
		return "default must be " + noun(kind) + ", as the flag is " + string(kind)
	case !reportable(d.Service):
		return "service must have 1 to 255 characters and no control characters"
	case !reportable(d.Environment):
		return "environment must have 1 to 255 characters and no control characters"
	case caller.RequireEnvironment(d.Environment) != nil:
		return "environment must be one that this key may report"
	}
	return ""
}

func reportable(name string) bool { return naming.IsLabel(name, maxName) }

func (d Declaration) base() json.RawMessage {
	if d.Default == nil {
		return json.RawMessage("null")
	}
	return d.Default
}

func (d Declaration) source() SourceKey { return SourceKey{d.Key, d.Service, d.Environment} }

// Report takes what services declare: new flags are discovered, and every
// declaration refreshes its source. The first declaration of a flag decides its
// type and default. Every role may call it.
func (s *Service) Report(ctx context.Context, caller accounts.Caller, declarations []Declaration) (bulk.Outcome, error) {
	report := newReport(caller, declarations)
	if len(report.order) == 0 {
		return bulk.Outcome{Rejected: report.rejected}, nil
	}
	return transaction.Write(ctx, s.Store, caller.Account, func(tx Tx) (bulk.Outcome, error) { return report.write(ctx, tx, caller) })
}

// report is the work of one bulk report.
type report struct {
	order    []SourceKey // distinct, in the order of the report
	latest   map[SourceKey]Declaration
	keys     []string // distinct flags
	first    map[string]Declaration
	rejected []bulk.Rejected
}

func newReport(caller accounts.Caller, declarations []Declaration) *report {
	r := &report{latest: map[SourceKey]Declaration{}, first: map[string]Declaration{}}
	for index, declaration := range declarations {
		if wrong := declaration.check(caller); wrong != "" {
			r.rejected = append(r.rejected, bulk.Rejected{Index: index, Detail: wrong + "."})
			continue
		}
		key := declaration.source()
		if _, repeated := r.latest[key]; !repeated {
			r.order = append(r.order, key)
		}
		r.latest[key] = declaration
		if _, seen := r.first[key.Flag]; !seen {
			r.first[key.Flag] = declaration
			r.keys = append(r.keys, key.Flag)
		}
	}
	return r
}

func (r *report) write(ctx context.Context, tx Tx, caller accounts.Caller) (bulk.Outcome, error) {
	rest, err := r.refresh(ctx, tx, caller.Account)
	if err != nil || len(rest) == 0 {
		return bulk.Outcome{Registered: len(r.order), Rejected: r.rejected}, err
	}
	sources, err := tx.KnownFlagSources(ctx, caller.Account, rest)
	if err != nil {
		return bulk.Outcome{}, err
	}
	flags, err := r.discover(ctx, tx, caller, rest, sources)
	if err != nil {
		return bulk.Outcome{}, err
	}
	kept, err := r.observe(ctx, tx, caller.Account, rest, flags, sources)
	return bulk.Outcome{Registered: len(r.order) - len(rest) + kept, Rejected: r.rejected}, err
}

// refresh does all that most declarations need and gives the others, which are
// new or say something else.
func (r *report) refresh(ctx context.Context, tx Tx, account string) ([]SourceKey, error) {
	sources := make([]Source, len(r.order))
	for i, key := range r.order {
		sources[i] = r.latest[key].seen(account, tx.Now())
	}
	return tx.RefreshFlagSources(ctx, sources)
}

// discover makes the flags that do not exist, up to the cap, and gives all
// that do. A flag that has a source exists: most reports need to look no further.
func (r *report) discover(ctx context.Context, tx Tx, caller accounts.Caller, rest []SourceKey, sources map[SourceKey]Source) (map[string]bool, error) {
	known := r.refreshed(rest)
	for key := range sources {
		known[key.Flag] = true
	}
	strange := slices.DeleteFunc(slices.Clone(r.keys), func(key string) bool { return known[key] })
	if len(strange) == 0 {
		return known, nil
	}
	existing, err := tx.ExistingFlags(ctx, caller.Account, strange)
	if err != nil {
		return nil, err
	}
	for _, key := range existing {
		known[key] = true
	}
	return known, r.create(ctx, tx, caller, known)
}

// refreshed are the flags with a source that was refreshed.
func (r *report) refreshed(rest []SourceKey) map[string]bool {
	known := make(map[string]bool, len(r.keys))
	for _, key := range r.order { // rest has the same order
		if len(rest) > 0 && rest[0] == key {
			rest = rest[1:]
			continue
		}
		known[key.Flag] = true
	}
	return known
}

// create makes discovered flags and adds them to the known ones.
func (r *report) create(ctx context.Context, tx Tx, caller accounts.Caller, known map[string]bool) error {
	count, err := tx.CountFlags(ctx, caller.Account)
	if err != nil {
		return err
	}
	var made []Flag
	var discovery changes.Several
	for _, key := range r.keys {
		if known[key] || count+len(made) >= MaxFlags {
			continue
		}
		known[key] = true
		made = append(made, r.first[key].flag(caller.Account, tx.Now()))
		discovery.Keys = append(discovery.Keys, key)
	}
	if len(made) == 0 {
		return nil
	}
	if err := tx.SaveFlags(ctx, made); err != nil {
		return err
	}
	return changes.RecordSeveral(ctx, tx, caller.Account, caller.Actor(), changes.Discovered, Kind, discovery)
}

func (d Declaration) flag(account string, now time.Time) Flag {
	kind, _ := ParseType(d.Type)
	flag := Flag{Account: account, Key: d.Key, Name: readable(d.Key), Type: kind, Default: d.base(),
		Environments: map[string]Environment{}, CreatedAt: now, UpdatedAt: now}
	if kind == flageval.Boolean {
		flag.Values = booleanChoices()
	}
	return flag
}

// observe writes the sources that were not refreshed: new ones up to the cap,
// changed ones, and for those that say the same in other words when they were
// last seen. It counts what was kept.
func (r *report) observe(ctx context.Context, tx Tx, account string, rest []SourceKey, flags map[string]bool, stored map[SourceKey]Source) (int, error) {
	var made, changed []Source
	var seen []string
	for _, key := range rest {
		declaration := r.latest[key]
		source, exists := stored[key]
		switch {
		case !flags[key.Flag]:
		case exists && source.declares(declaration):
			seen = append(seen, source.ID)
		case exists:
			changed = append(changed, source.redeclared(declaration, tx.Now()))
		default:
			made = append(made, newSource(account, declaration, tx.Now()))
		}
	}
	made, err := upToCap(ctx, tx, account, made)
	if err != nil {
		return 0, err
	}
	if err := tx.InsertFlagSources(ctx, made); err != nil {
		return 0, err
	}
	if err := tx.UpdateFlagSources(ctx, changed); err != nil {
		return 0, err
	}
	return len(made) + len(changed) + len(seen), tx.TouchFlagSources(ctx, account, seen, tx.Now())
}

// upToCap drops the new sources that an account has no room for.
func upToCap(ctx context.Context, tx Tx, account string, made []Source) ([]Source, error) {
	if len(made) == 0 {
		return nil, nil
	}
	count, err := tx.CountFlagSources(ctx, account)
	if err != nil {
		return nil, err
	}
	return made[:min(len(made), max(0, MaxSources-count))], nil
}

func newSource(account string, d Declaration, now time.Time) Source {
	source := d.seen(account, now)
	source.ID, source.FirstObserved, source.CreatedAt, source.UpdatedAt = uuid.Must(uuid.NewV7()).String(), now, now, now
	return source
}

// seen is what a declaration says of its source, whether that exists or not.
func (d Declaration) seen(account string, now time.Time) Source {
	kind, _ := ParseType(d.Type)
	return Source{Account: account, Flag: d.Key, Service: d.Service, Environment: d.Environment,
		DeclaredType: kind, DeclaredDefault: d.base(), LastSeen: now}
}

func (s Source) declares(d Declaration) bool {
	kind, _ := ParseType(d.Type)
	return s.DeclaredType == kind && rawjson.Same(s.DeclaredDefault, d.base())
}

func (s Source) redeclared(d Declaration, now time.Time) Source {
	s.DeclaredType, _ = ParseType(d.Type)
	s.DeclaredDefault, s.LastSeen, s.UpdatedAt = d.base(), now, now
	return s
}
