package e2e

import (
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/signalbox/signalbox/internal/store/storetest" // also registers the database drivers
)

// runSQL runs a statement on a script's database, for states that this version of Signalbox never creates.
func runSQL(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) != 1 {
		ts.Fatalf("usage: sql STATEMENT")
	}
	if server := ts.Getenv("SIGNALBOX_DATABASE"); server != "" {
		ts.Check(execute("pgx", server, args[0]))
		return
	}
	ts.Check(execute("sqlite", "file:"+ts.MkAbs("data/signalbox.db")+"?_pragma=busy_timeout(10000)", args[0]))
}

// wipe empties the PostgreSQL database, for scripts that test a first start. On SQLite the file does not exist before it.
func wipe(ts *testscript.TestScript, _ bool, _ []string) {
	if server := ts.Getenv("SIGNALBOX_DATABASE"); server != "" {
		ts.Check(empty(server))
	}
}

// empty removes all tables of a PostgreSQL database.
func empty(server string) error {
	return execute("pgx", server, "DROP SCHEMA public CASCADE; CREATE SCHEMA public")
}

// outage makes the PostgreSQL database unreachable: connections are cut and
// new ones refused. "over" makes it reachable again; "cut" only cuts the connections.
func outage(ts *testscript.TestScript, _ bool, args []string) {
	parsed, err := url.Parse(ts.Getenv("SIGNALBOX_DATABASE"))
	ts.Check(err)
	name := strings.TrimPrefix(parsed.Path, "/")
	allow := fmt.Sprintf("ALTER DATABASE %s ALLOW_CONNECTIONS %%t", name)
	cut := fmt.Sprintf("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '%s'", name)
	statements := []string{fmt.Sprintf(allow, false), cut}
	switch {
	case len(args) == 1 && args[0] == "over":
		statements = []string{fmt.Sprintf(allow, true)}
	case len(args) == 1 && args[0] == "cut":
		statements = []string{cut}
	}
	for _, statement := range statements {
		ts.Check(execute("pgx", os.Getenv(storetest.ServerVariable), statement))
	}
}

func execute(driver, database, statement string) error {
	db, err := sql.Open(driver, database)
	if err != nil {
		return err
	}
	_, err = db.Exec(statement) //nolint:noctx // a script has no context
	return errors.Join(err, db.Close())
}
