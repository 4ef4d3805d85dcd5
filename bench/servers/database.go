package servers

import (
	"context"
	"net/url"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
)

// NewDatabase makes an empty database on a PostgreSQL server and gives its URL
// and a function that drops it. Without a server it gives "", which is SQLite.
func NewDatabase(ctx context.Context, server string) (string, func(), error) {
	if server == "" {
		return "", func() {}, nil
	}
	name := "bench_" + strconv.FormatInt(time.Now().UnixNano(), 36)
	if err := execute(ctx, server, "CREATE DATABASE "+name); err != nil {
		return "", nil, err
	}
	location, err := url.Parse(server)
	if err != nil {
		return "", nil, err
	}
	location.Path = "/" + name
	drop := func() { _ = execute(context.WithoutCancel(ctx), server, "DROP DATABASE "+name+" WITH (FORCE)") } // the server is temporary
	return location.String(), drop, nil
}

func execute(ctx context.Context, server, statement string) error {
	conn, err := pgx.Connect(ctx, server)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }() // it has served
	_, err = conn.Exec(ctx, statement)
	return err
}
