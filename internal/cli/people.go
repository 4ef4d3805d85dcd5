package cli

import (
	"context"
	"fmt"
	"iter"
	"strings"

	"github.com/spf13/cobra"

	signalbox "github.com/signalbox/signalbox/client"
	"github.com/signalbox/signalbox/internal/cli/terminal"
)

// userKind names people by their ids or their e-mail addresses.
func userKind() kind[signalbox.User] {
	in := func(c *signalbox.Client) service[signalbox.User, signalbox.UserParams] { return c.Users }
	k := from(in, kind[signalbox.User]{
		name: "user", noun: "person",
		of: func(u signalbox.User) signalbox.Resource { return u.Resource },
		columns: []terminal.Column[signalbox.User]{
			{Title: "E-MAIL", Text: func(u signalbox.User) string { return u.Email }, Whole: true},
			{Title: "NAME", Text: func(u signalbox.User) string { return u.Name }},
			{Title: "ROLE", Text: func(u signalbox.User) string { return string(u.Role) }},
			{Title: "SIGNS IN", Text: func(u signalbox.User) string { return terminal.YesNo(u.CanSignIn) }},
			{Title: "ID", Text: func(u signalbox.User) string { return u.ID }, Wide: true, Whole: true},
			{Title: "CREATED", Text: func(u signalbox.User) string { return moment(&u.CreatedAt) }, Wide: true},
		},
	})
	k.get = findUser
	return k
}

// findUser returns a person by id or e-mail address.
func findUser(ctx context.Context, client *signalbox.Client, idOrEmail string) (signalbox.User, error) {
	user, err := client.Users.Get(ctx, idOrEmail)
	if !signalbox.IsNotFound(err) {
		return user, err
	}
	for each, listErr := range client.Users.All(ctx, signalbox.UserParams{}) {
		if listErr != nil {
			return user, listErr
		}
		if strings.EqualFold(each.Email, idOrEmail) {
			return client.Users.Get(ctx, each.ID) // with its ETag
		}
	}
	return user, err
}

// emails completes the e-mail addresses of people.
func emails(ctx context.Context, client *signalbox.Client, _ ...string) (found []string) {
	for user, err := range client.Users.All(ctx, signalbox.UserParams{}) {
		if err == nil && user.Email != "" {
			found = append(found, user.Email)
		}
	}
	return found
}

// person reads the person that the command names. When there is none, the error names the nearest e-mail address.
func (c *call) person(ctx context.Context) (signalbox.User, error) {
	user, err := userKind().get(ctx, c.client, c.args[0])
	if signalbox.IsNotFound(err) {
		err = notFoundNear(err, c.args[0], emails(ctx, c.client))
	}
	return user, err
}

func roleNames() []string {
	return []string{string(signalbox.RoleOwner), string(signalbox.RoleAdmin), string(signalbox.RoleMember), string(signalbox.RoleViewer)}
}

func (s *shell) people() *cobra.Command {
	return terminal.Group("people", "Who can sign in to the account", s.listPeople(), s.invitePerson(), s.listInvitations(), s.setPersonRole(), s.resetPersonPassword(), s.removePerson())
}

func (s *shell) listPeople() *cobra.Command {
	var filter searchFlags
	var role string
	return userKind().list(s, action{
		use: "list", short: "List the people of the account", example: "signalbox people list\nsignalbox people list --role OWNER -o wide",
		flags: func(cmd *cobra.Command) {
			filter.addSearch(cmd)
			terminal.AddChoice(cmd, &role, "role", "", "list people with one role", roleNames()...)
		},
	}, func(ctx context.Context, c *call) iter.Seq2[signalbox.User, error] {
		return c.client.Users.All(ctx, signalbox.UserParams{SearchParams: signalbox.SearchParams{Search: filter.search}, Role: signalbox.Role(role)})
	})
}

func invitationKind() kind[signalbox.Invitation] {
	in := func(c *signalbox.Client) service[signalbox.Invitation, signalbox.InvitationParams] {
		return c.Invitations
	}
	return from(in, kind[signalbox.Invitation]{
		name: "invitation", noun: "invitation",
		of: func(i signalbox.Invitation) signalbox.Resource { return i.Resource },
		columns: []terminal.Column[signalbox.Invitation]{
			{Title: "E-MAIL", Text: func(i signalbox.Invitation) string { return i.Email }, Whole: true},
			{Title: "ROLE", Text: func(i signalbox.Invitation) string { return string(i.Role) }},
			{Title: "EXPIRES", Text: func(i signalbox.Invitation) string { return moment(&i.ExpiresAt) }},
			{Title: "ID", Text: func(i signalbox.Invitation) string { return i.ID }, Wide: true, Whole: true},
		},
	})
}

