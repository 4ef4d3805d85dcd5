package app_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/signalbox/signalbox/internal/app"
	"github.com/signalbox/signalbox/internal/app/apptest"
	"github.com/signalbox/signalbox/internal/jobs"
	"github.com/signalbox/signalbox/internal/store"
	"github.com/signalbox/signalbox/internal/store/storetest"
)

const day = 24 * time.Hour

// movedClock is a clock that the test sets.
type movedClock struct{ ahead atomic.Int64 }

func (c *movedClock) now() time.Time { return time.Now().Add(time.Duration(c.ahead.Load())) }

func (c *movedClock) set(ahead time.Duration) { c.ahead.Store(int64(ahead)) }

// buildAt builds an app with a clock that the test sets, and returns the app and its log.
func buildAt(t *testing.T, database storetest.Database, clock *movedClock) (*app.App, *lines) {
	t.Helper()
	log := &lines{}
	instance, err := app.New(t.Context(), apptest.Settings(database), slog.New(slog.NewTextHandler(log, nil)), io.Discard, func(o *app.Options) {
		apptest.Quick(o)
		o.Now = clock.now
	})
	if err != nil {
		t.Fatal(err)
	}
	return instance, log
}

// ask sends a GET to an app's handler, without a socket.
func ask(instance *app.App, path string) (int, string) {
	answer := httptest.NewRecorder()
	instance.Handler().ServeHTTP(answer, httptest.NewRequest(http.MethodGet, path, nil))
	return answer.Code, answer.Body.String()
}

// count counts the rows of a table.
func count(t *testing.T, database storetest.Database, table string) (rows int) {
	t.Helper()
	if err := database.Raw(t).QueryRowContext(t.Context(), `SELECT count(*) FROM `+table).Scan(&rows); err != nil {
		t.Fatal(err)
	}
	return rows
}

// fillHistory writes changes and finished runs.
func fillHistory(t *testing.T, db *store.DB) {
	t.Helper()
	for range 5 {
		tenant := storetest.NewTenant(t, db, "pro")
		job := storetest.NewJob(tenant.Account.ID, "j", "http://a/")
		storetest.AddJobs(t, db, job)
		runs := make([]jobs.Run, 40)
		for i := range runs {
			runs[i] = storetest.NewRun(job)
			runs[i].Status = jobs.Succeeded
		}
		if err := db.Write(t.Context(), "", func(ctx context.Context, tx *store.Tx) error { return tx.InsertRuns(ctx, runs) }); err != nil {
			t.Fatal(err)
		}
	}
}

// A node whose clock was 400 days ahead once removed the history and the runs of all nodes.
func TestClock_FarAheadErasesNothing(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, database storetest.Database) {
		var clock movedClock
		node, _ := buildAt(t, database, &clock)
		fillHistory(t, node.Store())
		node.Chores(t.Context())
		stop(t, node)
		tables := []string{"changes", "runs", "job_requests", "jobs", "links"}
		before := map[string]int{}
		for _, table := range tables {
			before[table] = count(t, database, table)
		}
		clock.set(400 * day)
		node, log := buildAt(t, database, &clock)
		defer stop(t, node)
		for range 3 {
			node.Chores(t.Context())
		}
		for _, table := range tables {
			t.Run(table, func(t *testing.T) {
				if got := count(t, database, table); got != before[table] || got == 0 {
					t.Errorf("%s had %d rows and now has %d", table, before[table], got)
				}
			})
		}
		status, text := ask(node, "/api/readiness")
		if database.Kind == "sqlite" { // on SQLite, a server that was stopped for a year looks the same
			if status != http.StatusOK || log.count("level=WARN") != 2 || log.count("far ahead of the newest time") != 1 || log.count("check that the date is right") != 1 {
				t.Errorf("readiness is %d, and it logged %s", status, log.read())
			}
			return
		}
		if status != http.StatusServiceUnavailable || !strings.Contains(text, "The clock of this node is 400 days ahead of the database's") {
			t.Errorf("readiness is %d: %s", status, text)
		}
		if log.count("level=ERROR msg=\"This node's clock is wrong.") != 1 {
			t.Errorf("it logged %s", log.read())
		}
	})
}

