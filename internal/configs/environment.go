package configs

import (
	"context"
	"slices"

	"github.com/signalbox/signalbox/internal/page"
)

// InEnvironment visits all configs of an account, sorted by key, with their values
// in an environment, which need not exist. One at a time: what configs inherit is
// in each of them, so that all together may be much larger than what is stored.
func InEnvironment(ctx context.Context, tx ReadTx, account, environment string, visit func(Resolved) error) error {
	found, err := page.All(func(request page.Request) (page.List[Config], error) {
		return tx.Configs(ctx, account, Filter{}, request)
	})
	if err != nil {
		return err
	}
	byKey := make(map[string]Config, len(found))
	for _, config := range found {
		byKey[config.Key] = config
	}
	for _, config := range found {
		if err := visit(Resolve(chainOf(config, byKey), &environment)); err != nil {
			return err
		}
	}
	return nil
}

// chainOf returns a config and all above it, the root first.
func chainOf(config Config, byKey map[string]Config) []Config {
	chain := []Config{config}
	for config.Parent != nil && len(chain) < MaxDepth {
		config = byKey[*config.Parent]
		chain = append(chain, config)
	}
	slices.Reverse(chain)
	return chain
}
