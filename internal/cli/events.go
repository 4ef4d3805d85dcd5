package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	signalbox "github.com/signalbox/signalbox/client"
	"github.com/signalbox/signalbox/client/loglevel"
	"github.com/signalbox/signalbox/internal/cli/terminal"
)

func (s *shell) events() *cobra.Command {
	return terminal.Group("events", "Follow the changes of the account", s.tailEvents())
}

func (s *shell) tailEvents() *cobra.Command {
	var since int64
	var count int
	var topics string
	return s.command(action{
		use:   "tail",
		short: "Print the events of a server as they happen",
		long: "Print the events of a server as they happen: the number of the change, what happened, and to which resource.\n" +
			"A lost connection is opened again, and no event is missed.",
		example: "signalbox events tail --since 0 --count 1\nsignalbox events tail --topics all --since 0 --count 1\nsignalbox events tail --since 0 --count 1 -o json",
		format:  terminal.FormatTable,
		flags: func(cmd *cobra.Command) {
			cmd.Flags().Int64Var(&since, "since", 0, "go on after the change with this `NUMBER`")
			cmd.Flags().IntVar(&count, "count", 0, "end after this `NUMBER` of events; 0 goes on")
			terminal.AddChoice(cmd, &topics, "topics", "services", "which events to follow: those that services need, or also those of jobs, environments, keys and people", "services", "all")
		},
		run: func(ctx context.Context, c *call) error {
			params := signalbox.EventParams{AllTopics: topics == "all", OnDisconnect: func(err error) { c.Note("%v; connecting again", terminal.Unprefixed(err)) }}
			if c.changed("since") {
				params.Since = &since
			}
			return c.follow(ctx, params, count)
		},
	})
}

// follow prints events until it has printed count, or the context is canceled. A count of 0 has no end.
func (c *call) follow(ctx context.Context, params signalbox.EventParams, count int) error {
	seen := 0
	for event, err := range c.client.Events.Follow(ctx, params) {
		if err != nil {
			if ctx.Err() != nil {
				return nil
			}
			return err
		}
		if err := c.printEvent(event); err != nil {
			return err
		}
		if event.Name != signalbox.EventConnected {
			seen++
		}
		if count > 0 && seen >= count {
			return nil
		}
	}
	return nil
}

// printEvent prints one line for an event, also as JSON, so that programs can read line by line.
func (c *call) printEvent(event signalbox.Event) error {
	if c.format.String() == terminal.FormatJSON {
		return c.PrintLine(event)
	}
	if !c.format.IsText() {
		return c.PrintValue(c.format, event)
	}
	line := event.ID
	if event.Level != loglevel.None {
		line += "  " + event.Level.String()
	}
	switch {
	case event.Resumed:
		line = "nothing was missed"
	case event.Name == signalbox.EventConnected:
		line = event.Server
	}
	c.Say("%s\n", strings.TrimRight(fmt.Sprintf("%8d  %-19s %s", event.Seq, event.Name, line), " "))
	return nil
}
