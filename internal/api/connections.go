package api

import (
	"context"

	"github.com/signalbox/signalbox/internal/accounts"
	"github.com/signalbox/signalbox/internal/connections"
	"github.com/signalbox/signalbox/internal/page"
)

func connectionResource() resource[connections.Connection, none, none] {
	return describe(connections.Kind, func(each connections.Connection) (string, any) { return each.ID, each },
		func(*call) none { return none{} }, noDraft)
}

// connections lists the clients that are connected to the event stream now.
func (a *API) connections(ctx context.Context, caller accounts.Caller, _ none, cursor page.Cursor) (page.Tail[connections.Connection], error) {
	return a.Connections.Connections(ctx, caller, cursor)
}
