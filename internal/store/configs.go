package store

import (
	"context"
	"encoding/json"

	"github.com/signalbox/signalbox/internal/configs"
	"github.com/signalbox/signalbox/internal/fault"
	"github.com/signalbox/signalbox/internal/page"
	"github.com/signalbox/signalbox/internal/rawjson"
)

// Configs returns the transactions of package configs.
func (db *DB) Configs() Transactions[configs.ReadTx, configs.Tx] {
	return NewTransactions(db, func(tx *ReadTx) configs.ReadTx { return tx }, func(tx *Tx) configs.Tx { return tx })
}

const configColumns = `account_id, key, name, description, parent, items, environments, created_at, updated_at`

func scanConfig(r row) (c configs.Config, err error) {
	var items, environments []byte
	err = r.Scan(&c.Account, &c.Key, &c.Name, &c.Description, &c.Parent, &items, &environments, asTime(&c.CreatedAt), asTime(&c.UpdatedAt))
	c.Items, c.Environments = decodeItems(items), decodeOverrides(environments)
	return c, err
}

// decodeItems reads stored items. A chain has thousands of them, and encoding/json takes several times as long.
func decodeItems(text []byte) map[string]configs.Item {
	items := map[string]configs.Item{}
	rawjson.Members(text, func(key string, stored json.RawMessage) {
		var item configs.Item
		rawjson.Members(stored, func(name string, value json.RawMessage) {
			switch {
			case name == "value":
				item.Value = value
			case name == "type":
				item.Type = configs.Type(rawjson.Unquote(value))
			case name == "description" && value[0] == '"':
				item.Description = new(rawjson.Unquote(value))
			case name == "schema":
				item.Schema = value
			}
		})
		items[key] = item
	})
	return items
}

func decodeOverrides(text []byte) map[string]configs.Overrides {
	environments := map[string]configs.Overrides{}
	rawjson.Members(text, func(environment string, stored json.RawMessage) {
		overrides := configs.Overrides{}
		rawjson.Members(stored, func(key string, value json.RawMessage) { overrides[key] = value })
		environments[environment] = overrides
	})
	return environments
}

// Config returns a config of an account.
func (tx *ReadTx) Config(ctx context.Context, account, key string) (configs.Config, error) {
	return one(ctx, tx.conn, fault.Missing("config", key), scanConfig,
		`SELECT `+configColumns+` FROM configs WHERE account_id = $1 AND key = $2`, account, key)
}

// Configs lists the configs of an account.
func (tx *ReadTx) Configs(ctx context.Context, account string, filter configs.Filter, request page.Request) (page.List[configs.Config], error) {
	found := list{columns: configColumns, table: "configs", byDefault: "key", tie: "key", sorts: sortsByName()}.of(account)
	found.search(filter.Search)
	if parent, sent := filter.Parent.Get(); sent && parent == "" {
		found.where("parent IS NULL")
	} else if sent {
		found.where("parent = ?", parent)
	}
	return pageOf(ctx, tx, found, request, scanConfig)
}

// longestChain bounds a walk along parents in case they form a cycle, which no write allows.
const longestChain = "64"

// ConfigChain returns a config and its ancestors, root first, all as of one instant. With CROSS JOIN SQLite looks up
// each config of the chain by its key; with JOIN it may read all configs of the account.
func (tx *ReadTx) ConfigChain(ctx context.Context, account, key string) ([]configs.Config, error) {
	chain, err := all(ctx, tx.conn, scanConfig, `WITH RECURSIVE chain (link, above, distance) AS (
			SELECT key, parent, 0 FROM configs WHERE account_id = $1 AND key = $2
			UNION ALL
			SELECT c.key, c.parent, chain.distance + 1 FROM chain CROSS JOIN configs c
				WHERE c.account_id = $1 AND c.key = chain.above AND chain.distance < `+longestChain+`
		)
		SELECT `+configColumns+` FROM chain CROSS JOIN configs WHERE account_id = $1 AND key = link ORDER BY distance DESC`, account, key)
	if err == nil && len(chain) == 0 {
		err = fault.Missing("config", key)
	}
	return chain, err
}

