package cli

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	signalbox "github.com/signalbox/signalbox/client"
	"github.com/signalbox/signalbox/internal/cli/terminal"
	"github.com/signalbox/signalbox/internal/condition"
)

func changeKind() kind[signalbox.Change] {
	return kind[signalbox.Change]{
		noun: "change", // a change's document has the kind of the changed resource
		of:   func(c signalbox.Change) signalbox.Resource { return c.Resource },
		all: func(ctx context.Context, c *signalbox.Client) iter.Seq2[signalbox.Change, error] {
			const completed = 50
			return first(completed, c.Changes.All(ctx, signalbox.ChangeParams{Size: completed}))
		},
		columns: []terminal.Column[signalbox.Change]{
			{Title: "NUMBER", Text: func(c signalbox.Change) string { return c.ID }, Whole: true},
			{Title: "WHEN", Text: func(c signalbox.Change) string { return moment(&c.CreatedAt) }},
			{Title: "WHAT", Text: func(c signalbox.Change) string { return c.Kind + ":" + c.Key }, Whole: true},
			{Title: "ACTION", Text: func(c signalbox.Change) string { return c.Action }},
			{Title: "BY", Text: func(c signalbox.Change) string { return c.Actor.Name }},
			{Title: "REVERTS", Text: revertsText, Wide: true},
		},
	}
}

func revertsText(c signalbox.Change) string {
	if c.Reverts == nil {
		return ""
	}
	return fmt.Sprint(*c.Reverts)
}

func (s *shell) changes() *cobra.Command {
	return terminal.Group("changes", "The history of the account", s.listChanges(), s.showChange(), s.revertChange())
}

func (s *shell) listChanges() *cobra.Command {
	var resource, actor string
	var limit int
	return changeKind().list(s, action{
		use: "list", short: "List changes, the newest first", example: "signalbox changes list --limit 10\nsignalbox changes list --resource flag:checkout-v2",
		flags: func(cmd *cobra.Command) {
			s.addCompleted(cmd, &resource, "resource", "list the changes of one resource, as `KIND:ID`", resourceNames)
			s.addCompleted(cmd, &actor, "actor", "list the changes by the key or user with this `ID`", keyKind().ids)
			addLimit(cmd, &limit)
		},
		filters: func(ctx context.Context, c *call) error {
			return cmp.Or(resourceExists(ctx, c, resource), actorExists(ctx, c, actor))
		},
	}, func(ctx context.Context, c *call) iter.Seq2[signalbox.Change, error] {
		return first(limit, c.client.Changes.All(ctx, signalbox.ChangeParams{Resource: resourceName(resource), Actor: actor, Size: pageSize(limit)}))
	})
}

// actorExists returns an error unless there is a key or person with the id; for a name or address it says the id. It accepts "", and
// everything if the caller may not list keys and people.
func actorExists(ctx context.Context, c *call, actor string) error {
	if actor == "" || slices.Contains([]string{"command-line", "signalbox"}, actor) { // the actors that are neither
		return nil
	}
	key, noKey := findKey(ctx, c, actor)
	person, noPerson := findUser(ctx, c.client, actor)
	switch {
	case noKey == nil && key.ID != actor:
		return terminal.NotFoundf("--actor takes an id; the id of the API key %q is %s", actor, key.ID)
	case noPerson == nil && person.ID != actor:
		return terminal.NotFoundf("--actor takes an id; the id of %s is %s", actor, person.ID)
	case signalbox.IsNotFound(noKey) && signalbox.IsNotFound(noPerson):
		return terminal.NotFoundf("there is no API key or person with the id %q", actor)
	}
	return nil
}

// findChange returns the change that the command names by its number.
func (c *call) findChange(ctx context.Context) (signalbox.Change, int64, error) {
	number, err := strconv.ParseInt(c.args[0], 10, 64)
	if err != nil {
		return signalbox.Change{}, 0, terminal.Usagef("%q is not the number of a change; signalbox changes list shows them", c.args[0])
	}
	change, err := c.client.Changes.Get(ctx, number)
	return change, number, err
}

