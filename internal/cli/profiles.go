package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	signalbox "github.com/signalbox/signalbox/client"
	"github.com/signalbox/signalbox/internal/app"
	"github.com/signalbox/signalbox/internal/cli/terminal"
	"github.com/signalbox/signalbox/internal/durable"
)

const (
	urlVariable     = "SIGNALBOX_URL"
	keyVariable     = "SIGNALBOX_API_KEY" //nolint:gosec // the name of a variable, not a key
	profileVariable = "SIGNALBOX_PROFILE"
	defaultURL      = "http://127.0.0.1:8080"
	defaultProfile  = "default"
)

// connection has the flags that select the server of a command.
type connection struct{ url, key, profile string }

func (at *connection) addFlags(s *shell, cmd *cobra.Command) {
	cmd.Flags().StringVar(&at.url, "url", "", "the server's base `URL` ("+urlVariable+", default: the profile's, or "+defaultURL+")")
	cmd.Flags().StringVar(&at.key, "api-key", "", "the API `KEY` ("+keyVariable+", default: the profile's)")
	cmd.Flags().StringVar(&at.profile, "profile", "", "the `NAME` of a profile that login saved ("+profileVariable+", default: the one in use)")
	_ = cmd.RegisterFlagCompletionFunc("profile", s.completeProfiles)
}

// profile is a server with an API key or a session.
type profile struct {
	URL     string `json:"url"`
	APIKey  string `json:"api_key,omitempty"`
	Session string `json:"session,omitempty"`
}

// client returns a client for the server.
func (p profile) client(options ...signalbox.Option) (*signalbox.Client, error) {
	options = append(options, signalbox.WithUserAgent("signalbox-cli/"+app.Version()))
	if p.Session != "" {
		return signalbox.Resume(p.URL, p.Session, options...)
	}
	return signalbox.New(p.URL, p.APIKey, options...)
}

// explain adds advice to err if the session has ended or the URL does not answer as Signalbox.
func (p profile) explain(err error) error {
	refused, answered := errors.AsType[*signalbox.APIError](err)
	_, lost := errors.AsType[net.Error](err)
	_, ofFile := errors.AsType[*fs.PathError](err) // which is a net.Error too, by its methods
	switch {
	case err == nil || errors.Is(err, context.Canceled):
		return err
	case p.Session != "" && signalbox.IsUnauthorized(err):
		return terminal.Unauthorized(fmt.Errorf("your session on %s has ended; sign in again with signalbox login %s", p.URL, p.URL))
	case errors.Is(err, http.ErrSchemeMismatch):
		return advice{fmt.Sprintf("%s does not speak TLS: write http:// in place of https://", p.URL), err}
	case answered && len(refused.Errors) == 0, errors.Is(err, signalbox.ErrNotSignalbox):
		return advice{fmt.Sprintf("%s answers, but not as Signalbox: it is another server, or a proxy in front of Signalbox", p.URL), err}
	case lost && !answered && !ofFile:
		return advice{fmt.Sprintf("%s does not answer; is the server running, and the URL right?", p.URL), err}
	}
	return err
}

// advice is an error whose text says what to do, followed by the cause.
type advice struct {
	text  string
	cause error
}

func (a advice) Error() string {
	return a.text + " (" + strings.TrimPrefix(a.cause.Error(), "signalbox: ") + ")"
}

func (a advice) Unwrap() error { return a.cause }

// address returns the given base URL without slashes at its end. Without a scheme, it uses http for this machine and https for
// all others, so that it never guesses a URL that would send a key unencrypted over a network.
func (s *shell) address(given string) string {
	given = strings.TrimRight(given, "/")
	if given == "" || strings.Contains(given, "://") {
		return given
	}
	host, _, err := net.SplitHostPort(given)
	if err != nil {
		host = given
	}
	guessed := "https://" + given
	if ip := net.ParseIP(strings.Trim(host, "[]")); host == "localhost" || ip != nil && ip.IsLoopback() {
		guessed = "http://" + given
	}
	s.Note("%s has no scheme; using %s", given, guessed)
	return guessed
}

// profileFile is the file in which login saves profiles.
type profileFile struct {
	path     string
	Current  string             `json:"current"`
	Profiles map[string]profile `json:"profiles"`
}

