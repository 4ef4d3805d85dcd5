package store

import (
	"context"
	"runtime"
	"sync"

	"github.com/signalbox/signalbox/internal/accounts"
	"github.com/signalbox/signalbox/internal/fault"
)

// Version returns the number of an account's last change. See Versions.
func (db *DB) Version(ctx context.Context, account string) (int64, error) {
	versions, err := db.Versions(ctx, account)
	return versions.Changes, err
}

// Versions returns an account's versions, at least as new as every change acknowledged before the call. On SQLite
// a change by another process may be seen up to watchInterval late.
func (db *DB) Versions(ctx context.Context, account string) (accounts.Versions, error) {
	epoch, counted, err := db.engine.epoch(ctx)
	if err != nil {
		return accounts.Versions{}, classify(ctx, err)
	}
	if counted {
		if versions, ok := db.versions.get(epoch, account); ok {
			return versions, nil
		}
	}
	versions, err := db.reads.read(ctx, account)
	if err == nil && counted {
		db.versions.put(epoch, account, versions)
	}
	return versions, classify(ctx, err)
}

func (db *DB) accountVersions(ctx context.Context, account string) (accounts.Versions, error) {
	return fetch(ctx, db, forDecisions, func(tx *ReadTx) (accounts.Versions, error) {
		return one(ctx, tx.conn, fault.Missing("account", account), scanVersions,
			`SELECT change_seq, access_seq FROM accounts WHERE id = $1`, account)
	})
}

// AccessVersion returns the number of the account's last change that decides access.
func (tx *ReadTx) AccessVersion(ctx context.Context, account string) (int64, error) {
	version, err := one(ctx, tx.conn, fault.Missing("account", account), scanInt, `SELECT access_seq FROM accounts WHERE id = $1`, account)
	return int64(version), err
}

// AccessVersion is that of ReadTx. The account whose lock is held is read once at most.
func (tx *Tx) AccessVersion(ctx context.Context, account string) (version int64, err error) {
	if account == tx.locked && tx.access != 0 {
		return tx.access, nil
	}
	if version, err = tx.ReadTx.AccessVersion(ctx, account); err == nil && account == tx.locked {
		tx.access = version
	}
	return version, err
}

func scanVersions(r row) (v accounts.Versions, err error) {
	err = r.Scan(&v.Changes, &v.Access)
	return v, err
}

// versionCache holds the accounts' versions while nothing at all is committed.
type versionCache struct {
	mu    sync.Mutex
	epoch int64
	known map[string]accounts.Versions
}

func (c *versionCache) get(epoch int64, account string) (accounts.Versions, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	versions, ok := c.known[account]
	return versions, ok && c.epoch == epoch
}

// put stores versions that were read after the epoch: they are at least as new.
func (c *versionCache) put(epoch int64, account string, versions accounts.Versions) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.epoch != epoch || c.known == nil {
		c.epoch, c.known = epoch, map[string]accounts.Versions{}
	}
	c.known[account] = versions
}

// versionReads lets concurrent callers for the same account share a query. Nobody joins one that has begun: it might
// miss a change that was acknowledged before.
type versionReads struct {
	query   func(ctx context.Context, account string) (accounts.Versions, error)
	ctx     context.Context //nolint:containedctx // of the queries, which outlive the callers that share them
	cancel  context.CancelFunc
	running sync.WaitGroup

	mu     sync.Mutex
	next   map[string]*versionRead // the one that has not begun, by account
	active map[string]bool         // accounts with a goroutine that reads
}

// versionRead is one query that several callers wait for.
type versionRead struct {
	done     chan struct{}
	versions accounts.Versions
	err      error
}

func (r *versionReads) start(query func(ctx context.Context, account string) (accounts.Versions, error)) {
	r.query, r.next, r.active = query, map[string]*versionRead{}, map[string]bool{}
	r.ctx, r.cancel = context.WithCancel(context.Background())
}

// stop ends all queries and waits for them.
func (r *versionReads) stop() {
	r.mu.Lock()
	r.cancel()
	r.mu.Unlock()
	r.running.Wait()
}

func (r *versionReads) read(ctx context.Context, account string) (accounts.Versions, error) {
	mine, err := r.join(account)
	if err != nil {
		return accounts.Versions{}, err
	}
	select {
	case <-mine.done:
		return mine.versions, mine.err
	case <-ctx.Done():
		return accounts.Versions{}, ctx.Err()
	}
}

func (r *versionReads) join(account string) (*versionRead, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ctx.Err() != nil {
		return nil, errClosed
	}
	if r.next[account] == nil {
		r.next[account] = &versionRead{done: make(chan struct{})}
	}
	if !r.active[account] {
		r.active[account] = true
		r.running.Go(func() { r.run(account) })
	}
	return r.next[account], nil
}

// run reads for those who wait, then for those who came meanwhile, until nobody did.
func (r *versionReads) run(account string) {
	for {
		runtime.Gosched() // whoever is about to ask joins first, which saves a third of the queries of a busy node
		next := r.take(account)
		if next == nil {
			return
		}
		next.versions, next.err = r.query(r.ctx, account)
		if next.err != nil && r.ctx.Err() != nil {
			next.err = errClosed
		}
		close(next.done)
	}
}

func (r *versionReads) take(account string) *versionRead {
	r.mu.Lock()
	defer r.mu.Unlock()
	next := r.next[account]
	delete(r.next, account)
	if next == nil {
		delete(r.active, account)
	}
	return next
}