func (s *shell) listInvitations() *cobra.Command {
	return invitationKind().list(s, action{use: "invitations", short: "List open invitations", example: "signalbox people invitations"}, nil)
}

func (s *shell) invitePerson() *cobra.Command {
	var role string
	return s.command(action{
		use: "invite EMAIL", short: "Invite somebody and print the link, once", example: "signalbox people invite grace@example.com --role MEMBER",
		writes: true, format: terminal.FormatYAML,
		flags: func(cmd *cobra.Command) {
			terminal.AddChoice(cmd, &role, "role", string(signalbox.RoleMember), "what they may do", roleNames()...)
		},
		run: func(ctx context.Context, c *call) error {
			created, err := c.client.Invitations.Create(ctx, signalbox.InvitationDraft{Email: c.args[0], Role: signalbox.Role(role)}, c.options()...)
			return invitationKind().wrote(c, created, err, "Give this link to %s, who joins with the role %s. It works once, for 7 days:\n\n    %s\n",
				created.Email, created.Role, created.Link)
		},
	})
}

func (s *shell) setPersonRole() *cobra.Command {
	return s.command(action{
		use: "role PERSON ROLE", short: "Give somebody another role; they are named by e-mail address or id", example: "signalbox people role ada@example.com ADMIN",
		writes: true, format: terminal.FormatYAML, completes: []completion{emails, words(roleNames()...)},
		run: func(ctx context.Context, c *call) error {
			user, err := c.person(ctx)
			if err != nil {
				return err
			}
			draft := user.Draft()
			draft.Role = signalbox.Role(strings.ToUpper(c.args[1]))
			written, err := c.client.Users.Replace(ctx, user.ID, draft, c.options(signalbox.IfMatch(user.ETag))...)
			return userKind().wrote(c, written, err, "%s has the role %s now.", written.Email, written.Role)
		},
	})
}

func (s *shell) resetPersonPassword() *cobra.Command {
	return s.command(action{
		use: "reset-password PERSON", short: "Print a link that sets a new password, once", example: "signalbox people reset-password ada@example.com",
		format: terminal.FormatYAML, completes: []completion{emails},
		run: func(ctx context.Context, c *call) error {
			user, err := c.person(ctx)
			if err != nil {
				return err
			}
			reset, err := c.client.Users.ResetPassword(ctx, user.ID)
			return userKind().wrote(c, reset, err, "%s sets a new password at this link, which works once, for a day:\n\n    %s\n", user.Email, reset.Link)
		},
	})
}

func (s *shell) removePerson() *cobra.Command {
	return s.command(action{
		use: "remove PERSON", short: "Remove somebody from the account, or withdraw an invitation",
		long: `Remove somebody from the account; they are named by e-mail address or id. An address that only has an open invitation loses it:
its link no longer works, and the address can be invited again.`,
		example: "signalbox people remove ada@example.com --yes",
		writes:  true, destroys: true, completes: []completion{emails},
		run: func(ctx context.Context, c *call) error {
			user, err := c.person(ctx)
			if signalbox.IsNotFound(err) {
				if invited, found := findInvitation(ctx, c.client, c.args[0]); found {
					return c.withdraw(ctx, invited)
				}
			}
			if err != nil {
				return err
			}
			said := fmt.Sprintf("%s will no longer be able to sign in, and their sessions end. API keys that they made stay.", user.Email)
			if err := c.Confirm(c.yes || c.dryRun, said); err != nil {
				return err
			}
			if err := c.client.Users.Delete(ctx, user.ID, c.options()...); err != nil {
				return err
			}
			c.done(nil, "%s is removed.", user.Email)
			return nil
		},
	})
}

// findInvitation returns an open invitation by id or e-mail address. A key that may not list invitations finds none.
func findInvitation(ctx context.Context, client *signalbox.Client, idOrEmail string) (signalbox.Invitation, bool) {
	for each, err := range client.Invitations.All(ctx, signalbox.InvitationParams{}) {
		if err != nil {
			break
		}
		if each.ID == idOrEmail || strings.EqualFold(each.Email, idOrEmail) {
			return each, true
		}
	}
	return signalbox.Invitation{}, false
}

// withdraw deletes an invitation.
func (c *call) withdraw(ctx context.Context, invited signalbox.Invitation) error {
	said := fmt.Sprintf("The invitation of %s will be withdrawn: its link no longer works.", invited.Email)
	if err := c.Confirm(c.yes || c.dryRun, said); err != nil {
		return err
	}
	if err := c.client.Invitations.Delete(ctx, invited.ID, c.options()...); err != nil {
		return err
	}
	c.done(nil, "The invitation of %s is withdrawn.", invited.Email)
	return nil
}
