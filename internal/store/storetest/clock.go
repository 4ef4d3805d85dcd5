package storetest

import (
	"context"
	"testing"
	"time"

	"github.com/signalbox/signalbox/internal/accounts"
	"github.com/signalbox/signalbox/internal/changes"
	"github.com/signalbox/signalbox/internal/jobs"
	"github.com/signalbox/signalbox/internal/observations"
	"github.com/signalbox/signalbox/internal/store"
)

const day = 24 * time.Hour

// clockConcept checks that the database's clock does not depend on the node's.
func clockConcept(t *testing.T, shared *store.DB) {
	database := New(t, shared.Name())
	now := time.Now().Add(400 * day).UTC().Truncate(time.Microsecond)
	db := OpenSealed(t, database, func(o *store.Options) { o.Now = func() time.Time { return now } })
	read := func() time.Time {
		t.Helper()
		found, err := db.Clock(t.Context())
		must(t, err)
		return found
	}
	if shared.Name() == "postgres" {
		if away := time.Since(read()); away.Abs() > time.Minute {
			t.Errorf("the server's clock is %s away", away)
		}
		return
	}
	same(t, read(), time.Time{})
	account := newAccount(t, db).ID
	record(t, db, account, changes.Change{})
	same(t, read(), now)
	job := NewJob(account, "j", "http://a/")
	AddJobs(t, db, job)
	run := NewRun(job)
	run.CreatedAt = now.Add(time.Hour)
	do(t, db, "", func(ctx context.Context, tx *store.Tx) error { return tx.InsertRuns(ctx, []jobs.Run{run}) })
	same(t, read(), run.CreatedAt)
	for _, at := range []time.Time{now.Add(2 * time.Hour), now.Add(-time.Hour)} { // an earlier mark may have been wrong
		must(t, db.MarkClock(t.Context(), at))
		same(t, read(), at)
	}
}

// agingAccount is an account with 100 rows of every kind that retention removes, an hour apart.
type agingAccount struct {
	db      *store.DB
	account string
	made    time.Time // when the newest row was made
}

func newAgingAccount(t *testing.T, database Database) agingAccount {
	t.Helper()
	made := time.Now().Truncate(time.Hour)
	now := made
	db := OpenSealed(t, database, func(o *store.Options) { o.Now = func() time.Time { return now } })
	a := agingAccount{db: db, account: newAccount(t, db).ID, made: made}
	job := NewJob(a.account, "j", "http://a/")
	AddJobs(t, db, job)
	user := newUser(t, db, a.account, "a", nil)
	minutes := metricSums{db: db, by: observations.ByMinute}
	for i := range 100 {
		now = made.Add(-time.Duration(i) * time.Hour)
		oldRuns(t, db, job, jobs.Canceled, 1, now)
		minutes.add(t, a.account, observations.MetricSum{At: now, Name: "m", Dimensions: "{}", Samples: 1})
		newSession(t, db, a.account, user.ID, func(s *accounts.Session) { s.LastUsedAt, s.ExpiresAt = now, now.Add(time.Hour) })
		link := accounts.Link{Hash: newID(), Account: a.account, Kind: accounts.ResetLink, Subject: newID(), ExpiresAt: new(now)}
		do(t, db, a.account, func(ctx context.Context, tx *store.Tx) error { return tx.SaveLink(ctx, link) })
	}
	for i := range 100 { // in the order of time
		now = made.Add(-time.Duration(99-i) * time.Hour)
		record(t, db, a.account, changes.Change{})
	}
	return a
}

// removed runs a round of retention that keeps rows for a time, and returns how many rows of each kind it removed.
func (a agingAccount) removed(t *testing.T, at time.Time, keep time.Duration) (counts [5]int) {
	t.Helper()
	pace, err := a.db.BeginRetention(t.Context(), at)
	must(t, err)
	before := at.Add(-keep)
	for i, remove := range []func() (int, error){
		func() (int, error) { return a.db.RemoveRuns(t.Context(), before, pace) },
		func() (int, error) { return a.db.RemoveChanges(t.Context(), before, pace) },
		func() (int, error) { return a.db.RemoveMetrics(t.Context(), observations.ByMinute, before, pace) },
		func() (int, error) { return a.db.RemoveLinks(t.Context(), before, pace) },
		func() (int, error) { return a.db.RemoveSessions(t.Context(), before, pace) },
	} {
		counts[i], err = remove()
		must(t, err)
	}
	return counts
}

func (a agingAccount) isCatchingUp(t *testing.T) bool {
	t.Helper()
	until, err := a.db.CatchingUp(t.Context())
	must(t, err)
	return until != nil
}

// pace checks how fast retention removes rows if all are too old.
func pace(t *testing.T, shared *store.DB) {
	const keep = 30 * day
	none, all := [5]int{}, [5]int{100, 100, 100, 100, 100}
	t.Run("after a gap", func(t *testing.T) {
		a := newAgingAccount(t, New(t, shared.Name()))
		same(t, a.removed(t, a.made, keep), none)
		same(t, a.isCatchingUp(t), false)
		ahead := a.made.Add(400 * day)
		for hour := range 24 {
			same(t, a.removed(t, ahead.Add(time.Duration(hour)*time.Hour), keep), none)
		}
		same(t, a.isCatchingUp(t), true)
		left := 100
		for later := day; later < 7*day; later += day {
			counts := a.removed(t, ahead.Add(later), keep)
			same(t, counts, [5]int{left * 5 / 100, left * 5 / 100, left * 5 / 100, left * 5 / 100, left * 5 / 100})
			left -= counts[0]
			same(t, a.removed(t, ahead.Add(later+5*time.Minute), keep), none)
		}
		same(t, a.removed(t, ahead.Add(7*day), keep), [5]int{left, left, left, left, left})
		same(t, a.isCatchingUp(t), false)
	})
	t.Run("every day", func(t *testing.T) {
		a := newAgingAccount(t, New(t, shared.Name()))
		last := a.made
		for ; last.Before(a.made.Add(25 * day)); last = last.Add(40 * time.Hour) {
			same(t, a.removed(t, last, keep), none)
		}
		same(t, a.removed(t, last, 0), all)
	})
	t.Run("small share at first", func(t *testing.T) {
		a := newAgingAccount(t, New(t, shared.Name()))
		counts := a.removed(t, a.made.Add(keep-94*time.Hour), keep)
		same(t, counts[:3], []int{5, 5, 5}) // links and sessions are not limited by account
	})
	t.Run("clock that comes back", func(t *testing.T) {
		a := newAgingAccount(t, New(t, shared.Name()))
		same(t, a.removed(t, a.made, keep), none)
		same(t, a.removed(t, a.made.Add(400*day), keep), none)
		same(t, a.isCatchingUp(t), true)
		same(t, a.removed(t, a.made.Add(time.Hour), keep), none)
		same(t, a.isCatchingUp(t), false)
	})
}
