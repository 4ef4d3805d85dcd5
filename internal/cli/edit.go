package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/signalbox/signalbox/internal/cli/manifest"
	"github.com/signalbox/signalbox/internal/cli/terminal"
	"github.com/signalbox/signalbox/internal/cli/yamljson"
)

func (s *shell) edit() *cobra.Command {
	return s.command(action{
		use: "edit KIND ID", short: "Edit a resource in your editor; the change is checked and shown before it is written",
		long: `Change a resource in your editor, as the YAML that apply takes. The editor is that of EDITOR or VISUAL. Your change is tried as
a dry run and shown before anything is written. When the server refuses it, or somebody else changed the resource
meanwhile, nothing is written and the file with your changes is kept.`,
		example: "signalbox edit flag checkout-v2 --yes\nsignalbox edit job nightly --dry-run",
		writes:  true, destroys: true, completes: []completion{words(kindNames()...), idsOfKind},
		run: func(ctx context.Context, c *call) error {
			kind, err := findKind(c.args[0])
			if err != nil {
				return err
			}
			if err := kind.exists(ctx, c, c.args[1]); err != nil {
				return err
			}
			return c.edit(ctx, kind.name, c.args[1])
		},
	})
}

// edit writes the resource to a file, opens an editor and applies the changes. If applying fails, the file is kept.
func (c *call) edit(ctx context.Context, kind, id string) error {
	before, err := c.definition(ctx, kind, id)
	if err != nil {
		return err
	}
	folder, err := os.MkdirTemp("", "signalbox-edit-")
	if err != nil {
		return fmt.Errorf("making a file to edit: %w", err)
	}
	file := filepath.Join(folder, kind+".yaml")
	if err := os.WriteFile(file, before, 0o600); err != nil {
		return fmt.Errorf("making a file to edit: %w", err)
	}
	done, err := c.applyEdited(ctx, kind, id, file, before)
	if done {
		return errors.Join(err, os.RemoveAll(folder))
	}
	c.Fail(terminal.Unprefixed(err))
	c.Note("your changes are kept in %s; mend them and write them with signalbox apply -f %s", file, file)
	return terminal.Silent(terminal.ExitCode(err))
}

// applyEdited opens the editor and applies the file, and reports whether the file can be removed.
func (c *call) applyEdited(ctx context.Context, kind, id, file string, before []byte) (done bool, err error) {
	if err := c.openEditor(ctx, file); err != nil {
		return true, err
	}
	after, err := os.ReadFile(file)
	if err != nil {
		return true, err
	}
	if bytes.Equal(before, after) {
		c.Say("Nothing was changed.\n")
		return true, nil
	}
	plan, err := c.planEdited(ctx, kind, id, file)
	if err != nil {
		return false, err
	}
	plan.Print(c.Terminal)
	if c.dryRun || !plan.Different() {
		return true, nil
	}
	if err := c.Confirm(c.yes, fmt.Sprintf("The %s %s will be changed.", kind, id)); err != nil {
		return false, err
	}
	now, err := c.definition(ctx, kind, id)
	if err != nil {
		return false, err
	}
	if !bytes.Equal(now, before) {
		c.Note("the %s %s was changed by somebody else while you edited it, so nothing was written; signalbox diff -f %s shows both", kind, id, file)
		return false, terminal.Silent(terminal.ExitConflict)
	}
	if _, err := plan.Apply(ctx); err != nil {
		return false, err
	}
	c.Say("Applied.\n")
	return true, nil
}

// planEdited makes a plan from the edited file, which must have the same resource and no other.
func (c *call) planEdited(ctx context.Context, kind, id, file string) (*manifest.Plan, error) {
	resources, err := manifest.Read([]string{file}, c.In)
	if err != nil {
		return nil, err
	}
	if len(resources) != 1 || resources[0].Kind != kind || resources[0].ID != id {
		return nil, terminal.Usagef("the file must have the %s %s and nothing else: kind and id cannot be edited", kind, id)
	}
	return manifest.New(ctx, c.client, resources, manifest.Options{Variable: c.Variable})
}

// definition returns a resource as YAML that apply takes.
func (c *call) definition(ctx context.Context, kind, id string) ([]byte, error) {
	objects, err := manifest.Export(ctx, c.client, []string{kind}, false)
	if err != nil {
		return nil, err
	}
	at := slices.IndexFunc(objects, func(object json.RawMessage) bool {
		var found struct {
			ID string `json:"id"`
		}
		return json.Unmarshal(object, &found) == nil && found.ID == id
	})
	if at < 0 {
		return nil, terminal.Usagef("the %s %s was only reported by a service: it has no settings to edit", kind, id)
	}
	return yamljson.FromJSON(objects[at])
}

// openEditor opens a file in the user's editor and waits until it is closed.
func (c *call) openEditor(ctx context.Context, file string) error {
	editor := strings.Fields(c.Variable("VISUAL"))
	if words := strings.Fields(c.Variable("EDITOR")); len(words) > 0 {
		editor = words
	}
	if len(editor) == 0 {
		editor = []string{"vi"}
	}
	command := exec.CommandContext(ctx, editor[0], append(editor[1:], file)...) //nolint:gosec // the user's own editor
	command.Stdin, command.Stdout, command.Stderr, command.Env = c.In, c.Out, c.Err, c.Environ
	if err := command.Run(); err != nil {
		return terminal.Usagef("the editor %s failed (%v); set EDITOR to another one", editor[0], err)
	}
	return nil
}