// If the clock is set while the node runs, the node notices before it acts by the clock. It also notices when the
// clock is right again.
func TestClock_SetWhileRunning(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, database storetest.Database) {
		var clock movedClock
		node, log := buildAt(t, database, &clock)
		if err := node.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		defer stop(t, node)
		c := newClient(t, "http://"+node.Address(), apptest.OwnerKey)
		send(t, c, http.MethodPut, "/api/v1/loggers/l", `{"data":{"type":"logger","id":"l","attributes":{"level":"DEBUG","level_ttl_seconds":3600}}}`)
		once := time.Now().Add(2 * time.Hour).UTC().Format(time.RFC3339)
		send(t, c, http.MethodPost, "/api/v1/jobs", newJob("once", once, quickSink(t)))
		send(t, c, http.MethodPost, "/api/v1/jobs", newJob("manual", "0 0 1 1 *", quickSink(t)))
		for _, ahead := range []time.Duration{400 * day, -400 * day} {
			t.Run(fmt.Sprint(ahead), func(t *testing.T) {
				clock.set(ahead)
				if text := c.get(t, "/api/readiness", http.StatusServiceUnavailable); !strings.Contains(text, "The clock of this node is 400 days") {
					t.Errorf("readiness says %s", text)
				}
				if got := metric(t, c, "signalbox_clock_difference_seconds"); (time.Duration(got*float64(time.Second)) - ahead).Abs() > time.Minute {
					t.Errorf("the metric is %v", got)
				}
				clock.set(0)
				storetest.Wait(t, soon, "it is ready", func() bool { return c.status(t, "/api/readiness") == http.StatusOK })
			})
		}
		clock.set(400 * day)
		since := time.Now()
		storetest.Wait(t, soon, "it is logged, and all loops have had time enough", func() bool {
			return log.count("This node's clock is wrong.") > 0 && time.Since(since) > 2500*time.Millisecond
		})
		clock.set(0)
		storetest.Wait(t, soon, "it is right again", func() bool { return log.count("This node's clock is right again.") > 0 })
		c.get(t, "/api/readiness", http.StatusOK)
		if _, logger := attributes(t, c, "/api/v1/loggers/l"); logger["level"] != "DEBUG" {
			t.Errorf("the temporary level ended: %v", logger)
		}
		if runs := c.get(t, "/api/v1/runs", http.StatusOK); strings.Contains(runs, `"once"`) {
			t.Errorf("a job fired: %s", runs)
		}
		run, _ := send(t, c, http.MethodPost, "/api/v1/jobs/manual/actions/run", "")
		storetest.Wait(t, soon, "runs are made again", func() bool {
			_, found := attributes(t, c, "/api/v1/runs/"+run)
			return found["status"] == "SUCCEEDED"
		})
	})
}

func attributes(t *testing.T, c *client, path string) (string, map[string]any) {
	t.Helper()
	return send(t, c, http.MethodGet, path, "")
}

// On SQLite, a clock behind the newest stored time is wrong.
func TestClock_BehindStoredTime(t *testing.T) {
	t.Parallel()
	database := storetest.New(t, "sqlite")
	var clock movedClock
	node, _ := buildAt(t, database, &clock)
	node.Chores(t.Context())
	stop(t, node)
	clock.set(-time.Hour)
	node, log := buildAt(t, database, &clock)
	defer stop(t, node)
	node.Chores(t.Context())
	status, text := ask(node, "/api/readiness")
	if status != http.StatusServiceUnavailable || !strings.Contains(text, "behind the time that is stored in the database") || log.count("This node's clock is wrong.") != 1 {
		t.Errorf("readiness is %d: %s", status, text)
	}
	clock.set(0)
	node.Chores(t.Context())
	if status, text := ask(node, "/api/readiness"); status != http.StatusOK || log.count("This node's clock is right again.") != 1 {
		t.Errorf("readiness is %d: %s", status, text)
	}
}

