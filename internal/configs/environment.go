package configs

import (
	"context"
	"slices"

	"github.com/signalbox/signalbox/internal/page"
)

// InEnvironment visits all configs of an account, sorted by key, with their values in an
// environment, which need not exist. It visits one at a time, because every config repeats its
// inherited values and all together may be much larger than the stored configs.
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

// chainOf returns a config with its ancestors: the root first, the config last.
func chainOf(config Config, byKey map[string]Config) []Config {
	chain := []Config{config}
	for config.Parent != nil && len(chain) < MaxDepth {
		config = byKey[*config.Parent]
		chain = append(chain, config)
	}
	slices.Reverse(chain)
	return chain
}
