package assistant

import (
	"context"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	signalbox "github.com/signalbox/signalbox/client"
)

// resolveConfig is the input of the tool that resolves a config.
type resolveConfig struct {
	ID          string `json:"id" jsonschema:"the config's id"`
	Environment string `json:"environment,omitempty" jsonschema:"the environment's id; leave out to ignore overrides"`
}

func (t *tools) addConfigs(server *mcp.Server) {
	addRead(server, "list_configs", "List configurations and what they inherit from.",
		func(ctx context.Context, in page) (document, error) {
			listed, err := t.client.Configs.List(ctx, signalbox.ConfigParams{Paging: in.paging(), Search: in.Search})
			return listOf(listed, err, without(showConfig, "items", "environments"))
		})
	addGet(server, "get_config", "Read a configuration: its own items and overrides, without inherited ones.", t.client.Configs.Get, showConfig)
	addRead(server, "explain_config", "Resolve a configuration in an environment: every value with the config and the level it comes from.",
		func(ctx context.Context, in resolveConfig) (document, error) {
			resolved, err := t.client.Configs.Resolve(ctx, in.ID, in.Environment)
			if err != nil {
				return nil, err
			}
			return documentOf(resolved.Resource, resolved)
		})
}

func showConfig(config signalbox.Config) (document, error) {
	return documentOf(config.Resource, config)
}
