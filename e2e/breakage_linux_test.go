package e2e

import (
	"context"
	"database/sql"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/signalbox/signalbox/internal/store/storetest"
	"github.com/signalbox/signalbox/internal/suite"
)

// fault is something that goes wrong, and is right again when happens returns.
type fault struct {
	name    string
	happens func(*testing.T, *schedule)
}

// Faults that need something before the schedule begins.
const (
	fillDisk  = "fill the disk"
	moveClock = "move the clock of a node"
)

// possible returns the faults that can happen on the schedule's database.
func (s *schedule) possible(t *testing.T) []fault {
	t.Helper()
	all := processFaults()
	if canMount(t) {
		all = append(all, fault{fillDisk, func(t *testing.T, s *schedule) { s.fillDisk(t) }})
	}
	if s.kind == onSQLite {
		return append(all, fault{"lock the database", func(t *testing.T, s *schedule) { s.lockFile(t) }})
	}
	return append(append(all, networkFaults()...), postgresFaults()...)
}

func processFaults() []fault {
	return []fault{
		{"kill a node", func(t *testing.T, s *schedule) { s.any().replace(t, syscall.SIGKILL) }},
		{"restart a node", func(t *testing.T, s *schedule) { s.any().replace(t, syscall.SIGTERM) }},
		{"restart all nodes one by one", func(t *testing.T, s *schedule) {
			for _, each := range s.nodes {
				each.replace(t, syscall.SIGTERM)
			}
		}},
		{"freeze a node", func(_ *testing.T, s *schedule) {
			process := s.any().command.Process
			_ = process.Signal(syscall.SIGSTOP) // it runs
			s.pause(suite.Scale(time.Second, 18*time.Second))
			_ = process.Signal(syscall.SIGCONT)
		}},
		{moveClock, func(_ *testing.T, s *schedule) {
			process := s.any().command.Process
			_ = process.Signal(syscall.SIGUSR1) // it runs
			s.pause(suite.Scale(time.Second, 18*time.Second))
			_ = process.Signal(syscall.SIGUSR2)
		}},
	}
}

func networkFaults() []fault {
	return []fault{
		{"cut the connections of a node", func(_ *testing.T, s *schedule) { s.any().network.Cut() }},
		{"stall the connections of a node", func(_ *testing.T, s *schedule) {
			s.disturb((*storetest.Proxy).Stall, 3*time.Second)
		}},
		{"silence the network of a node", func(_ *testing.T, s *schedule) {
			s.disturb((*storetest.Proxy).Silence, suite.Scale(2*time.Second, 18*time.Second))
		}},
		{"lose what a node sends", func(_ *testing.T, s *schedule) {
			s.disturb(func(p *storetest.Proxy) { p.SilenceWay(storetest.ToServer) }, suite.Scale(2*time.Second, 18*time.Second))
		}},
		{"lose what a node is sent", func(_ *testing.T, s *schedule) {
			s.disturb(func(p *storetest.Proxy) { p.SilenceWay(storetest.ToClient) }, suite.Scale(2*time.Second, 18*time.Second))
		}},
		{"slow the network of a node", func(_ *testing.T, s *schedule) {
			delay := time.Millisecond << s.random.IntN(9) // up to 256 ms
			s.disturb(func(p *storetest.Proxy) { p.Slow(delay) }, suite.Scale(2*time.Second, 18*time.Second))
		}},
		{"refuse the connections of a node", func(_ *testing.T, s *schedule) {
			s.disturb((*storetest.Proxy).Down, suite.Scale(time.Second, 6*time.Second))
		}},
	}
}

// disturb breaks the network of a node for some time.
func (s *schedule) disturb(breaks func(*storetest.Proxy), most time.Duration) {
	network := s.any().network
	breaks(network)
	s.pause(most)
	network.Up()
}

func postgresFaults() []fault {
	return []fault{
		{"end all connections in PostgreSQL", func(_ *testing.T, s *schedule) {
			_ = execute("pgx", s.postgres.url(), "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'signalbox'")
		}},
		{"take all connections of PostgreSQL", func(t *testing.T, s *schedule) { s.takeConnections(t) }},
		{"lock the account in an idle transaction", func(t *testing.T, s *schedule) { s.lockAccount(t) }},
		{"forget a transaction", func(t *testing.T, s *schedule) { s.forgetTransaction(t) }},
		{"restart PostgreSQL", func(t *testing.T, s *schedule) {
			s.postgres.stop(syscall.SIGINT)
			s.postgres.start(t)
		}},
		{"crash PostgreSQL", func(t *testing.T, s *schedule) {
			s.postgres.stop(syscall.SIGQUIT)
			s.postgres.start(t)
		}},
		{"freeze PostgreSQL", func(_ *testing.T, s *schedule) {
			s.postgres.signal(syscall.SIGSTOP)
			s.pause(suite.Scale(time.Second, 12*time.Second))
			s.postgres.signal(syscall.SIGCONT)
		}},
		{"slow PostgreSQL", func(_ *testing.T, s *schedule) { s.slowDatabase() }},
	}
}

