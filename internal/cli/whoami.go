package cli

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	signalbox "github.com/signalbox/signalbox/client"
	"github.com/signalbox/signalbox/internal/app"
	"github.com/signalbox/signalbox/internal/cli/terminal"
)

// identity is what whoami prints.
type identity struct {
	URL     string `json:"url"`
	Account string `json:"account"`
	// Key or User is set: the API key or the signed-in person of the request.
	Key  *keyIdentity  `json:"key,omitempty"`
	User *userIdentity `json:"user,omitempty"`
}

type keyIdentity struct {
	ID           string         `json:"id"`
	Name         string         `json:"name"`
	Role         signalbox.Role `json:"role"`
	Environments []string       `json:"environments,omitempty"`
	Expires      string         `json:"expires_at,omitempty"`
}

type userIdentity struct {
	ID    string         `json:"id"`
	Name  string         `json:"name"`
	Email string         `json:"email"`
	Role  signalbox.Role `json:"role"`
}

func (s *shell) whoami() *cobra.Command {
	return s.command(action{
		use: "whoami", short: "Show which server and account you use, as whom, and with which role",
		example: "signalbox whoami\nsignalbox whoami -o json", format: terminal.FormatTable,
		run: func(ctx context.Context, c *call) error {
			who, err := c.identify(ctx)
			if err != nil {
				return err
			}
			if !c.format.IsText() {
				return c.PrintValue(c.format, who)
			}
			c.Say("server   %s\naccount  %s\n", who.URL, who.Account)
			if who.Key != nil {
				c.Say("key      %s (%s)\nrole     %s\n", who.Key.Name, who.Key.ID, who.Key.Role)
				if who.Key.Environments != nil {
					c.Say("writes   only for %s\n", strings.Join(who.Key.Environments, ", "))
				}
				if who.Key.Expires != "" {
					c.Say("expires  %s\n", who.Key.Expires)
				}
				return nil
			}
			c.Say("person   %s (%s)\nrole     %s\n", who.User.Name, who.User.Email, who.User.Role)
			return nil
		},
	})
}

// identify asks the server for the account and the key or person of the request.
func (c *call) identify(ctx context.Context) (identity, error) {
	account, err := c.client.Account.Get(ctx)
	if err != nil {
		return identity{}, err
	}
	who := identity{URL: c.url, Account: account.Key}
	if key, err := c.client.Keys.Current(ctx); err == nil {
		who.Key = &keyIdentity{key.ID, key.Name, key.Role, key.Scopes.Environments, moment(key.ExpiresAt)}
		return who, nil
	} else if !signalbox.IsNotFound(err) {
		return who, err
	}
	user, err := c.client.User.Get(ctx)
	who.User = &userIdentity{user.ID, user.Name, user.Email, user.Role}
	return who, err
}

func (s *shell) version() *cobra.Command {
	var at connection
	var clientOnly bool
	var format terminal.Format
	cmd := &cobra.Command{
		Use: "version", Short: "Show the version of this program and of the server",
		Example: "  signalbox version\n  signalbox version --client", Args: terminal.Arguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			versions := struct {
				Client string `json:"client"`
				Server string `json:"server,omitempty"`
			}{Client: app.Version()}
			var failure error
			if !clientOnly {
				versions.Server, failure = s.serverVersion(cmd.Context(), at)
			}
			if !format.IsText() {
				if err := s.PrintValue(format, versions); err != nil {
					return err
				}
				return failure
			}
			s.Say("client  %s\n", versions.Client)
			if versions.Server != "" {
				s.Say("server  %s\n", versions.Server)
			}
			return failure
		},
	}
	at.addFlags(s, cmd)
	terminal.AddFormat(cmd, &format, terminal.FormatTable)
	cmd.Flags().BoolVar(&clientOnly, "client", false, "do not ask the server")
	return cmd
}

// serverVersion reads the server's version from the first message of the event stream.
func (s *shell) serverVersion(ctx context.Context, at connection) (string, error) {
	target, err := s.target(at)
	if err != nil {
		return "", err
	}
	client, err := target.client()
	if err != nil {
		return "", terminal.Usage(err)
	}
	for event, err := range client.Events.Follow(ctx, signalbox.EventParams{Once: true}) {
		return strings.TrimPrefix(event.Server, "signalbox/"), target.explain(err)
	}
	return "", nil
}
