package store

import (
	"context"
	"sync"

	"github.com/signalbox/signalbox/internal/fault"
)

// Version gives the number of an account's last recorded change, as of now: it
// is at least as new as every change acknowledged before the call. On SQLite a
// change by another process, such as the command line, may be seen up to
// watchInterval late.
func (db *DB) Version(ctx context.Context, account string) (int64, error) {
	epoch, counted, err := db.engine.epoch(ctx)
	if err != nil {
		return 0, classify(ctx, err)
	}
	if counted {
		if version, ok := db.versions.recall(epoch, account); ok {
			return version, nil
		}
	}
	version, err := db.looks.share(ctx, account, db.accountVersion)
	if err == nil && counted {
		db.versions.keep(epoch, account, version)
	}
	return version, err
}

func (db *DB) accountVersion(ctx context.Context, account string) (version int64, err error) {
	err = db.Read(ctx, func(tx *ReadTx) error {
		seq, err := one(ctx, tx.conn, fault.Missing("account", account), scanInt,
			`SELECT change_seq FROM accounts WHERE id = $1`, account)
		version = int64(seq)
		return err
	})
	return version, err
}

// versions remembers the accounts' versions while nothing at all was committed.
type versions struct {
	mu    sync.Mutex
	epoch int64
	known map[string]int64
}

func (v *versions) recall(epoch int64, account string) (int64, bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	version, ok := v.known[account]
	return version, ok && v.epoch == epoch
}

// keep stores a version that was read after the epoch: it is at least as new.
func (v *versions) keep(epoch int64, account string, version int64) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.epoch != epoch || v.known == nil {
		v.epoch, v.known = epoch, map[string]int64{}
	}
	v.known[account] = version
}

// looks lets callers who ask for the same account at the same time share one
// look at the database. A caller never joins a look that has begun already: it
// might miss a change that was acknowledged before the caller came.
type looks struct {
	mu      sync.Mutex
	waiting map[string]*look // not begun
	running map[string]bool
}

// look is one reading that several callers wait for.
type look struct {
	done    chan struct{}
	version int64
	err     error
}

type readVersion func(ctx context.Context, account string) (int64, error)

func (l *looks) share(ctx context.Context, account string, read readVersion) (int64, error) {
	l.mu.Lock()
	if l.waiting == nil {
		l.waiting, l.running = map[string]*look{}, map[string]bool{}
	}
	mine, joined := l.waiting[account]
	if !joined {
		mine = &look{done: make(chan struct{})}
		l.waiting[account] = mine
	}
	if !l.running[account] {
		l.running[account] = true
		go l.run(context.WithoutCancel(ctx), account, read)
	}
	l.mu.Unlock()
	select {
	case <-mine.done:
		return mine.version, mine.err
	case <-ctx.Done():
		return 0, ctx.Err()
	}
}

// run does the waiting look, and the one that has formed meanwhile, until none has.
func (l *looks) run(ctx context.Context, account string, read readVersion) {
	for {
		l.mu.Lock()
		next := l.waiting[account]
		delete(l.waiting, account)
		if next == nil {
			delete(l.running, account)
			l.mu.Unlock()
			return
		}
		l.mu.Unlock()
		next.version, next.err = read(ctx, account)
		close(next.done)
	}
}
