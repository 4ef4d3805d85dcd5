package assistant

import (
	"context"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	signalbox "github.com/signalbox/signalbox/client"
)

// listLoggers is the input of the tool that lists loggers.
type listLoggers struct {
	page

	Service string `json:"service,omitempty" jsonschema:"only loggers that this service reports"`
	Managed *bool  `json:"managed,omitempty" jsonschema:"only loggers that people control (true) or that were only discovered (false)"`
}

// explainLevel is the input of the tool that explains a level.
type explainLevel struct {
	Logger      string `json:"logger" jsonschema:"the logger's name in any spelling, such as shop.payments"`
	Environment string `json:"environment" jsonschema:"the environment's id, such as production"`
}

func (t *tools) addLoggers(server *mcp.Server) {
	addRead(server, "list_environments", "List environments: values can only be set in managed ones.",
		func(ctx context.Context, in page) (document, error) {
			listed, err := t.client.Environments.List(ctx, signalbox.EnvironmentParams{Paging: in.paging()})
			return listOf(listed, err, func(environment signalbox.Environment) (document, error) {
				return documentOf(environment.Resource, environment)
			})
		})
	addRead(server, "list_loggers", "List loggers with their levels.",
		func(ctx context.Context, in listLoggers) (document, error) {
			params := signalbox.LoggerParams{Paging: in.paging(), Search: in.Search, Service: in.Service, Managed: in.Managed}
			listed, err := t.client.Loggers.List(ctx, params)
			return listOf(listed, err, without(showLogger, "sources", "effective_levels"))
		})
	addRead(server, "explain_level", "Explain which level a logger has in an environment, where the level comes from, and which level running services use.",
		func(ctx context.Context, in explainLevel) (document, error) {
			logger, err := t.client.Loggers.Get(ctx, in.Logger)
			if err != nil {
				return nil, err
			}
			return levelIn(logger, in.Environment), nil
		})
}

func showLogger(logger signalbox.Logger) (document, error) {
	return documentOf(logger.Resource, logger)
}

// levelIn returns everything about a logger's level in one environment.
func levelIn(logger signalbox.Logger, environment string) document {
	var sources []signalbox.LoggerSourceSummary
	for _, source := range logger.Sources {
		if source.Environment == environment {
			sources = append(sources, source)
		}
	}
	shown := document{"logger": logger.ID, "environment": environment, "managed": logger.Managed, "base_level": logger.Level,
		"group": logger.Group, "used_by_services": sources}
	if resolved, known := logger.Resolved[environment]; known {
		shown["resolved"] = resolved
	}
	if override, has := logger.Environments[environment]; has {
		shown["override"] = override
	}
	return shown
}
