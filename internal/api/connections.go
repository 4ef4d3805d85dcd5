package api

import (
	"strings"

	"github.com/google/uuid"

	"github.com/signalbox/signalbox/internal/connections"
)

func connectionResource() resource[connections.Connection, none, none] {
	return describe(connections.Kind, func(each connections.Connection) (string, any) { return each.ID, each },
		func(*call) none { return none{} }, noDraft)
}

// connections lists who is connected to the event stream now.
func (a *API) connections(c *call) (reply, error) {
	cursor := c.query.Cursor("-connected_at")
	if id, err := uuid.Parse(cursor.After); cursor.After != "" && (err != nil || !strings.EqualFold(id.String(), cursor.After)) {
		c.query.Refuse("page[after]", "must be the id of a connection")
	}
	if err := c.query.Err(); err != nil {
		return reply{}, err
	}
	cursor.After = strings.ToLower(cursor.After)
	tail, err := a.Connections.Connections(c.ctx(), c.caller, cursor)
	if err != nil {
		return reply{}, err
	}
	return connectionResource().tail(a, c, cursor.Size, tail)
}
