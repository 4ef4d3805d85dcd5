package configs

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/internal/accounts"
	"github.com/signalbox/signalbox/internal/fault"
	"github.com/signalbox/signalbox/internal/naming"
	"github.com/signalbox/signalbox/internal/overrides"
)

// write is what a caller does to a config.
type write struct {
	before *Config // nil for a creation
	// sent is the overrides of the request. What is stored afterwards may have
	// frozen ones in addition.
	sent    map[string]Overrides
	schemas *schemas
}

// stored is the config before the write; an empty one for a creation.
func (w write) stored() Config {
	if w.before == nil {
		return Config{}
	}
	return *w.before
}

// frozen tells whether the write leaves an override as it is because it could
// not do anything else.
func (w write) frozen(environment, key string) bool {
	_, was := w.stored().Environments[environment][key]
	_, sent := w.sent[environment][key]
	return was && !sent
}

// save stores a config if it keeps the rules, and gives it as it is stored.
func (s *Service) save(ctx context.Context, tx Tx, caller accounts.Caller, write write, after Config) (Config, error) {
	var problems fault.Problems
	after, err := s.settle(ctx, tx, caller, write, after, &problems)
	if err := cmp.Or(err, problems.Err()); err != nil {
		return Config{}, err
	}
	return after, keep(ctx, tx, after)
}

// settle gives a config as it would be stored, and notes what only the database
// can tell to be wrong. The problems may be those of the draft already: then
// nobody asks who writes, and items or overrides that are wrong by themselves
// are held against no chain.
func (s *Service) settle(ctx context.Context, tx ReadTx, caller accounts.Caller, write write, after Config, problems *fault.Problems) (Config, error) {
	work := write.schemas.work
	defer work.begin(ctx, cmp.Or(s.Patience, maxChecking))()
	refused, broken := problems.Err() != nil, problems.Within("items") || problems.Within("environments")
	managed, err := tx.ManagedEnvironments(ctx, caller.Account)
	if err != nil {
		return Config{}, err
	}
	merged, err := overrides.Merge(managed, write.stored().Environments, after.Environments, work.repeats, s.Writable)
	if merged == nil {
		return Config{}, err
	}
	if !work.spent() { // or it is not known what is repeated
		for _, refusal := range fault.All(err) {
			problems.Add(refusal)
		}
	}
	after.Environments = merged
	if write.before != nil && !refused {
		if err := checkScope(caller, *write.before, after, work); err != nil {
			return Config{}, err
		}
	}
	above, err := parentsOf(ctx, tx, after, problems)
	if err != nil || broken {
		return Config{}, err
	}
	if !problems.Mentions("parent") {
		after = write.thaw(lowest(above), after)
		err = s.checkChains(ctx, tx, write, lowest(above).under(after), problems)
	}
	checkDefinition(after, problems)
	return after, err
}

// keep stores a config if the account has room for it. Lists, chains and the
// deletion of an environment read many configs at once: what all of them have
// bounds the memory of every request.
func keep(ctx context.Context, tx Tx, config Config) error {
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
		return fault.New(fault.RowLimitReached, "All configs of an account may have %d bytes, and with this they would have %d. Delete what is not used.",
			MaxBytes, after).With("limit_key", configBytes).With("maximum", MaxBytes)
	}
	return nil
}

// thaw drops the frozen overrides of items that the write removes: an item
// that is deleted takes its values with it, like any resource.
func (w write) thaw(above *level, after Config) Config {
	kept := make(map[string]Overrides, len(after.Environments))
	for environment, values := range after.Environments {
		left := make(Overrides, len(values))
		for key, value := range values {
			if !w.removes(above, after, key) || !w.frozen(environment, key) {
				left[key] = value
			}
		}
		if len(left) > 0 {
			kept[environment] = left
		}
	}
	after.Environments = kept
	return after
}

// removes tells whether the write leaves nothing of an item of the config.
func (w write) removes(above *level, after Config, key string) bool {
	_, had := w.stored().Items[key]
	_, has := after.Items[key]
	if !had || has {
		return false
	}
	_, _, inherited := above.declared(key)
	return !inherited
}

// checkDefinition bounds what is about to be stored.
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

// checkChains notes what a write would break in the chains that it touches.
func (s *Service) checkChains(ctx context.Context, tx ReadTx, write write, written *level, problems *fault.Problems) error {
	check := newCheck(write, written, problems)
	check.own()
	if !check.reachesBelow() || check.work.spent() {
		return check.work.interrupted()
	}
	enough := errors.New("the budget is spent")
	err := tx.EachConfigBelow(ctx, written.config.Account, written.config.Key, func(config Config) error {
		if check.below(config); check.work.spent() {
			return enough
		}
		return nil
	})
	if errors.Is(err, enough) {
		return check.work.interrupted()
	}
	return err
}

// parentsOf gives the chain that a config hangs on, and notes when there is
// none to hang on.
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
	if fault.Is(err, fault.NotFound) && parent == Common {
		return nil, nil // it is made for whoever needs it
	}
	if fault.Is(err, fault.NotFound) {
		problems.Attribute("parent", "must be a config of this account, or null for none: there is no config %q", parent)
		return nil, nil
	}
	if at := slices.IndexFunc(chain, func(above Config) bool { return above.Key == config.Key }); at >= 0 {
		problems.Attribute("parent", "must not lead back to this config: %s", circle(chain[at:]))
	} else if len(chain) >= MaxDepth {
		problems.Attribute("parent", "must leave chains of at most %d configs, and %q has %d above it", MaxDepth, parent, len(chain)-1)
	}
	return chain, err
}

// circle tells the way from a config down to what is to become its parent.
func circle(chain []Config) string {
	names := make([]string, len(chain))
	for i, config := range chain {
		names[i] = config.Key
	}
	return "the chain of " + names[len(names)-1] + " is " + strings.Join(names, " → ")
}
