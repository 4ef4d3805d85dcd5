package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	signalbox "github.com/signalbox/signalbox/client"
	"github.com/signalbox/signalbox/internal/cli/terminal"
	"github.com/signalbox/signalbox/internal/naming"
	"github.com/signalbox/signalbox/internal/rawjson"
)

// kind describes a kind of resource to the commands that all kinds share.
type kind[T any] struct {
	// name is the kind's name in documents, such as "log_group", and noun its name in sentences. Changes have no
	// name, because their documents have the kind of the changed resource.
	name, noun string
	columns    []terminal.Column[T]
	of         func(T) signalbox.Resource
	all        func(context.Context, *signalbox.Client) iter.Seq2[T, error]
	get        func(context.Context, *signalbox.Client, string) (T, error)
	remove     func(context.Context, *signalbox.Client, string, ...signalbox.WriteOption) error
}

// service is the part of the client's API that most kinds have.
type service[T, Params any] interface {
	All(ctx context.Context, params Params) iter.Seq2[T, error]
	Get(ctx context.Context, id string) (T, error)
	Delete(ctx context.Context, id string, options ...signalbox.WriteOption) error
}

// from returns the kind with the functions that read and delete its resources.
func from[T, Params any](in func(*signalbox.Client) service[T, Params], k kind[T]) kind[T] {
	k.all = func(ctx context.Context, c *signalbox.Client) iter.Seq2[T, error] {
		return in(c).All(ctx, *new(Params))
	}
	k.get = func(ctx context.Context, c *signalbox.Client, id string) (T, error) { return in(c).Get(ctx, id) }
	k.remove = func(ctx context.Context, c *signalbox.Client, id string, options ...signalbox.WriteOption) error {
		return in(c).Delete(ctx, id, options...)
	}
	return k
}

// items returns how resources of the kind are printed.
func (k kind[T]) items() terminal.Items[T] {
	return terminal.Items[T]{
		Columns: k.columns,
		Name:    func(item T) string { return k.of(item).ID },
		JSON:    k.document,
	}
}

// document returns a resource as one JSON object that begins with its kind and its id, as files for apply do.
func (k kind[T]) document(item T) (json.RawMessage, error) {
	attributes, err := rawjson.Encode(item)
	if err != nil {
		return nil, err
	}
	identity, err := rawjson.Encode(struct {
		Kind string `json:"kind,omitempty"`
		ID   string `json:"id"`
	}{k.name, k.of(item).ID})
	if err != nil {
		return nil, err
	}
	if string(attributes) == "{}" {
		return identity, nil
	}
	return append(append(identity[:len(identity)-1], ','), attributes[1:]...), nil
}

// ids completes the ids of the kind.
func (k kind[T]) ids(ctx context.Context, client *signalbox.Client, _ ...string) (ids []string) {
	for item, err := range k.all(ctx, client) {
		if err != nil {
			break
		}
		ids = append(ids, k.of(item).ID)
	}
	return ids
}

// find reads a resource. If it does not exist, the error names the nearest id.
func (k kind[T]) find(ctx context.Context, c *call, id string) (T, error) {
	item, err := k.get(ctx, c.client, id)
	return item, k.suggest(ctx, c, id, err)
}

// suggest adds the nearest id to a not-found error.
func (k kind[T]) suggest(ctx context.Context, c *call, id string, err error) error {
	if !signalbox.IsNotFound(err) {
		return err
	}
	return notFoundNear(err, id, k.ids(ctx, c.client))
}

// exists returns an error unless there is a resource with the id. It accepts "".
func (k kind[T]) exists(ctx context.Context, c *call, id string) error {
	if id == "" {
		return nil
	}
	_, err := k.find(ctx, c, id)
	return err
}

// notFoundNear adds the known name that is nearest to name to a not-found error.
func notFoundNear(err error, name string, known []string) error {
	if nearest := naming.Nearest(name, known); nearest != "" {
		return fmt.Errorf("%w Did you mean %q?", err, nearest)
	}
	return err
}

// list returns the command that lists resources. all reads them with the command's filters; nil reads all resources.
func (k kind[T]) list(s *shell, a action, all func(context.Context, *call) iter.Seq2[T, error]) *cobra.Command {
	if all == nil {
		all = func(ctx context.Context, c *call) iter.Seq2[T, error] { return k.all(ctx, c.client) }
	}
	var watches bool
	own := a.flags
	a.format = terminal.FormatTable
	a.flags = func(cmd *cobra.Command) {
		if own != nil {
			own(cmd)
		}
		cmd.Flags().BoolVarP(&watches, "watch", "w", false, "keep running and print added, changed and removed items, until interrupted")
	}
	a.run = func(ctx context.Context, c *call) error {
		list, err := collect(all(ctx, c))
		if len(list) == 0 && a.filters != nil { // a check of the filters explains the error better than the server
			err = cmp.Or(a.filters(ctx, c), err)
		}
		switch {
		case err != nil:
			return err
		case watches:
			return k.follow(ctx, c, func() ([]T, error) { return collect(all(ctx, c)) }, list)
		case len(list) == 0 && c.format.IsText():
			c.Note("there are no %s", k.plural())
			return nil
		}
		return terminal.PrintAll(c.Terminal, c.format, k.items(), list)
	}
	return s.command(a)
}

// plural returns the plural of the kind's noun.
func (k kind[T]) plural() string {
	if k.noun == "person" {
		return "people"
	}
	return plural(2, k.noun)
}