// EachConfigBelow visits all descendants of a config, each after its parent.
func (tx *ReadTx) EachConfigBelow(ctx context.Context, account, key string, visit func(configs.Config) error) error {
	_, err := all(ctx, tx.conn, func(r row) (struct{}, error) {
		config, err := scanConfig(r)
		if err == nil {
			err = visit(config)
		}
		return struct{}{}, err
	}, `WITH RECURSIVE below (link, distance) AS (
			SELECT key, 1 FROM configs WHERE account_id = $1 AND parent = $2
			UNION ALL
			SELECT c.key, below.distance + 1 FROM below CROSS JOIN configs c
				WHERE c.account_id = $1 AND c.parent = below.link AND below.distance < `+longestChain+`
		)
		SELECT `+configColumns+` FROM below CROSS JOIN configs WHERE account_id = $1 AND key = link ORDER BY distance, key`, account, key)
	return err
}

// ConfigChildren returns the keys of at most atMost children of a config.
func (tx *ReadTx) ConfigChildren(ctx context.Context, account, key string, atMost int) ([]string, error) {
	return all(ctx, tx.conn, scanString, `SELECT key FROM configs WHERE account_id = $1 AND parent = $2 ORDER BY key LIMIT $3`, account, key, atMost)
}

// ConfigsWithEnvironment returns the configs that override anything in an environment.
func (tx *ReadTx) ConfigsWithEnvironment(ctx context.Context, account, environment string) ([]configs.Config, error) {
	return withEnvironment(ctx, tx, scanConfig, `SELECT `+configColumns+` FROM configs WHERE account_id = $1`, account, environment,
		func(c configs.Config) map[string]configs.Overrides { return c.Environments })
}

// CountConfigs counts the configs of an account.
func (tx *ReadTx) CountConfigs(ctx context.Context, account string) (int, error) {
	return tx.total(ctx, account, storedConfigs)
}

// ConfigBytes returns the stored size of all configs of an account.
func (tx *ReadTx) ConfigBytes(ctx context.Context, account string) (int, error) {
	return tx.total(ctx, account, configBytes)
}

// configRow returns the columns of a config.
func configRow(c configs.Config) ([]any, error) {
	items, err := encode(c.Items)
	if err != nil {
		return nil, err
	}
	environments, err := encode(c.Environments)
	if err != nil {
		return nil, err
	}
	size := len(c.Key) + len(c.Name) + len(items) + len(environments)
	if c.Description != nil {
		size += len(*c.Description)
	}
	return []any{c.Account, c.Key, c.Name, c.Description, c.Parent, items, environments, micros(c.CreatedAt), micros(c.UpdatedAt),
		searchable(c.Key, c.Name), size}, nil
}

// SaveConfigs inserts or overwrites configs of one account.
func (tx *Tx) SaveConfigs(ctx context.Context, saved ...configs.Config) error {
	if len(saved) == 0 {
		return nil
	}
	rows, keys := make([][]any, len(saved)), make([]string, len(saved))
	for i, config := range saved {
		var err error
		if rows[i], err = configRow(config); err != nil {
			return err
		}
		keys[i] = config.Key
	}
	return tx.counting(ctx, countedConfigs(), saved[0].Account, keys, func() error {
		return inserts(ctx, tx, `INSERT INTO configs (`+configColumns+`, search, bytes) VALUES`,
			`ON CONFLICT (account_id, key) DO UPDATE SET name = excluded.name, description = excluded.description, parent = excluded.parent,
				items = excluded.items, environments = excluded.environments, created_at = excluded.created_at,
				updated_at = excluded.updated_at, search = excluded.search, bytes = excluded.bytes`, rows)
	})
}

// DeleteConfig removes a config.
func (tx *Tx) DeleteConfig(ctx context.Context, account, key string) error {
	return tx.counting(ctx, countedConfigs(), account, []string{key}, func() error {
		return tx.run(ctx, `DELETE FROM configs WHERE account_id = $1 AND key = $2`, account, key)
	})
}
