package cli

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/signalbox/signalbox/internal/cli/terminal"
)

// watchPause is how long --watch waits before it reads a list again. It does not use events, because some kinds have none.
const watchPause = time.Second

// follow prints a list, and then its new, changed and removed items, until the context is canceled. Formats for programs have
// one JSON document per line.
func (k kind[T]) follow(ctx context.Context, c *call, read func() ([]T, error), list []T) error {
	if c.format.IsText() {
		if err := terminal.PrintAll(c.Terminal, c.format, k.items(), list); err != nil {
			return err
		}
	} else if err := k.printChanged(c, list, func(int) bool { return true }); err != nil {
		return err
	}
	for seen := k.documents(list); ; {
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(watchPause):
		}
		list, err := read()
		if err != nil {
			return unlessCanceled(err)
		}
		now := k.documents(list)
		if err := k.printChanged(c, list, func(i int) bool { id := k.of(list[i]).ID; return seen[id] != now[id] }); err != nil {
			return err
		}
		for id := range seen {
			if _, stays := now[id]; !stays {
				k.printGone(c, id)
			}
		}
		seen = now
	}
}

// unlessCanceled returns err, or nil when somebody ended the command.
func unlessCanceled(err error) error {
	if errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

// documents returns each resource as JSON by its id.
func (k kind[T]) documents(list []T) map[string]string {
	documents := make(map[string]string, len(list))
	for _, item := range list {
		document, _ := k.document(item) // it was decoded from JSON, so it can be encoded
		documents[k.of(item).ID] = string(document)
	}
	return documents
}

// printChanged prints the items of a list that changed reports.
func (k kind[T]) printChanged(c *call, list []T, changed func(int) bool) error {
	if c.format.IsText() {
		return terminal.PrintRows(c.Terminal, c.format, k.items(), list, changed)
	}
	for i, item := range list {
		if !changed(i) {
			continue
		}
		document, err := k.document(item)
		if err == nil {
			err = c.printNext(k.of(item).ID, document)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// printNext prints one of several documents that follow each other: JSON in one line, YAML after a separator.
func (c *call) printNext(id string, document json.RawMessage) error {
	switch c.format.String() {
	case terminal.FormatName:
		c.Say("%s\n", id)
		return nil
	case terminal.FormatJSON:
		return c.PrintLine(document)
	case terminal.FormatYAML:
		c.Say("---\n")
	}
	return c.PrintValue(c.format, document)
}

// printGone says that a resource is no longer in a list, where the format can say so.
func (k kind[T]) printGone(c *call, id string) {
	switch {
	case c.format.IsText():
		c.Say("%s\n", c.Paint(terminal.Faint, id+"  (no longer listed)"))
	case c.format.String() == terminal.FormatJSON:
		_ = c.PrintLine(map[string]any{"kind": k.name, "id": id, "gone": true}) // the reader of the output has gone
	}
}