// collect reads a whole list.
func collect[T any](all iter.Seq2[T, error]) (list []T, err error) {
	for item, err := range all {
		if err != nil {
			return nil, err
		}
		list = append(list, item)
	}
	return list, nil
}

// first ends a list after count items; 0 means no limit.
func first[T any](count int, all iter.Seq2[T, error]) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		left := count
		for item, err := range all {
			left--
			if !yield(item, err) || left == 0 {
				return
			}
		}
	}
}

// show returns the command that prints one resource, as YAML that apply understands.
func (k kind[T]) show(s *shell, example string) *cobra.Command {
	return s.command(action{
		use: "get ID...", short: "Print one " + k.noun + ", or several", example: example,
		format: terminal.FormatYAML, completes: []completion{k.ids},
		run: func(ctx context.Context, c *call) error {
			var found []T
			var errs []error
			for _, id := range c.args {
				item, err := k.find(ctx, c, id)
				if errs = append(errs, err); err == nil {
					found = append(found, item)
				}
			}
			return errors.Join(append(errs, k.print(c, found, len(c.args) > 1))...)
		},
	})
}

// print prints the resources that a command names: one by itself, several as a list, or as YAML documents that apply reads.
func (k kind[T]) print(c *call, found []T, several bool) error {
	switch {
	case len(found) == 0:
		return nil
	case !several:
		return terminal.PrintOne(c.Terminal, c.format, k.items(), found[0])
	case c.format.String() != terminal.FormatYAML:
		return terminal.PrintAll(c.Terminal, c.format, k.items(), found)
	}
	documents := make([]json.RawMessage, len(found))
	for i, item := range found {
		var err error
		if documents[i], err = k.document(item); err != nil {
			return err
		}
	}
	return c.PrintYAML(documents)
}

// delete returns the command that deletes a resource after naming the consequences.
func (k kind[T]) delete(s *shell, example string, consequences func(context.Context, *call, T) (string, error)) *cobra.Command {
	return s.command(action{
		use: "delete ID...", short: "Delete " + withArticle(k.noun) + ", or several", example: example,
		writes: true, destroys: true, each: true, completes: []completion{k.ids},
		run: func(ctx context.Context, c *call) error {
			item, err := k.find(ctx, c, c.args[0])
			if err != nil {
				return err
			}
			said, err := consequences(ctx, c, item)
			if err != nil {
				return err
			}
			if err := c.Confirm(c.yes || c.dryRun, said); err != nil {
				return err
			}
			if err := k.remove(ctx, c.client, k.of(item).ID, c.options()...); err != nil {
				return err
			}
			c.done(nil, "The %s %s is deleted.", k.noun, k.of(item).ID)
			return nil
		},
	})
}

// wrote prints the result of a write: a sentence for people, the resource for programs.
func (k kind[T]) wrote(c *call, item T, err error, format string, args ...any) error {
	if err != nil {
		return err
	}
	if c.format.Given() {
		c.notes(k.of(item).Notes)
		return terminal.PrintOne(c.Terminal, c.format, k.items(), item)
	}
	c.done(k.of(item).Notes, format, args...)
	return nil
}

// done prints the result of a write, and the server's notes about it.
func (c *call) done(notes *signalbox.Notes, format string, args ...any) {
	sentence := terminal.Sprintf(format, args...)
	if c.dryRun {
		sentence = "Dry run, nothing was changed. The result would be: " + sentence
	}
	c.Say("%s\n", sentence)
	c.notes(notes)
}

// notes prints the server's notes about a write.
func (c *call) notes(notes *signalbox.Notes) {
	if notes == nil {
		return
	}
	for _, warning := range notes.Warnings {
		c.Note("%s", c.Paint(terminal.Warn, warning.Detail))
	}
}

// withArticle returns a noun after its article.
func withArticle(noun string) string {
	if strings.ContainsAny(noun[:1], "aeiou") {
		return "an " + noun
	}
	return "a " + noun
}

// edited reads a resource, changes its draft and writes it back. It starts again if somebody else wrote meanwhile.
func edited[T, D any](ctx context.Context, c *call, k kind[T], id string, draft func(T) D, change func(T, *D) error,
	replace func(context.Context, string, D, ...signalbox.WriteOption) (T, error)) (T, error) {
	const attempts = 5
	for attempt := 1; ; attempt++ {
		item, err := k.find(ctx, c, id)
		if err != nil {
			return item, err
		}
		changed := draft(item)
		if err := change(item, &changed); err != nil {
			return item, err
		}
		var unchanged []signalbox.WriteOption
		if etag := k.of(item).ETag; etag != "" { // a new resource has none
			unchanged = append(unchanged, signalbox.IfMatch(etag))
		}
		written, err := replace(ctx, k.of(item).ID, changed, c.options(unchanged...)...)
		if !signalbox.IsVersionMismatch(err) || attempt == attempts {
			return written, err
		}
	}
}

// moment returns a time as tables show it; nil is "".
func moment(at *time.Time) string {
	if at == nil || at.IsZero() {
		return ""
	}
	return at.UTC().Format("2006-01-02 15:04:05Z")
}

// eachEnvironment returns a text for every environment: "production: DEBUG; staging: INFO".
func eachEnvironment[T any](values map[string]T, text func(T) string) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(values)) {
		parts = append(parts, name+": "+text(values[name]))
	}
	return strings.Join(parts, "; ")
}

// value returns the value of a pointer; nil is the zero value.
func value[T any](pointer *T) (zero T) {
	if pointer == nil {
		return zero
	}
	return *pointer
}
