package cli

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	signalbox "github.com/signalbox/signalbox/client"
	"github.com/signalbox/signalbox/internal/cli/terminal"
)

func (s *shell) api() *cobra.Command {
	var data string
	methods := []string{"GET", "POST", "PUT", "DELETE"}
	return s.command(action{
		use: "api METHOD PATH", short: "Send any request to the server, as you are signed in, and print the answer",
		long: `Send any request to the server, as you are signed in, and print the answer. A path that does not begin with a slash is below
/api/v1. The body is JSON: given with --data, read from a file with --data @FILE, or from the input with --data @-.
Unknown members and parameters are refused.`,
		example: "signalbox api GET flags/checkout-v2\nsignalbox api GET '/api/v1/changes?page[size]=1' -o 'jsonpath={.data[0].id}'\n" +
			`signalbox api PUT environments/staging --data '{"data":{"attributes":{"name":"Staging","managed":true}}}'`,
		format: terminal.FormatJSON, completes: []completion{words(methods...), apiPaths},
		flags: func(cmd *cobra.Command) {
			cmd.Flags().StringVarP(&data, "data", "d", "", "the body as `JSON`, @FILE or @-")
		},
		run: func(ctx context.Context, c *call) error {
			if err := c.format.NeedDocument(); err != nil {
				return err
			}
			method, path := strings.ToUpper(c.args[0]), c.args[1]
			if !slices.Contains(append(methods, "PATCH", "HEAD"), method) {
				return notFoundNear(terminal.Usagef("%q is no method; they are %s.", c.args[0], strings.Join(methods, ", ")), method, methods)
			}
			if !strings.HasPrefix(path, "/") {
				path = "/api/v1/" + path
			}
			var body []byte
			if c.changed("data") {
				var err error
				if body, err = s.apiBody(data); err != nil {
					return err
				}
			}
			answer, err := c.client.Send(ctx, method, path, body)
			if err != nil || len(answer) == 0 {
				return err
			}
			if !json.Valid(answer) {
				_, err := c.Out.Write(answer)
				return err
			}
			return c.PrintValue(c.format, json.RawMessage(answer))
		},
	})
}

// apiBody returns the JSON that --data names.
func (s *shell) apiBody(data string) ([]byte, error) {
	body := []byte(data)
	if file, is := strings.CutPrefix(data, "@"); is {
		var err error
		if body, err = s.readFile(file); err != nil {
			return nil, err
		}
	}
	if !json.Valid(body) {
		return nil, terminal.Usagef("--data is not JSON")
	}
	return body, nil
}

// apiPaths completes the collections of the interface.
func apiPaths(context.Context, *signalbox.Client, ...string) []string {
	return []string{"accounts/current", "api_keys", "changes", "configs", "connections", "context_types", "contexts", "environments", "flags",
		"invitations", "jobs", "log_groups", "loggers", "runs", "services", "sessions", "usage", "users", "users/current"}
}
