package cli

import (
	"context"
	"errors"
	"io"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/spf13/cobra"

	"github.com/signalbox/signalbox/internal/app"
	"github.com/signalbox/signalbox/internal/cli/assistant"
)

func (s *shell) mcp() *cobra.Command {
	var allowWrites bool
	return s.command(action{
		use:   "mcp",
		short: "Let an assistant read and change the account, over the Model Context Protocol",
		long: `Let an assistant read and change the account: run a server of the Model Context Protocol on stdin and stdout. An assistant
starts this command. The server only reads, with the rights of the API key. With --allow-writes it can also set a temporary
level, run a job and revert a change, and shows each of them first.`,
		example: "signalbox mcp\nsignalbox mcp --allow-writes",
		flags: func(cmd *cobra.Command) {
			cmd.Flags().BoolVar(&allowWrites, "allow-writes", false, "offer the tools that change something too")
		},
		run: func(ctx context.Context, c *call) error {
			streams := &mcp.IOTransport{Reader: io.NopCloser(c.In), Writer: noClose{c.Out}}
			err := assistant.New(c.client, app.Version(), allowWrites).Run(ctx, streams)
			if errors.Is(err, context.Canceled) { // the assistant stopped the command
				return nil
			}
			return err
		},
	})
}

// noClose keeps the output open when a session ends.
type noClose struct{ io.Writer }

// Close does nothing.
func (noClose) Close() error { return nil }
