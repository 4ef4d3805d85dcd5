package cli

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	signalbox "github.com/signalbox/signalbox/client"
	"github.com/signalbox/signalbox/client/loglevel"
)

const (
	urlVariable = "SIGNALBOX_URL"
	keyVariable = "SIGNALBOX_API_KEY" //nolint:gosec // the name of a variable, not a key
	defaultURL  = "http://127.0.0.1:8080"
)

// remote is the server that a command connects to.
type remote struct{ url, key string }

// onServer adds the flags of a server and --json to a command.
func (s *shell) onServer(cmd *cobra.Command, at *remote) *cobra.Command {
	cmd.Args = argumentsOf(cmd.Use)
	cmd.Flags().StringVar(&at.url, "url", "", "the server's base `URL` ("+urlVariable+", default: "+defaultURL+")")
	cmd.Flags().StringVar(&at.key, "api-key", "", "the API `KEY` ("+keyVariable+")")
	cmd.Flags().BoolVar(&s.json, "json", false, "print JSON")
	return cmd
}

// client returns a client for the server that flags or the environment name.
func (s *shell) client(at remote) (*signalbox.Client, error) {
	key := cmp.Or(at.key, s.variable(keyVariable))
	if key == "" {
		return nil, usageError{errors.New("there is no API key; set " + keyVariable + " or --api-key")}
	}
	client, err := signalbox.New(cmp.Or(at.url, s.variable(urlVariable), defaultURL), key, signalbox.WithUserAgent("signalbox-cli"))
	if err != nil {
		return nil, usageError{err}
	}
	return client, nil
}

// variable returns a variable of the environment.
func (s *shell) variable(name string) string {
	for _, entry := range slices.Backward(s.environ) {
		if value, found := strings.CutPrefix(entry, name+"="); found {
			return value
		}
	}
	return ""
}

func (s *shell) events() *cobra.Command {
	return group("events", "Follow what happens", s.tailEvents())
}

func (s *shell) tailEvents() *cobra.Command {
	var at remote
	var since int64
	var count int
	cmd := s.onServer(&cobra.Command{
		Use:   "tail",
		Short: "Print the events of a server as they happen",
		Long: "Print the events of a server as they happen: the number of the change, what happened, and to which resource.\n" +
			"A connection that is lost is made again, and nothing is left out.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			client, err := s.client(at)
			if err != nil {
				return err
			}
			params := signalbox.EventParams{OnDisconnect: func(err error) { s.say(s.stderr, "signalbox: %v; connecting again\n", err) }}
			if cmd.Flags().Changed("since") {
				params.Since = &since
			}
			return s.follow(cmd, client, params, count)
		},
	}, &at)
	cmd.Flags().Int64Var(&since, "since", 0, "go on after the change with this `NUMBER`")
	cmd.Flags().IntVar(&count, "count", 0, "end after this `NUMBER` of events; 0 goes on")
	return cmd
}

// follow prints events until there were count, or the context is canceled.
func (s *shell) follow(cmd *cobra.Command, client *signalbox.Client, params signalbox.EventParams, count int) error {
	seen := 0
	for event, err := range client.Events.Follow(cmd.Context(), params) {
		if err != nil {
			if cmd.Context().Err() != nil {
				return nil
			}
			return err
		}
		if err := s.printEvent(event); err != nil {
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

func (s *shell) printEvent(event signalbox.Event) error {
	if s.json {
		return s.printJSON(event)
	}
	line := event.ID
	if event.Level != loglevel.None {
		line += "  " + event.Level.String()
	}
	if event.Resumed {
		line = "nothing was missed"
	}
	s.say(s.stdout, "%s\n", strings.TrimRight(fmt.Sprintf("%8d  %-16s %s", event.Seq, event.Name, line), " "))
	return nil
}
