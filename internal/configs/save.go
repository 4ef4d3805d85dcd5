package configs

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/internal/accounts"
	"github.com/signalbox/signalbox/internal/fault"
	"github.com/signalbox/signalbox/internal/naming"
	"github.com/signalbox/signalbox/internal/overrides"
	"github.com/signalbox/signalbox/internal/rawjson"
)

// write is one write to a config.
type write struct {
	before *Config // nil for a creation
	// sent has the overrides of the request. The stored config may also have frozen overrides.
	sent    map[string]Overrides
	schemas *schemas
	warn    *fault.Problems // receives warnings
}

// stored returns the config before the write, or an empty one for a creation.
func (w write) stored() Config {
	if w.before == nil {
		return Config{}
	}
	return *w.before
}

// frozen reports whether an override stays although it was not sent, because its environment is unmanaged.
func (w write) frozen(environment, key string) bool {
	_, was := w.stored().Environments[environment][key]
	_, sent := w.sent[environment][key]
	return was && !sent
}

// checked returns the config to store, or an error with the rules that it breaks.
func (s *Service) checked(ctx context.Context, tx Tx, caller accounts.Caller, write write, after Config) (Config, error) {
	if after.Parent != nil && *after.Parent == Common && after.Key != Common {
		if err := ensureCommon(ctx, tx, after.Account); err != nil {
			return Config{}, err
		}
	}
	var problems fault.Problems
	after, err := s.prepare(ctx, tx, caller, write, after, &problems)
	if err := cmp.Or(err, problems.Err()); err != nil {
		return Config{}, err
	}
	return after, nil
}

// warnRepeated warns about sent overrides that change nothing. It ignores overrides that merge several objects.
func (w write) warnRepeated(chain chain) {
	if w.warn == nil {
		return
	}
	bare := *chain.last()
	bare.Environments = nil
	overridden := chain.above().with(bare)
	Config{Environments: w.sent}.overrides(func(environment, key string, value json.RawMessage) {
		if below := overridden.layers(key, environment); len(below) == 1 && rawjson.Same(below[0], value) {
			path := overridePath(environment, key)
			w.warn.Warn(fault.Attribute(path), "%s is the same as the value that it overrides: leave it out.", path)
		}
	})
}

// prepare returns the config to store, and adds the problems that only the database can show. If the draft already has
// problems, the caller's scope is not checked; if they are in items or overrides, chains are not checked either.
func (s *Service) prepare(ctx context.Context, tx ReadTx, caller accounts.Caller, write write, after Config, problems *fault.Problems) (Config, error) {
	refused, broken := problems.Err() != nil, problems.Within("items") || problems.Within("environments")
	managed, err := tx.ManagedEnvironments(ctx, caller.Account)
	if err != nil {
		return Config{}, err
	}
	merged, err := overrides.Merge(managed, write.stored().Environments, after.Environments, repeats, s.Writable)
	if merged == nil {
		return Config{}, err
	}
	for _, refusal := range fault.All(err) {
		problems.Add(refusal)
	}
	after.Environments = merged
	if write.before != nil && !refused {
		if err := checkScope(caller, *write.before, after); err != nil {
			return Config{}, err
		}
	}
	above, err := parentsOf(ctx, tx, after, problems)
	if err != nil || broken {
		return Config{}, err
	}
	if !problems.Mentions("parent") {
		after = write.dropRemoved(newChain(above), after)
		write.warnRepeated(newChain(above).with(after))
		err = checkChains(ctx, tx, write, newChain(above).with(after), problems)
	}
	checkDefinition(after, problems)
	return after, err
}

// saveWithinLimit stores a config if all configs of the account stay within MaxBytes. MaxBytes bounds the memory of
// requests that read many configs.
func saveWithinLimit(ctx context.Context, tx Tx, config Config) error {
	before, err := tx.ConfigBytes(ctx, config.Account)
	if err != nil {
		return err
	}
	if err := tx.SaveConfigs(ctx, config); err != nil {
		return err
	}
	after, err := tx.ConfigBytes(ctx, config.Account)
	if err != nil {
		return err
	}
	if after > MaxBytes && after > before {
		return fault.RowLimit("config.config_bytes", MaxBytes, "All configs of an account may have %d bytes, and with this they would have %d. Delete what is not used.",
			MaxBytes, after)
	}
	return nil
}