func (s *shell) showChange() *cobra.Command {
	return s.command(action{
		use: "show NUMBER", short: "Show who changed what, as a diff", example: "signalbox changes show $CHANGE",
		format: terminal.FormatTable, completes: []completion{changeKind().ids},
		run: func(ctx context.Context, c *call) error {
			change, _, err := c.findChange(ctx)
			if err != nil {
				return err
			}
			if !c.format.IsText() {
				return terminal.PrintOne(c.Terminal, c.format, changeKind().items(), change)
			}
			c.Say("%s:%s %s by %s at %s\n", change.Kind, change.Key, change.Action, change.Actor.Name, moment(&change.CreatedAt))
			if change.Reverts != nil {
				c.Say("It reverted change %d.\n", *change.Reverts)
			}
			if change.Note != nil {
				c.Say("Note: %s\n", *change.Note)
			}
			for _, each := range change.Summary {
				if each.Environment != "" {
					c.Say("%s: ", each.Environment)
				}
				c.Say("%s\n", each.Text)
			}
			if change.Private {
				c.Say("The difference is only shown to the user whose settings these are.\n")
			}
			c.printSides([2]map[string]json.RawMessage{flatten(change.Before), flatten(change.After)})
			if change.DocumentsRemoved {
				c.Say("The difference is no longer kept: the account's history became too large.\n")
			}
			return nil
		},
	})
}

// flatten returns the values of a document by path: {"a": {"b": [{"c": 1}]}} has 1 at a.b[0].c. The logic of a rule becomes one
// condition. created_at and updated_at are left out.
func flatten(document json.RawMessage) map[string]json.RawMessage {
	found := map[string]json.RawMessage{}
	addFlat(found, "", document)
	delete(found, "created_at")
	delete(found, "updated_at")
	return found
}

func addFlat(to map[string]json.RawMessage, path string, value json.RawMessage) {
	var members map[string]json.RawMessage
	var elements []json.RawMessage
	switch {
	case string(value) == "null" || len(value) == 0:
	case strings.HasSuffix(path, "].logic"):
		logic, _ := condition.Decode(value)
		to[path] = json.RawMessage(condition.Text(logic))
	case json.Unmarshal(value, &members) == nil && len(members) > 0:
		for name, member := range members {
			addFlat(to, strings.TrimPrefix(path+"."+name, "."), member)
		}
	case bytes.HasPrefix(value, []byte("[{")) && json.Unmarshal(value, &elements) == nil:
		for i, element := range elements {
			addFlat(to, fmt.Sprintf("%s[%d]", path, i), element)
		}
	default:
		to[path] = value
	}
}

func (s *shell) revertChange() *cobra.Command {
	var force bool
	return s.command(action{
		use: "revert NUMBER", short: "Revert a change: restore the resource to its state before the change",
		example: "signalbox changes revert $CHANGE --yes",
		writes:  true, destroys: true, format: terminal.FormatYAML, completes: []completion{changeKind().ids},
		flags: func(cmd *cobra.Command) {
			cmd.Flags().BoolVar(&force, "force", false, "revert even if the resource was changed since; the later changes are lost")
		},
		run: func(ctx context.Context, c *call) error {
			change, number, err := c.findChange(ctx)
			if err != nil {
				return err
			}
			said := fmt.Sprintf("%s:%s will be restored to its state before it was %s at %s by %s.", change.Kind, change.Key, change.Action, moment(&change.CreatedAt), change.Actor.Name)
			if err := c.Confirm(c.yes || c.dryRun, said); err != nil {
				return err
			}
			revert := c.client.Changes.Revert
			if force {
				revert = c.client.Changes.ForceRevert
			}
			reverted, err := revert(ctx, number, c.options()...)
			return changeKind().wrote(c, reverted, sayFlags(err), "%s:%s is restored to its state before change %d.", change.Kind, change.Key, number)
		},
	})
}

// sayFlags returns a refusal that names flags of the command line in place of parameters of the API.
func sayFlags(err error) error {
	if refused, is := errors.AsType[*signalbox.APIError](err); is {
		flags := strings.NewReplacer("Send force=true", "Say --force", "send force=true", "say --force", "filter[period]", "--period")
		for i, each := range refused.Errors {
			refused.Errors[i].Detail = flags.Replace(each.Detail)
		}
	}
	return err
}
