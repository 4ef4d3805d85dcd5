package admin

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/signalbox/signalbox/internal/accounts"
	"github.com/signalbox/signalbox/internal/app"
	"github.com/signalbox/signalbox/internal/cli/terminal"
	"github.com/signalbox/signalbox/internal/optional"
	"github.com/signalbox/signalbox/internal/settings"
)

// userView is a user as --json prints it.
type userView struct {
	ID string `json:"id"`
	accounts.User
}

// linkView is a link as --json prints it. The link is shown only here.
type linkView struct {
	Email string `json:"email,omitempty"`
	Link  string `json:"link"`
}

func (c *commands) users() *cobra.Command {
	return terminal.Group("users", "Manage the people of an account, also when nobody can sign in",
		c.listUsers(), c.setupLink(), c.inviteUser(), c.resetPassword(), c.setRole())
}

func (c *commands) listUsers() *cobra.Command {
	var account string
	run := func(ctx context.Context, store *app.Operator, _ []string) error {
		users, err := store.Users(ctx, account)
		if err != nil {
			return err
		}
		views := make([]userView, len(users))
		for i, user := range users {
			views[i] = userView{ID: user.ID, User: user}
		}
		return c.print(views, func(w io.Writer) {
			c.say(w, "ID\tE-MAIL\tNAME\tROLE\tSIGNS IN\n")
			for _, user := range users {
				c.say(w, "%s\t%s\t%s\t%s\t%s\n", user.ID, user.Email, user.Name, user.Role, terminal.YesNo(user.CanSignIn))
			}
		})
	}
	cmd := c.onStore(app.OpenOperator, "list", "List the users of an account", `signalbox admin users list`, run)
	addAccountFlag(cmd, &account)
	return cmd
}

func (c *commands) setupLink() *cobra.Command {
	var account string
	run := func(ctx context.Context, store *app.Operator, _ []string) error {
		link, err := store.SetupLink(ctx, account)
		if err != nil {
			return err
		}
		return c.printLink(linkView{Link: link}, "Set up the account's owner at this link, which works once; earlier links no longer work:")
	}
	cmd := c.onStore(app.OpenOperator, "setup-link", "Make the link that sets up an account's first owner", `signalbox admin users setup-link`, run)
	addAccountFlag(cmd, &account)
	settings.AddLinkFlags(cmd.Flags())
	return cmd
}

// printLink prints a link that is shown only now.
func (c *commands) printLink(view linkView, sentence string) error {
	return c.print(view, func(w io.Writer) { c.say(w, "%s\n\n    %s\n\n", sentence, view.Link) })
}

func (c *commands) inviteUser() *cobra.Command {
	var account, role string
	run := func(ctx context.Context, store *app.Operator, args []string) error {
		invitation, link, err := store.Invite(ctx, account, accounts.InvitationDraft{Email: optional.Of(args[0]), Role: optional.Of(role)})
		if err != nil {
			return err
		}
		return c.printLink(linkView{invitation.Email, link},
			fmt.Sprintf("Give this link to %s, who joins with the role %s. It works once, for 7 days:", invitation.Email, invitation.Role))
	}
	cmd := c.onStore(app.OpenOperator, "invite EMAIL", "Invite somebody and print the link", `signalbox admin users invite ada@example.com --role ADMIN`, run)
	addAccountFlag(cmd, &account)
	settings.AddLinkFlags(cmd.Flags())
	cmd.Flags().StringVar(&role, "role", "MEMBER", "OWNER, ADMIN, MEMBER or VIEWER")
	return cmd
}

func (c *commands) resetPassword() *cobra.Command {
	run := func(ctx context.Context, store *app.Operator, args []string) error {
		reset, link, err := store.ResetPassword(ctx, args[0])
		if err != nil {
			return err
		}
		return c.printLink(linkView{reset.User.Email, link},
			fmt.Sprintf("%s sets a new password at this link, which works once, for a day:", reset.User.Email))
	}
	cmd := c.onStore(app.OpenOperator, "reset-password EMAIL", "Make a link that sets a new password", `signalbox admin users reset-password ada@example.com`, run)
	settings.AddLinkFlags(cmd.Flags())
	return cmd
}

func (c *commands) setRole() *cobra.Command {
	run := func(ctx context.Context, store *app.Operator, args []string) error {
		role, known := accounts.ParseRole(args[1])
		if !known {
			return terminal.Usage(fmt.Errorf("the role must be OWNER, ADMIN, MEMBER or VIEWER, not %q", args[1]))
		}
		user, err := store.SetRole(ctx, args[0], role)
		if err != nil {
			return err
		}
		return c.print(userView{ID: user.ID, User: user}, func(w io.Writer) {
			c.say(w, "%s has the role %s now.\n", user.Email, user.Role)
		})
	}
	cmd := c.onStore(app.OpenOperator, "role EMAIL ROLE", "Give a user another role", `signalbox admin users role ada@example.com ADMIN`, run)
	return completeSecond(cmd, roleWords())
}
