package admin

import (
	"context"
	"io"

	"github.com/spf13/cobra"

	"github.com/signalbox/signalbox/internal/app"
)

func (c *commands) migrate() *cobra.Command {
	run := func(context.Context, *app.Operator, []string) error { // opening the store has migrated it
		return c.print(map[string]bool{"migrated": true}, func(w io.Writer) { c.say(w, "The schema is up to date.\n") })
	}
	return c.onStore(app.MakeOperator, "migrate", "Bring the database schema up to date, and stop", `signalbox admin migrate`, run)
}