// lockAccount holds the lock of the accounts like a session that somebody has forgotten.
func (s *schedule) lockAccount(t *testing.T) {
	t.Helper()
	tx, err := s.postgres.open(t).BeginTx(t.Context(), nil)
	if err != nil {
		return // PostgreSQL is restarting
	}
	_, _ = tx.ExecContext(t.Context(), "SELECT 1 FROM accounts FOR UPDATE")
	s.pause(suite.Scale(time.Second, 30*time.Second))
	_ = tx.Rollback()
}

// forgetTransaction leaves a transaction open until all faults have happened, with an old snapshot and the locks of rows.
func (s *schedule) forgetTransaction(t *testing.T) {
	t.Helper()
	tx, err := s.postgres.open(t).BeginTx(t.Context(), &sql.TxOptions{Isolation: sql.LevelRepeatableRead})
	if err != nil {
		return // PostgreSQL is restarting
	}
	_, _ = tx.ExecContext(t.Context(), "SELECT count(*) FROM runs")
	_, _ = tx.ExecContext(t.Context(), "SELECT 1 FROM flags FOR UPDATE SKIP LOCKED")
	s.holding.Go(func() {
		<-s.over
		_ = tx.Rollback()
	})
}

// takeConnections takes every connection that PostgreSQL has left, also those that a node loses meanwhile.
func (s *schedule) takeConnections(t *testing.T) {
	t.Helper()
	var taken []*pgconn.PgConn
	take := func() {
		for {
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
			conn, err := pgconn.Connect(ctx, s.postgres.url())
			cancel()
			if err != nil {
				return
			}
			taken = append(taken, conn)
		}
	}
	take()
	s.any().network.Cut()
	take()
	s.pause(suite.Scale(time.Second, 15*time.Second))
	for _, conn := range taken {
		_ = conn.Close(t.Context())
	}
}

// slowDatabase gives PostgreSQL a fifth of its processor time.
func (s *schedule) slowDatabase() {
	most := suite.Scale(2*time.Second, 18*time.Second)
	for until := time.Now().Add(most/10 + time.Duration(s.random.Int64N(int64(most)))); time.Now().Before(until); {
		s.postgres.signal(syscall.SIGSTOP)
		<-time.After(80 * time.Millisecond)
		s.postgres.signal(syscall.SIGCONT)
		<-time.After(20 * time.Millisecond)
	}
}

// fillDisk leaves no space on the disk of the database for some time. PostgreSQL may end by itself meanwhile.
func (s *schedule) fillDisk(t *testing.T) {
	t.Helper()
	s.disk.fill(t)
	s.pause(suite.Scale(2*time.Second, 18*time.Second))
	s.disk.free(t)
	if s.postgres == nil {
		return
	}
	storetest.Wait(t, patience, "PostgreSQL runs or has ended", func() bool {
		return s.postgres.hasEnded() || execute("pgx", s.postgres.url(), "SELECT 1") == nil
	})
	if s.postgres.hasEnded() {
		s.postgres.start(t)
	}
}

// lockFile holds SQLite's lock like another program that reads the file.
func (s *schedule) lockFile(t *testing.T) {
	t.Helper()
	conn, err := s.open(t).Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := conn.ExecContext(t.Context(), "BEGIN IMMEDIATE"); err != nil {
		return // the node has not stopped writing for ten seconds
	}
	s.pause(suite.Scale(time.Second, 18*time.Second))
	_, _ = conn.ExecContext(t.Context(), "ROLLBACK")
}

// failOver ends or freezes the primary for good and promotes the standby, once it has everything that was acknowledged.
func (s *schedule) failOver(t *testing.T) {
	t.Helper()
	db := s.postgres.open(t)
	var written string
	if err := db.QueryRowContext(t.Context(), "SELECT pg_current_wal_flush_lsn()").Scan(&written); err != nil {
		t.Fatal(err)
	}
	storetest.Wait(t, patience, "the standby has caught up", func() bool {
		return number(t, db, "SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync' AND flush_lsn >= $1::pg_lsn", written) == 1
	})
	switch s.random.IntN(3) {
	case 0:
		s.postgres.stop(syscall.SIGQUIT)
	case 1:
		s.postgres.stop(syscall.SIGINT)
	case 2:
		s.postgres.signal(syscall.SIGSTOP)
	}
	if err := execute("pgx", s.standby.url(), "SELECT pg_promote()"); err != nil {
		t.Fatal(err)
	}
	s.postgres = s.standby
}
