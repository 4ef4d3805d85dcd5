package admin

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/signalbox/signalbox/internal/app"
)

func (c *commands) migrate() *cobra.Command {
	run := func(context.Context, *app.Operator, []string) (result, error) { // opening the store has already migrated the schema
		return result{map[string]bool{"migrated": true}, sentence("The schema is up to date.\n")}, nil
	}
	return c.onStore(app.MakeOperator, "migrate", "Bring the database schema up to date, and stop", `signalbox admin migrate`, run)
}
