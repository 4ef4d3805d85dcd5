package store

import (
	"context"
	"database/sql"
	"errors"
	"time"
)

// maxStatements bounds the prepared statements of a connection, because callers choose sorts and filters.
const maxStatements = 500

// prepared is a connection that prepares every statement once. No context ends its statements: in the writer that would
// undo the work of the whole group, and readers are interrupted by readConn.during.
type prepared struct {
	conn       *sql.Conn
	statements map[string]*sql.Stmt
}

// newPrepared opens a connection. It retries while the file is busy: SQLite does
// not wait for another process that switches a new file to WAL.
func newPrepared(ctx context.Context, pool *sql.DB) (*prepared, error) {
	const patience, pause = 10 * time.Second, 5 * time.Millisecond
	end := time.Now().Add(patience)
	for {
		conn, err := pool.Conn(ctx)
		switch {
		case err == nil:
			return &prepared{conn: conn, statements: map[string]*sql.Stmt{}}, nil
		case !isBusy(err) || time.Now().After(end):
			return nil, err
		}
		select {
		case <-ctx.Done():
			return nil, err
		case <-time.After(pause):
		}
	}
}

func (p *prepared) statement(ctx context.Context, query string) (*sql.Stmt, error) {
	if statement, ok := p.statements[query]; ok {
		return statement, nil
	}
	statement, err := p.conn.PrepareContext(context.WithoutCancel(ctx), query)
	if err != nil {
		return nil, err
	}
	if len(p.statements) >= maxStatements {
		if err := p.forget(); err != nil {
			return nil, err
		}
	}
	p.statements[query] = statement
	return statement, nil
}

func (p *prepared) exec(ctx context.Context, query string, args ...any) (sql.Result, error) {
	statement, err := p.statement(ctx, query) //nolint:sqlclosecheck // it is kept for the next use
	if err != nil {
		return nil, err
	}
	return statement.ExecContext(context.WithoutCancel(ctx), args...)
}

func (p *prepared) query(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	statement, err := p.statement(ctx, query) //nolint:sqlclosecheck // it is kept for the next use
	if err != nil {
		return nil, err
	}
	return statement.QueryContext(context.WithoutCancel(ctx), args...)
}

func (p *prepared) run(ctx context.Context, query string) error {
	_, err := p.exec(ctx, query)
	return err
}

// forget closes all statements. A statement in use is closed with its rows.
func (p *prepared) forget() error {
	var err error
	for _, statement := range p.statements {
		err = errors.Join(err, statement.Close())
	}
	clear(p.statements)
	return err
}

func (p *prepared) close() error { return errors.Join(p.forget(), p.conn.Close()) }
