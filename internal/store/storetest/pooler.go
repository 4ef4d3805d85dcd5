package storetest

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/signalbox/signalbox/internal/suite"
)

// ThroughPooler returns the same PostgreSQL database, reached through a PgBouncer in transaction mode that runs as long as the
// test and has few connections.
func (d Database) ThroughPooler(t testing.TB) Database {
	t.Helper()
	program := pgbouncer(t)
	config, err := pgconn.ParseConfig(d.URL)
	must(t, err)
	free, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // it only finds a free port
	must(t, err)
	address := free.Addr().(*net.TCPAddr)
	must(t, free.Close())
	folder := t.TempDir()
	file := filepath.Join(folder, "pgbouncer.ini")
	must(t, os.WriteFile(file, fmt.Appendf(nil, `[databases]
* = host=%s port=%d user=%s
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = %d
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = 4
max_client_conn = 500
`, config.Host, config.Port, config.User, address.Port), 0o600))
	arguments := []string{file}
	if os.Geteuid() == 0 { // it refuses to run as root
		must(t, os.Chmod(folder, 0o755)) //nolint:gosec // another user reads it
		must(t, os.Chmod(file, 0o644))   //nolint:gosec // and this file
		arguments = []string{"-u", "nobody", file}
	}
	var log bytes.Buffer
	command := exec.Command(program, arguments...) //nolint:gosec,noctx // ended below
	command.Stdout, command.Stderr = &log, &log
	must(t, command.Start())
	t.Cleanup(func() {
		_ = command.Process.Signal(syscall.SIGTERM)
		_ = command.Wait()
		if t.Failed() {
			t.Logf("PgBouncer: %s", log.String())
		}
	})
	Wait(t, 10*time.Second, "PgBouncer accepts connections", func() bool {
		conn, err := net.Dial("tcp", address.String()) //nolint:noctx // it answers at once
		if err == nil {
			_ = conn.Close()
		}
		return err == nil
	})
	return d.at(t, address.String())
}

// pgbouncer returns the path of the program.
func pgbouncer(t testing.TB) string {
	t.Helper()
	for _, name := range []string{"pgbouncer", "/usr/sbin/pgbouncer", "/usr/local/sbin/pgbouncer"} {
		if found, err := exec.LookPath(name); err == nil {
			return found
		}
	}
	suite.Skip(t, "there is no pgbouncer: scripts/ensure-pgbouncer installs it")
	return ""
}
