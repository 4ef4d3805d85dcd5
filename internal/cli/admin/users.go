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
	run := func(ctx context.Context, store *app.Operator, _ []string) (result, error) {
		users, err := store.Users(ctx, account)
		views := make([]userView, len(users))
		for i, user := range users {
			views[i] = userView{ID: user.ID, User: user}
		}
		return result{views, func(w io.Writer) {
			terminal.Fprintf(w, "ID\tE-MAIL\tNAME\tROLE\tSIGNS IN\n")
			for _, user := range users {
				terminal.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", user.ID, user.Email, user.Name, user.Role, terminal.YesNo(user.CanSignIn))
			}
		}}, err
	}
	cmd := c.onStore(app.OpenOperator, "list", "List the users of an account", `signalbox admin users list`, run)
	addAccountFlag(cmd, &account)
	return cmd
}

func (c *commands) setupLink() *cobra.Command {
	var account string
	run := func(ctx context.Context, store *app.Operator, _ []string) (result, error) {
		link, err := store.SetupLink(ctx, account)
		return linkResult(linkView{Link: link}, "Set up the account's owner at this link, which works once; earlier links no longer work:"), err
	}
	cmd := c.onStore(app.OpenOperator, "setup-link", "Make the link that sets up an account's first owner", `signalbox admin users setup-link`, run)
	addAccountFlag(cmd, &account)
	settings.AddLinkFlags(cmd.Flags())
	return cmd
}

// linkResult prints a link that is shown only now.
func linkResult(view linkView, use string) result {
	return result{view, sentence("%s\n\n    %s\n\n", use, view.Link)}
}

func (c *commands) inviteUser() *cobra.Command {
	var account, role string
	run := func(ctx context.Context, store *app.Operator, args []string) (result, error) {
		invitation, link, err := store.Invite(ctx, account, accounts.InvitationDraft{Email: optional.Of(args[0]), Role: optional.Of(role)})
		return linkResult(linkView{invitation.Email, link},
			fmt.Sprintf("Give this link to %s, who joins with the role %s. It works once, for 7 days:", invitation.Email, invitation.Role)), err
	}
	cmd := c.onStore(app.OpenOperator, "invite EMAIL", "Invite somebody and print the link", `signalbox admin users invite ada@example.com --role ADMIN`, run)
	addAccountFlag(cmd, &account)
	settings.AddLinkFlags(cmd.Flags())
	cmd.Flags().StringVar(&role, "role", "MEMBER", "OWNER, ADMIN, MEMBER or VIEWER")
	return cmd
}

func (c *commands) resetPassword() *cobra.Command {
	run := func(ctx context.Context, store *app.Operator, args []string) (result, error) {
		reset, link, err := store.ResetPassword(ctx, args[0])
		return linkResult(linkView{reset.User.Email, link},
			fmt.Sprintf("%s sets a new password at this link, which works once, for a day:", reset.User.Email)), err
	}
	cmd := c.onStore(app.OpenOperator, "reset-password EMAIL", "Make a link that sets a new password", `signalbox admin users reset-password ada@example.com`, run)
	settings.AddLinkFlags(cmd.Flags())
	return cmd
}

func (c *commands) setRole() *cobra.Command {
	run := func(ctx context.Context, store *app.Operator, args []string) (result, error) {
		role, known := accounts.ParseRole(args[1])
		if !known {
			return result{}, terminal.Usage(fmt.Errorf("the role must be OWNER, ADMIN, MEMBER or VIEWER, not %q", args[1]))
		}
		user, err := store.SetRole(ctx, args[0], role)
		return result{userView{ID: user.ID, User: user}, sentence("%s has the role %s now.\n", user.Email, user.Role)}, err
	}
	cmd := c.onStore(app.OpenOperator, "role EMAIL ROLE", "Give a user another role", `signalbox admin users role ada@example.com ADMIN`, run)
	return completeSecond(cmd, roleWords())
}
