package assistant

import (
	"context"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	signalbox "github.com/signalbox/signalbox/client"
)

// listChanges is the input of the tool that lists changes.
type listChanges struct {
	Resource string `json:"resource,omitempty" jsonschema:"only changes of this resource as kind:id, such as flag:checkout-v2 or logger:shop.payments"`
	After    string `json:"after,omitempty" jsonschema:"the value of next in the previous answer, for older changes"`
}

// numbered is the input of tools about one change.
type numbered struct {
	Number int64 `json:"number" jsonschema:"the number of the change, which list_changes shows as its id"`
}

func (t *tools) addChanges(server *mcp.Server) {
	addRead(server, "list_changes", "List who changed what, newest first.",
		func(ctx context.Context, in listChanges) (document, error) {
			listed, err := t.client.Changes.List(ctx, signalbox.ChangeParams{Resource: in.Resource, Size: pageSize, After: in.After})
			return recentOf(listed, err, without(showChange, "before", "after", "diff"))
		})
	addRead(server, "get_change", "Read a change: its actor, the resource before and after it, and the difference.",
		func(ctx context.Context, in numbered) (document, error) {
			change, err := t.client.Changes.Get(ctx, in.Number)
			if err != nil {
				return nil, err
			}
			return showChange(change)
		})
	addRead(server, "preview_revert", "Show what reverting a change would do, and whether it is possible. Nothing is changed.",
		func(ctx context.Context, in numbered) (document, error) {
			change, err := t.client.Changes.Revert(ctx, in.Number, signalbox.DryRun())
			if err != nil {
				return nil, err
			}
			return without(showChange, "id")(change) // a dry run has no number
		})
}

func showChange(change signalbox.Change) (document, error) {
	return documentOf(change.Resource, change)
}
