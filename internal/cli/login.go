package cli

import (
	"cmp"
	"context"
	"os"
	"regexp"
	"time"

	"github.com/spf13/cobra"

	signalbox "github.com/signalbox/signalbox/client"
	"github.com/signalbox/signalbox/internal/app"
	"github.com/signalbox/signalbox/internal/cli/terminal"
)

func (s *shell) login() *cobra.Command {
	var at connection
	cmd := &cobra.Command{
		Use:   "login [URL]",
		Short: "Save a server and your session or API key there, for all other commands",
		Long: `Save a server and your session or API key there as a profile, and use it from now on.

People sign in with a code: open the page /terminal of the server in any browser, also on another machine, and type the
code that it shows. The code works once, within ten minutes. It gives the command line a session with your role, until the
browser's session ends. The console lists the session in your settings, where you can end it.

An API key can be typed instead of the code, read from the input, or taken from SIGNALBOX_API_KEY. Create one with
signalbox keys create, or in the console.

Both are checked with the server and saved in a file that only you can read. SIGNALBOX_URL and SIGNALBOX_API_KEY win over
profiles.`,
		Example: "  signalbox login " + defaultURL + " < api-key.txt",
		Args:    terminal.Arguments,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				at.url = args[0]
			}
			return s.saveLogin(cmd.Context(), at)
		},
	}
	cmd.Flags().StringVar(&at.key, "api-key", "", "the API `KEY` ("+keyVariable+")")
	cmd.Flags().StringVar(&at.profile, "profile", defaultProfile, "the `NAME` to save it as")
	_ = cmd.RegisterFlagCompletionFunc("profile", s.completeProfiles)
	return cmd
}

func (s *shell) saveLogin(ctx context.Context, at connection) error {
	entry, err := s.credential(ctx, at)
	if err != nil {
		return err
	}
	client, err := entry.client()
	if err != nil {
		return terminal.Usage(err)
	}
	account, err := client.Account.Get(ctx)
	if err != nil {
		return entry.explain(err)
	}
	as, err := entry.signedInAs(ctx, client)
	if err != nil {
		return err
	}
	file, err := s.readProfiles()
	if err != nil {
		return err
	}
	file.Current, file.Profiles[at.profile] = at.profile, entry
	if err := file.save(); err != nil {
		return err
	}
	s.Say("You use the account %s on %s now%s. It is saved as the profile %s in %s.\n", account.Key, entry.URL, as, at.profile, file.path)
	return nil
}

// credential returns the server and a key for it, or a session that a code opened.
func (s *shell) credential(ctx context.Context, at connection) (profile, error) {
	entry := profile{URL: cmp.Or(s.address(cmp.Or(at.url, s.Variable(urlVariable))), defaultURL), APIKey: cmp.Or(at.key, s.Variable(keyVariable))}
	if entry.APIKey != "" {
		return entry, nil
	}
	answer, err := s.Secret("Open " + entry.URL + "/terminal in a browser for a code. Enter the code, or an API key: ")
	if err != nil {
		return profile{}, err
	}
	if !isCode(answer) {
		entry.APIKey = answer
		return entry, nil
	}
	_, session, err := signalbox.SignInWithCode(ctx, entry.URL, answer, signalbox.WithUserAgent(agentHere()))
	if err != nil {
		return entry, entry.explain(err)
	}
	entry.Session = session.Token
	return entry, nil
}

// isCode reports whether an answer has the form of a code, not of an API key.
func isCode(answer string) bool {
	return regexp.MustCompile(`^[0-9A-Za-z]{4}[- ][0-9A-Za-z]{4}[- ][0-9A-Za-z]{4}$`).MatchString(answer)
}

// agentHere returns the User-Agent of a session, with the host's name so that people recognize the session in a list.
func agentHere() string {
	agent := "signalbox-cli/" + app.Version()
	host, err := os.Hostname()
	if err != nil || !regexp.MustCompile(`^[0-9A-Za-z._-]+$`).MatchString(host) {
		return agent
	}
	return agent + " (" + host + ")"
}

// signedInAs returns the end of a sentence: the user of a session and when the session ends. It is empty for a key.
func (p profile) signedInAs(ctx context.Context, client *signalbox.Client) (string, error) {
	if p.Session == "" {
		return "", nil
	}
	user, err := client.User.Get(ctx)
	if err != nil {
		return "", err
	}
	session, err := client.Sessions.Current(ctx)
	return " as " + user.Name + ", until " + session.ExpiresAt.Format(time.DateTime) + " UTC at the latest", err
}

func (s *shell) logout() *cobra.Command {
	var name string
	cmd := &cobra.Command{
		Use:   "logout",
		Short: "End your session, or forget an API key",
		Long: `Forget a server and your session or API key there. A session of signalbox login ends. An API key still works:
signalbox keys revoke ends it.`,
		Example: "  signalbox logout",
		Args:    terminal.Arguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return s.forget(cmd.Context(), name)
		},
	}
	cmd.Flags().StringVar(&name, "profile", "", "the `NAME` of the profile (default: the one in use)")
	_ = cmd.RegisterFlagCompletionFunc("profile", s.completeProfiles)
	return cmd
}

// forget removes a profile and ends its session.
func (s *shell) forget(ctx context.Context, name string) error {
	file, err := s.readProfiles()
	if err != nil {
		return err
	}
	name = cmp.Or(name, file.Current)
	saved, exists := file.Profiles[name]
	if !exists && name == "" {
		return terminal.Usagef("you are not signed in")
	}
	if !exists {
		return noProfile(name)
	}
	delete(file.Profiles, name)
	if file.Current == name {
		file.Current = ""
	}
	if err := file.save(); err != nil {
		return err
	}
	if err := saved.end(ctx); err != nil {
		s.Note("the session could not be ended, so end it in the settings of the console: %v", terminal.Unprefixed(err))
	}
	s.Say("The profile %s is forgotten.\n", name)
	return nil
}

// end ends the session of a profile. A session that has already ended is not an error.
func (p profile) end(ctx context.Context) error {
	if p.Session == "" {
		return nil
	}
	client, err := p.client()
	if err != nil {
		return err
	}
	if err := client.Sessions.SignOut(ctx); !signalbox.IsUnauthorized(err) {
		return err
	}
	return nil
}
