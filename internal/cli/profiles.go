package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"

	"github.com/spf13/cobra"

	signalbox "github.com/signalbox/signalbox/client"
	"github.com/signalbox/signalbox/internal/app"
	"github.com/signalbox/signalbox/internal/cli/terminal"
)

const (
	urlVariable     = "SIGNALBOX_URL"
	keyVariable     = "SIGNALBOX_API_KEY" //nolint:gosec // the name of a variable, not a key
	profileVariable = "SIGNALBOX_PROFILE"
	defaultURL      = "http://127.0.0.1:8080"
	defaultProfile  = "default"
)

// connection has the flags that say which server a command speaks to.
type connection struct{ url, key, profile string }

func (at *connection) addFlags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&at.url, "url", "", "the server's base `URL` ("+urlVariable+", default: the profile's, or "+defaultURL+")")
	cmd.Flags().StringVar(&at.key, "api-key", "", "the API `KEY` ("+keyVariable+", default: the profile's)")
	cmd.Flags().StringVar(&at.profile, "profile", "", "the `NAME` of a profile that login saved ("+profileVariable+", default: the one in use)")
}

// profile is a server and the key for it.
type profile struct {
	URL    string `json:"url"`
	APIKey string `json:"api_key"`
}

// profileFile is the file that keeps what login was told.
type profileFile struct {
	path     string
	Current  string             `json:"current"`
	Profiles map[string]profile `json:"profiles"`
}

// target returns the server and the key to use. Flags win over the environment, and that over the profile. The key of a
// profile is for its server alone: it is never sent to another one.
func (s *shell) target(at connection) (profile, error) {
	given := profile{cmp.Or(at.url, s.Variable(urlVariable)), cmp.Or(at.key, s.Variable(keyVariable))}
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
		return profile{}, terminal.Usagef("there is no profile %q; signalbox profiles lists those that there are", name)
	}
	target := profile{cmp.Or(given.URL, saved.URL, defaultURL), given.APIKey}
	if target.APIKey == "" && target.URL == saved.URL {
		target.APIKey = saved.APIKey
	}
	if target.APIKey == "" {
		return profile{}, terminal.Usagef("there is no API key for %s; run signalbox login, or set %s or --api-key", target.URL, keyVariable)
	}
	return target, nil
}

// readProfiles reads the file; one that does not exist has no profiles.
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
	temporary, err := os.CreateTemp(filepath.Dir(f.path), "profiles-*.tmp") // mode 0600
	if err != nil {
		return fmt.Errorf("saving the profiles: %w", err)
	}
	defer os.Remove(temporary.Name())
	_, err = temporary.Write(append(text, '\n'))
	if err := errors.Join(err, temporary.Close()); err != nil {
		return fmt.Errorf("saving the profiles: %w", err)
	}
	return os.Rename(temporary.Name(), f.path)
}

func (s *shell) login() *cobra.Command {
	var at connection
	cmd := &cobra.Command{
		Use:   "login [URL]",
		Short: "Save a server and an API key, for all other commands",
		Long: `Save a server and an API key as a profile, and use it from now on. The key is asked for, or read from the input, or
taken from SIGNALBOX_API_KEY; it is checked with the server and saved in a file that only you can read. SIGNALBOX_URL and
SIGNALBOX_API_KEY win over profiles. Make a key with signalbox keys create, or in the console.`,
		Example: "  signalbox login " + defaultURL + " < api-key.txt",
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				at.url = args[0]
			}
			return s.saveLogin(cmd.Context(), at)
		},
	}
	cmd.Args = terminal.Arguments(cmd.Use)
	cmd.Flags().StringVar(&at.key, "api-key", "", "the API `KEY` ("+keyVariable+")")
	cmd.Flags().StringVar(&at.profile, "profile", defaultProfile, "the `NAME` to save it as")
	return cmd
}

func (s *shell) saveLogin(ctx context.Context, at connection) (err error) {
	entry := profile{cmp.Or(at.url, s.Variable(urlVariable), defaultURL), cmp.Or(at.key, s.Variable(keyVariable))}
	if entry.APIKey == "" {
		if entry.APIKey, err = s.Secret("API key for " + entry.URL + ": "); err != nil {
			return err
		}
	}
	client, err := signalbox.New(entry.URL, entry.APIKey, signalbox.WithUserAgent("signalbox-cli/"+app.Version()))
	if err != nil {
		return terminal.Usage(err)
	}
	account, err := client.Account.Get(ctx)
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
	s.Say("You use the account %s on %s now. It is saved as the profile %s in %s.\n", account.Key, entry.URL, at.profile, file.path)
	return nil
}

func (s *shell) logout() *cobra.Command {
	var name string
	cmd := &cobra.Command{
		Use:     "logout",
		Short:   "Forget a server and its API key",
		Long:    "Forget a server and its API key. The key itself still works: signalbox keys revoke ends it.",
		Example: "  signalbox logout",
		RunE: func(*cobra.Command, []string) error {
			file, err := s.readProfiles()
			if err != nil {
				return err
			}
			name = cmp.Or(name, file.Current)
			if _, exists := file.Profiles[name]; !exists {
				return terminal.Usagef("there is no profile %q; signalbox profiles lists those that there are", name)
			}
			delete(file.Profiles, name)
			if file.Current == name {
				file.Current = ""
			}
			if err := file.save(); err != nil {
				return err
			}
			s.Say("The profile %s is forgotten.\n", name)
			return nil
		},
	}
	cmd.Args = terminal.Arguments(cmd.Use)
	cmd.Flags().StringVar(&name, "profile", "", "the `NAME` of the profile (default: the one in use)")
	return cmd
}

func (s *shell) profiles() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "profiles [NAME]",
		Short:   "List the servers that login saved, or use another one",
		Example: "  signalbox profiles",
		RunE: func(_ *cobra.Command, args []string) error {
			file, err := s.readProfiles()
			if err != nil || len(args) == 0 {
				s.listProfiles(file)
				return err
			}
			if _, exists := file.Profiles[args[0]]; !exists {
				return terminal.Usagef("there is no profile %q; signalbox profiles lists those that there are", args[0])
			}
			file.Current = args[0]
			return file.save()
		},
	}
	cmd.Args = terminal.Arguments(cmd.Use)
	cmd.ValidArgsFunction = func(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
		file, _ := s.readProfiles() // without one there is nothing to complete
		return slices.Sorted(maps.Keys(file.Profiles)), cobra.ShellCompDirectiveNoFileComp
	}
	return cmd
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