// target returns the server and the key to use. Flags win over the environment, and the environment wins over the profile. The
// key or session of a profile is never sent to another server.
func (s *shell) target(at connection) (profile, error) {
	given := profile{URL: s.address(cmp.Or(at.url, s.Variable(urlVariable))), APIKey: cmp.Or(at.key, s.Variable(keyVariable))}
	name := cmp.Or(at.profile, s.Variable(profileVariable))
	if given.URL != "" && given.APIKey != "" && name == "" {
		return given, nil
	}
	file, err := s.readProfiles()
	if err != nil {
		return profile{}, err
	}
	saved, exists := file.Profiles[cmp.Or(name, file.Current)]
	if !exists && name != "" {
		return profile{}, noProfile(name)
	}
	target := profile{URL: cmp.Or(given.URL, strings.TrimRight(saved.URL, "/"), defaultURL), APIKey: given.APIKey}
	if target.APIKey == "" && target.URL == strings.TrimRight(saved.URL, "/") {
		target.APIKey, target.Session = saved.APIKey, saved.Session
	}
	if target.APIKey == "" && target.Session == "" {
		return profile{}, terminal.Usagef("there is no API key for %s; run signalbox login, or set %s or --api-key", target.URL, keyVariable)
	}
	return target, nil
}

func noProfile(name string) error {
	return terminal.Usagef("there is no profile %q; signalbox profiles lists them", name)
}

// readProfiles reads the file. A missing file means no profiles.
func (s *shell) readProfiles() (profileFile, error) {
	file := profileFile{Profiles: map[string]profile{}}
	folder, err := s.configFolder()
	if err != nil {
		return file, err
	}
	file.path = filepath.Join(folder, "signalbox", "profiles.json")
	text, err := os.ReadFile(file.path)
	if errors.Is(err, fs.ErrNotExist) {
		return file, nil
	}
	if err != nil {
		return file, fmt.Errorf("reading the profiles: %w", err)
	}
	if info, err := os.Stat(file.path); err == nil && runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
		return file, fmt.Errorf("the profiles in %s can be read by others: run chmod 600 %q", file.path, file.path)
	}
	if err := json.Unmarshal(text, &file); err != nil {
		return file, fmt.Errorf("reading the profiles in %s: %w", file.path, err)
	}
	return file, nil
}

// configFolder returns the folder of the user's settings.
func (s *shell) configFolder() (string, error) {
	if folder := s.Variable("XDG_CONFIG_HOME"); folder != "" {
		return folder, nil
	}
	folder, err := os.UserConfigDir()
	if err != nil {
		return "", fmt.Errorf("finding the folder of profiles: %w; or set %s and %s instead", err, urlVariable, keyVariable)
	}
	return folder, nil
}

// save writes the file, which only its owner may read, in one step.
func (f profileFile) save() error {
	text, err := json.MarshalIndent(f, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(f.path), 0o700); err != nil {
		return fmt.Errorf("making the folder for profiles: %w", err)
	}
	if err := durable.Replace(f.path, "profiles-*.tmp", append(text, '\n')); err != nil {
		return fmt.Errorf("saving the profiles: %w", err)
	}
	return nil
}

func (s *shell) profiles() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "profiles [NAME]",
		Short:   "List the servers that login saved, or use another one",
		Example: "  signalbox profiles",
		Args:    terminal.Arguments,
		RunE: func(_ *cobra.Command, args []string) error {
			file, err := s.readProfiles()
			if err != nil || len(args) == 0 {
				s.listProfiles(file)
				return err
			}
			if _, exists := file.Profiles[args[0]]; !exists {
				return noProfile(args[0])
			}
			file.Current = args[0]
			return file.save()
		},
	}
	cmd.ValidArgsFunction = s.completeProfiles
	return cmd
}

// completeProfiles completes the names of profiles.
func (s *shell) completeProfiles(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	file, _ := s.readProfiles() // without the file there is nothing to complete
	return slices.Sorted(maps.Keys(file.Profiles)), cobra.ShellCompDirectiveNoFileComp
}

func (s *shell) listProfiles(file profileFile) {
	for _, name := range slices.Sorted(maps.Keys(file.Profiles)) {
		mark := " "
		if name == file.Current {
			mark = "*"
		}
		s.Say("%s %s  %s\n", mark, name, file.Profiles[name].URL)
	}
}
