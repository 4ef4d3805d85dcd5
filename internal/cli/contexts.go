package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	signalbox "github.com/signalbox/signalbox/client"
	"github.com/signalbox/signalbox/internal/cli/terminal"
)

func contextKind() kind[signalbox.Context] {
	in := func(c *signalbox.Client) service[signalbox.Context, signalbox.ContextParams] { return c.Contexts }
	return from(in, kind[signalbox.Context]{
		name: "context", noun: "context",
		of: func(c signalbox.Context) signalbox.Resource { return c.Resource },
		columns: []terminal.Column[signalbox.Context]{
			{Title: "ID", Text: func(c signalbox.Context) string { return c.ID }, Whole: true},
			{Title: "NAME", Text: func(c signalbox.Context) string { return c.Name }},
			{Title: "ATTRIBUTES", Text: func(c signalbox.Context) string { return attributesText(c.Attributes) }},
			{Title: "UPDATED", Text: func(c signalbox.Context) string { return moment(&c.UpdatedAt) }, Wide: true},
		},
	})
}

func contextTypeKind() kind[signalbox.ContextType] {
	in := func(c *signalbox.Client) service[signalbox.ContextType, signalbox.ContextTypeParams] {
		return c.ContextTypes
	}
	return from(in, kind[signalbox.ContextType]{
		name: "context_type", noun: "context type",
		of: func(t signalbox.ContextType) signalbox.Resource { return t.Resource },
		columns: []terminal.Column[signalbox.ContextType]{
			{Title: "ID", Text: func(t signalbox.ContextType) string { return t.ID }, Whole: true},
			{Title: "NAME", Text: func(t signalbox.ContextType) string { return t.Name }},
			{Title: "ATTRIBUTES", Text: func(t signalbox.ContextType) string {
				return strings.Join(slices.Sorted(maps.Keys(t.Attributes)), ", ")
			}},
			{Title: "UPDATED", Text: func(t signalbox.ContextType) string { return moment(&t.UpdatedAt) }, Wide: true},
		},
	})
}

// attributesText returns attributes as flags why takes them: plan="pro" seats=3.
func attributesText(attributes map[string]json.RawMessage) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(attributes)) {
		parts = append(parts, name+"="+string(attributes[name]))
	}
	return strings.Join(parts, " ")
}

func (s *shell) contexts() *cobra.Command {
	k := contextKind()
	return terminal.Group("contexts", "Users, devices and other contexts that rules read", s.listContexts(), s.listContextTypes(),
		k.show(s, "signalbox contexts get user:ada"),
		k.delete(s, "signalbox contexts delete user:ada --yes", func(_ context.Context, _ *call, each signalbox.Context) (string, error) {
			return fmt.Sprintf("The context %s will be deleted, until a service reports it again. Rules go on reading what services send.", each.ID), nil
		}))
}

func (s *shell) listContexts() *cobra.Command {
	var filter searchFlags
	var contextType string
	return contextKind().list(s, action{
		use: "list", short: "List contexts that services reported", example: "signalbox contexts list\nsignalbox contexts list --type user --search ada",
		flags: func(cmd *cobra.Command) {
			filter.addSearch(cmd)
			s.addCompleted(cmd, &contextType, "type", "list contexts of the type with this `ID`", contextTypeKind().ids)
		},
		filters: func(ctx context.Context, c *call) error { return contextTypeKind().exists(ctx, c, contextType) },
	}, func(ctx context.Context, c *call) iter.Seq2[signalbox.Context, error] {
		return c.client.Contexts.All(ctx, signalbox.ContextParams{Search: filter.search, Type: contextType})
	})
}

func (s *shell) listContextTypes() *cobra.Command {
	return contextTypeKind().list(s, action{
		use: "types", short: "List the types of contexts and the attributes that rules can read", example: "signalbox contexts types",
	}, nil)
}