// If the operator corrects a clock that was far ahead at the start, the server continues at once.
func TestClock_CorrectedAfterStart(t *testing.T) {
	t.Parallel()
	database := storetest.New(t, "sqlite")
	var clock movedClock
	for _, ahead := range []time.Duration{0, 400 * day, 0} {
		clock.set(ahead)
		node, _ := buildAt(t, database, &clock)
		node.Chores(t.Context())
		status, text := ask(node, "/api/readiness")
		stop(t, node)
		if status != http.StatusOK {
			t.Fatalf("%s ahead readiness is %d: %s", ahead, status, text)
		}
	}
}

// The doctor finds the same clock problems as a server.
func TestDoctor_Clock(t *testing.T) {
	t.Parallel()
	database := storetest.New(t, "sqlite")
	verdict := func(t *testing.T, want app.Verdict, says string) {
		t.Helper()
		for _, finding := range app.Examine(t.Context(), apptest.Settings(database), "") {
			if finding.Name == "clock" && (finding.Verdict != want || !strings.Contains(finding.Detail, says)) {
				t.Errorf("it finds %v", finding)
			}
		}
	}
	db := database.Open(t)
	verdict(t, app.Healthy, "agrees")
	for stored, want := range map[time.Duration]struct {
		verdict app.Verdict
		says    string
	}{
		time.Hour:         {app.Broken, "behind the time that is stored in the database"},
		-2 * day:          {app.Healthy, "agrees"},
		-400*day - day/24: {app.Doubtful, "400 days ahead of the newest time"},
	} {
		t.Run(want.says, func(t *testing.T) {
			if err := db.MarkClock(t.Context(), time.Now().Add(stored)); err != nil {
				t.Fatal(err)
			}
			verdict(t, want.verdict, want.says)
		})
	}
}

// storedClock is a database clock that the test sets.
type storedClock struct {
	name string
	at   time.Time
}

func (s *storedClock) Name() string                                    { return s.name }
func (s *storedClock) Clock(context.Context) (time.Time, error)        { return s.at, nil }
func (s *storedClock) MarkClock(_ context.Context, at time.Time) error { s.at = at; return nil }

func TestClock_Verdicts(t *testing.T) {
	t.Parallel()
	const never = -2000 * day
	began := time.Date(2031, 5, 6, 7, 8, 9, 0, time.UTC)
	type step struct {
		after, set time.Duration // the time that passes, and the step by which the clock is set
		wrong      bool
	}
	for name, test := range map[string]struct {
		database string
		stored   time.Duration // the database's first time, relative to the node's
		steps    []step
	}{
		"steady":                           {"sqlite", 0, []step{{0, 0, false}, {day, 0, false}}},
		"new database":                     {"sqlite", never, []step{{0, 0, false}}},
		"started after a month":            {"sqlite", -31 * day, []step{{0, 0, false}}},
		"started ahead, corrected in time": {"sqlite", -31 * day, []step{{time.Minute, -30 * day, false}}},
		"started ahead, corrected late":    {"sqlite", -31 * day, []step{{61 * time.Minute, 0, false}, {time.Second, -30 * day, true}}},
		"started ahead, set too far back":  {"sqlite", -31 * day, []step{{time.Minute, -32 * day, true}}},
		"small steps":                      {"sqlite", 0, []step{{time.Second, 50 * time.Second, false}, {time.Second, 50 * time.Second, false}, {time.Second, -59 * time.Second, false}}},
		"set ahead":                        {"sqlite", 0, []step{{time.Second, 400 * day, true}, {9 * time.Minute, 0, true}, {2 * time.Minute, 0, false}}},
		"set ahead and back":               {"sqlite", 0, []step{{time.Second, 400 * day, true}, {time.Minute, -400 * day, false}}},
		"set ahead again":                  {"sqlite", 0, []step{{time.Second, day, true}, {9 * time.Minute, day, true}, {2 * time.Minute, 0, true}, {9 * time.Minute, 0, false}}},
		"set behind":                       {"sqlite", 0, []step{{time.Second, -day, true}, {11 * time.Minute, 0, true}, {time.Hour, 0, false}}},
		"started behind":                   {"sqlite", day, []step{{0, 0, true}, {time.Minute, day, false}}},
		"started behind, set after a stop": {"sqlite", day, []step{{0, 0, true}, {time.Minute, 3 * day, false}, {time.Minute, 3 * day, true}}},
		"started behind for good":          {"sqlite", day, []step{{0, 0, true}, {59 * time.Minute, 0, true}, {2 * time.Minute, 0, false}}},
		"ahead of a server":                {"postgres", -61 * time.Second, []step{{0, 0, true}, {day, 0, true}, {time.Second, -30 * time.Second, false}}},
		"behind a server":                  {"postgres", 61 * time.Second, []step{{0, 0, true}, {day, 0, true}, {time.Second, 30 * time.Second, false}}},
		"near a server":                    {"postgres", 59 * time.Second, []step{{0, 0, false}, {day, 0, false}, {time.Second, -2 * time.Second, true}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			now, passed := began, time.Duration(0)
			db := &storedClock{test.database, began.Add(test.stored)}
			if test.stored == never {
				db.at = time.Time{}
			}
			clock := app.NewClock(db, slog.New(slog.DiscardHandler), func() time.Time { return now }, func() time.Duration { return passed })
			if !clock.IsWrong() {
				t.Error("the clock counts as right before the first comparison")
			}
			clock.Check(t.Context())
			for i, step := range test.steps {
				now, passed = now.Add(step.after+step.set), passed+step.after
				if test.database == "postgres" {
					db.at = db.at.Add(step.after)
				}
				if step.wrong && !clock.IsWrong() {
					t.Errorf("step %d: the change is noticed late", i)
				}
				clock.Check(t.Context())
				if clock.IsWrong() != step.wrong {
					t.Errorf("step %d: wrong is %v", i, !step.wrong)
				}
			}
		})
	}
}

