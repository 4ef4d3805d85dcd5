package assistant

import (
	"context"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	signalbox "github.com/signalbox/signalbox/client"
)

// explainFlag is the input of the tool that evaluates a flag.
type explainFlag struct {
	ID          string         `json:"id" jsonschema:"the flag's id"`
	Environment string         `json:"environment" jsonschema:"the environment's id, such as production"`
	Context     map[string]any `json:"context,omitempty" jsonschema:"who asks, by context type, such as {\"user\": {\"key\": \"alice\", \"plan\": \"pro\"}}"`
}

func (t *tools) addFlags(server *mcp.Server) {
	addRead(server, "list_flags", "List feature flags: their ids, types, defaults and in which environments they are on.",
		func(ctx context.Context, in page) (document, error) {
			listed, err := t.client.Flags.List(ctx, signalbox.FlagParams{Paging: in.paging(), Search: in.Search})
			return listOf(listed, err, without(showFlag, "environments", "values"))
		})
	addGet(server, "get_flag", "Read a feature flag with its rules in every environment.", t.client.Flags.Get, showFlag)
	addRead(server, "explain_flag", "Evaluate a flag for a context and explain step by step why it gets that value.",
		func(ctx context.Context, in explainFlag) (document, error) {
			evaluated, err := t.client.Flags.Evaluate(ctx, in.ID, in.Environment, in.Context)
			if err != nil {
				return nil, err
			}
			return documentOf(evaluated.Resource, evaluated)
		})
}

// showFlag shows a flag, with a summary of the environments where it is on.
func showFlag(flag signalbox.Flag) (document, error) {
	shown, err := documentOf(flag.Resource, flag)
	if err != nil {
		return nil, err
	}
	on := map[string]bool{}
	for environment, configuration := range flag.Environments {
		on[environment] = configuration.Enabled
	}
	shown["enabled_in"] = on
	return shown, nil
}