// dropRemoved drops a frozen override if the write removes its item, unless an ancestor declares the item.
func (w write) dropRemoved(above chain, after Config) Config {
	written, environments := above.with(after), make(map[string]Overrides, len(after.Environments))
	for environment, values := range after.Environments {
		kept := maps.Clone(values)
		maps.DeleteFunc(kept, func(key string, _ json.RawMessage) bool {
			_, had := w.stored().Items[key]
			_, _, declared := written.declared(key)
			return had && !declared && w.frozen(environment, key)
		})
		if len(kept) > 0 {
			environments[environment] = kept
		}
	}
	after.Environments = environments
	return after
}

// checkDefinition checks the size of a config and the number of its schemas.
func checkDefinition(config Config, problems *fault.Problems) {
	schemas := 0
	for _, item := range config.Items {
		if item.Schema != nil {
			schemas++
		}
	}
	if schemas > MaxSchemas {
		problems.Attribute("items", "must have at most %d items with a schema", MaxSchemas)
	}
	if size := config.size(); size > MaxDefinition {
		problems.Attribute("items", "must have, with the overrides, at most %d bytes in all, and these have %d", MaxDefinition, size)
	}
}

// checkChains adds the problems that a write would cause in all chains that it touches.
func checkChains(ctx context.Context, tx ReadTx, write write, written chain, problems *fault.Problems) error {
	write.schemas.work = maxSteps // work that was done before taking the lock does not count
	check := newCheck(write, written, problems)
	check.own()
	if write.before == nil || !check.reachesBelow() { // a new config has no descendants
		return nil
	}
	enough := errors.New("the work is spent")
	err := tx.EachConfigBelow(ctx, written.last().Account, written.last().Key, func(config Config) error {
		if check.below(config); check.schemas.work.spent() {
			return enough
		}
		return nil
	})
	if errors.Is(err, enough) {
		return nil // the problems have the error already
	}
	return err
}

// parentsOf returns the chain above a config, and adds a problem if the parent is not allowed.
func parentsOf(ctx context.Context, tx ReadTx, config Config, problems *fault.Problems) ([]Config, error) {
	if config.Parent == nil {
		return nil, nil
	}
	parent := *config.Parent
	if parent == config.Key {
		problems.Attribute("parent", "must be another config, or null for none")
		return nil, nil
	}
	if !naming.IsKey(parent, naming.MaxKey) {
		problems.Attribute("parent", "must be the key of a config, or null for none")
		return nil, nil
	}
	chain, err := tx.ConfigChain(ctx, config.Account, parent)
	if fault.Is(err, fault.NotFound) {
		if parent != Common { // common is created on demand
			problems.Attribute("parent", "must be a config of this account, or null for none: there is no config %q", parent)
		}
		return nil, nil
	}
	if at := slices.IndexFunc(chain, func(above Config) bool { return above.Key == config.Key }); at >= 0 {
		problems.Attribute("parent", "must not lead back to this config: the chain of %s is %s", parent, path(chain[at:]))
	} else if len(chain) >= MaxDepth {
		problems.Attribute("parent", "must leave chains of at most %d configs, and %q has %d above it", MaxDepth, parent, len(chain)-1)
	}
	return chain, err
}

// path returns the keys of a chain in order.
func path(chain []Config) string {
	names := make([]string, len(chain))
	for i, config := range chain {
		names[i] = config.Key
	}
	return strings.Join(names, " → ")
}

// repeats reports whether all sent overrides are stored already.
func repeats(stored, sent Overrides) bool {
	for key, value := range sent {
		if was, has := stored[key]; !has || !rawjson.Same(was, value) {
			return false
		}
	}
	return true
}

// checkScope refuses a change outside the environments to which the caller's key is restricted.
func checkScope(caller accounts.Caller, before, after Config) error {
	if caller.Environments == nil {
		return nil
	}
	if !sameBase(before, after) {
		return caller.RequireUnscoped()
	}
	sameOverrides := func(was, is Overrides) bool { return maps.EqualFunc(was, is, rawjson.Same) }
	return caller.RequireEnvironments(overrides.Changed(before.Environments, after.Environments, sameOverrides)...)
}
