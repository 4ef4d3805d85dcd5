package cli

import (
	"context"
	"fmt"
	"iter"

	"github.com/spf13/cobra"

	signalbox "github.com/signalbox/signalbox/client"
	"github.com/signalbox/signalbox/internal/cli/terminal"
)

func connectionKind() kind[signalbox.Connection] {
	return kind[signalbox.Connection]{
		name: "connection", noun: "connection",
		of: func(c signalbox.Connection) signalbox.Resource { return c.Resource },
		columns: []terminal.Column[signalbox.Connection]{
			{Title: "SERVICE", Text: func(c signalbox.Connection) string { return value(c.Service) }},
			{Title: "ENVIRONMENT", Text: func(c signalbox.Connection) string { return value(c.Environment) }},
			{Title: "CLIENT", Text: func(c signalbox.Connection) string { return c.Client }},
			{Title: "SINCE", Text: func(c signalbox.Connection) string { return moment(&c.ConnectedAt) }},
			{Title: "CHANGE", Text: func(c signalbox.Connection) string { return fmt.Sprint(c.Seq) }},
			{Title: "NODE", Text: func(c signalbox.Connection) string { return c.Node }, Wide: true},
			{Title: "ID", Text: func(c signalbox.Connection) string { return c.ID }, Wide: true, Whole: true},
		},
	}
}

func (s *shell) connections() *cobra.Command {
	return connectionKind().list(s, action{
		use: "connections", short: "List the clients that follow the events, the newest first", example: "signalbox connections",
	}, func(ctx context.Context, c *call) iter.Seq2[signalbox.Connection, error] {
		return c.client.Connections.All(ctx, signalbox.ConnectionParams{})
	})
}
