package storetest

import (
	"bytes"
	"fmt"
	"math/rand/v2"
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
	for range 8 { // another process may have taken the port
		// The port is below those that the system hands out.
		address := fmt.Sprint("127.0.0.1:", 20_000+rand.IntN(12_000)) //nolint:gosec // a port needs no secrecy
		if d.startPooler(t, program, address) {
			return d.at(t, address)
		}
	}
	t.Fatal("PgBouncer found no free port")
	return d
}

// startPooler starts PgBouncer on an address, and reports whether it runs.
func (d Database) startPooler(t testing.TB, program, address string) bool {
	t.Helper()
	var log bytes.Buffer
	command := exec.Command(program, d.poolerFile(t, address)...) //nolint:gosec,noctx // ended below
	command.Stdout, command.Stderr = &log, &log
	must(t, command.Start())
	exited := make(chan struct{})
	go func() {
		_ = command.Wait() // it ends by a signal
		close(exited)
	}()
	t.Cleanup(func() {
		_ = command.Process.Signal(syscall.SIGTERM) // fails if it has ended
		<-exited
		if t.Failed() {
			t.Logf("PgBouncer: %s", log.String())
		}
	})
	runs := false
	Wait(t, 30*time.Second, "PgBouncer runs or has ended", func() bool {
		select {
		case <-exited:
			return true
		default:
		}
		conn, err := net.Dial("tcp", address) //nolint:noctx // it answers at once
		if err == nil {
			runs = conn.Close() == nil
		}
		return err == nil
	})
	return runs
}

// poolerFile writes the settings of PgBouncer, and returns the arguments that name them.
func (d Database) poolerFile(t testing.TB, address string) (arguments []string) {
	t.Helper()
	config, err := pgconn.ParseConfig(d.URL)
	must(t, err)
	_, port, err := net.SplitHostPort(address)
	must(t, err)
	folder := t.TempDir()
	file := filepath.Join(folder, "pgbouncer.ini")
	must(t, os.WriteFile(file, fmt.Appendf(nil, `[databases]
* = host=%s port=%d user=%s
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = %s
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = 4
max_client_conn = 500
`, config.Host, config.Port, config.User, port), 0o600))
	if os.Geteuid() != 0 {
		return []string{file}
	}
	must(t, os.Chmod(folder, 0o755)) //nolint:gosec // PgBouncer refuses to run as root, and another user reads it
	must(t, os.Chmod(file, 0o644))   //nolint:gosec // and this file
	return []string{"-u", "nobody", file}
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
