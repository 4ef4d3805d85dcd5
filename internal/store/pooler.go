package store

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
)

// queryMode is the parameter of a database URL that says how statements are sent.
const queryMode = "default_query_exec_mode"

// checkQueryMode refuses query modes that do not tell PostgreSQL the types of arguments.
func checkQueryMode(config *pgx.ConnConfig) error {
	switch config.DefaultQueryExecMode {
	case pgx.QueryExecModeExec, pgx.QueryExecModeSimpleProtocol:
		return errors.New("the database URL has " + queryMode + ", with a value that Signalbox cannot work with: leave the parameter out, or use " +
			queryMode + "=cache_describe, which works with every version of PgBouncer")
	case pgx.QueryExecModeCacheStatement, pgx.QueryExecModeCacheDescribe, pgx.QueryExecModeDescribeExec:
	}
	return nil
}

// adaptToPooler finds out whether the database is behind a pooler such as PgBouncer. Transactions of one connection may then
// run on different connections of PostgreSQL, so statements must not be prepared by name unless the URL says so.
func (p *primary) adaptToPooler(ctx context.Context, url string) (pooled bool, err error) {
	conn, err := p.connect(ctx)
	if err != nil {
		return false, err
	}
	defer func() { _ = conn.Close(ctx) }() // it was opened for one question
	pooled, err = isPooled(ctx, conn)
	if err != nil || !pooled || strings.Contains(url, queryMode) {
		return pooled, err
	}
	for _, each := range p.hosts {
		each.config.DefaultQueryExecMode = pgx.QueryExecModeCacheDescribe
	}
	return true, nil
}

// isPooled reports whether statements run in another server process than the one that was announced when the connection
// opened. A pooler announces itself.
func isPooled(ctx context.Context, conn *pgx.Conn) (bool, error) {
	results, err := conn.PgConn().Exec(ctx, "SELECT pg_backend_pid()").ReadAll()
	if err != nil {
		return false, fmt.Errorf("asking for the process of a connection: %w", err)
	}
	return string(results[0].Rows[0][0]) != fmt.Sprint(conn.PgConn().PID()), nil
}

// Pooled reports whether the database is PostgreSQL behind a pooler such as PgBouncer.
func (db *DB) Pooled() bool {
	engine, remote := db.engine.(*postgres)
	return remote && engine.pooled
}