// A wrong clock is logged at intervals, not at every comparison.
func TestClock_LogsReminders(t *testing.T) {
	t.Parallel()
	now, passed, log := time.Now(), time.Duration(0), &lines{}
	db := &storedClock{"postgres", now.Add(-day)}
	clock := app.NewClock(db, slog.New(slog.NewTextHandler(log, nil)), func() time.Time { return now }, func() time.Duration { return passed })
	for range 30 {
		clock.Check(t.Context())
		now, passed, db.at = now.Add(time.Minute), passed+time.Minute, db.at.Add(time.Minute)
	}
	if got := log.count("level=ERROR"); got != 3 {
		t.Errorf("in half an hour the wrong clock was logged %d times: %s", got, log.read())
	}
	db.at = now
	clock.Check(t.Context())
	if log.count("right again") != 1 {
		t.Error("its end was not logged")
	}
}

// A SQLite server that cannot write for a while keeps its runs, because no other node can take them over.
func TestJobs_KeptWhileNothingCanBeWritten(t *testing.T) {
	t.Parallel()
	database := storetest.New(t, "sqlite")
	node, _ := buildAt(t, database, &movedClock{})
	node.GiveUpSoon()
	if err := node.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	defer stop(t, node)
	c := newClient(t, "http://"+node.Address(), apptest.OwnerKey)
	begun, answer := make(chan struct{}), make(chan struct{})
	sink := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		close(begun)
		select {
		case <-answer:
		case <-r.Context().Done():
		}
	}))
	defer sink.Close()
	send(t, c, http.MethodPost, "/api/v1/jobs", newJob("slow", "0 0 1 1 *", sink.URL))
	run, _ := send(t, c, http.MethodPost, "/api/v1/jobs/slow/actions/run", "")
	<-begun
	other, err := database.Raw(t).Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, statement := range []string{"BEGIN IMMEDIATE", "ROLLBACK"} { // between the two statements, nobody else can write
		if _, err := other.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
		since := time.Now()
		storetest.Wait(t, soon, "heartbeats fail for long", func() bool { return time.Since(since) > time.Second })
	}
	if err := other.Close(); err != nil {
		t.Fatal(err)
	}
	close(answer)
	storetest.Wait(t, soon, "the run has ended", func() bool {
		_, found := attributes(t, c, "/api/v1/runs/"+run)
		return found["finished_at"] != nil
	})
	if _, found := attributes(t, c, "/api/v1/runs/"+run); found["status"] != "SUCCEEDED" {
		t.Errorf("the run is %s", fmt.Sprint(found))
	}
}
