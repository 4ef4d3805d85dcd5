package logging

import (
	"context"
	"database/sql"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
	_ "github.com/jackc/pgx/v5/stdlib" // registers the driver "pgx"
	_ "modernc.org/sqlite"             // registers the driver "sqlite"

	"github.com/signalbox/signalbox/bench/servers"
)

// chunk is how many rows one statement inserts.
const chunk = 250

// insertBare inserts the same rows as a fleet's reports into Signalbox's own table,
// with its indexes and through the same driver: one connection, a prepared statement
// of many rows, one durable transaction for each service.
func insertBare(ctx context.Context, folder string, store servers.Store) (float64, error) {
	database, drop, err := store.NewDatabase(ctx)
	if err != nil {
		return 0, err
	}
	defer drop()
	node, err := servers.StartSignalbox(ctx, folder, database)
	if err != nil {
		return 0, err
	}
	node.Stop() // it was started only to create the tables and an account
	db, err := openBare(folder, database)
	if err != nil {
		return 0, err
	}
	defer db.Close()
	var account string
	if err := db.QueryRowContext(ctx, `SELECT id FROM accounts`).Scan(&account); err != nil {
		return 0, err
	}
	statement, err := db.PrepareContext(ctx, insertion())
	if err != nil {
		return 0, err
	}
	defer statement.Close()
	return perSecond(1, func(service int) error { return insertService(ctx, db, statement, account, service) })
}

func openBare(folder, database string) (db *sql.DB, err error) {
	if database != "" {
		db, err = sql.Open("pgx", database)
	} else {
		db, err = sql.Open("sqlite", "file:"+filepath.Join(folder, "signalbox.db")+
			"?_txlock=immediate&_pragma=busy_timeout(10000)&_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)&_pragma=foreign_keys(1)")
	}
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	return db, nil
}

func insertion() string {
	const columns = 11
	var text strings.Builder
	text.WriteString(`INSERT INTO logger_sources (id, account_id, logger, service, environment, level, resolved_level,
		first_observed, last_seen, created_at, updated_at) VALUES `)
	for row := range chunk {
		if row > 0 {
			text.WriteString(",")
		}
		text.WriteString("(")
		for column := range columns {
			if column > 0 {
				text.WriteString(",")
			}
			text.WriteString("$" + strconv.Itoa(row*columns+column+1))
		}
		text.WriteString(")")
	}
	return text.String()
}

func insertService(ctx context.Context, db *sql.DB, statement *sql.Stmt, account string, service int) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // nothing to do after the commit
	insert := tx.StmtContext(ctx, statement)
	defer insert.Close()
	now := time.Now().UnixMicro()
	for first := 0; first < loggersEach; first += chunk {
		var args []any
		for i := range chunk {
			args = append(args, uuid.NewString(), account, loggerName(first+i), fmt.Sprintf("service-%d", service), "production",
				"INFO", "INFO", now, now, now, now)
		}
		if _, err := insert.ExecContext(ctx, args...); err != nil {
			return err
		}
	}
	return tx.Commit()
}
