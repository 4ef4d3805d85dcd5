package admin

import (
	"fmt"
	"io"
	"log/slog"

	"github.com/spf13/cobra"

	"github.com/signalbox/signalbox/internal/app"
	"github.com/signalbox/signalbox/internal/cli/terminal"
	"github.com/signalbox/signalbox/internal/settings"
)

func (c *commands) backup() *cobra.Command {
	cmd := c.onSettings("backup FILE", "Copy the SQLite database to a new file, beside a running server", "signalbox admin backup signalbox-$(date +%F).db",
		func(cmd *cobra.Command, s settings.Settings, _ *slog.Logger, args []string) error {
			version, err := app.Backup(cmd.Context(), s, args[0])
			if err != nil {
				return err
			}
			return c.print(map[string]any{"file": args[0], "schema": version},
				sentence("The database is copied to %s and checked. Keep the key ring too, apart from it: without the ring, secrets are lost.\n", args[0]))
		})
	cmd.Long = `Copy the SQLite database to a new file, beside a running server or without one. The copy is one consistent state, and is
checked before it gets its name. A database of an older version is copied without migrating it. For PostgreSQL use pg_dump.`
	return cmd
}

func (c *commands) restore() *cobra.Command {
	var yes bool
	cmd := c.onSettings("restore FILE", "Restore a backup of the SQLite database, while the server does not run", "signalbox admin restore $BACKUP --yes",
		func(cmd *cobra.Command, s settings.Settings, _ *slog.Logger, args []string) error {
			if app.HasDatabase(s) {
				said := fmt.Sprintf("The database in %s will be replaced by %s. The replaced database is kept there under another name.", s.Data, args[0])
				if err := c.Confirm(yes, said); err != nil {
					return err
				}
			}
			kept, err := app.Restore(cmd.Context(), s, args[0])
			if err != nil {
				return err
			}
			return c.print(map[string]any{"restored": args[0], "kept": kept}, func(w io.Writer) {
				terminal.Fprintf(w, "The database is restored. The server needs the key ring that its secrets were encrypted with.\n")
				if kept != "" {
					terminal.Fprintf(w, "The replaced database is kept as %s.\n", kept)
				}
			})
		})
	cmd.Long = `Restore a backup of the SQLite database, while the server does not run. The backup is checked first. The replaced database is
kept under another name. For PostgreSQL use pg_restore.`
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "do it without asking")
	return cmd
}
