package api_test

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/signalbox/signalbox/internal/app/apptest"
	"github.com/signalbox/signalbox/internal/store/storetest"
)

// isStale checks that an answer says since when it was not confirmed.
func (a answer) isStale(began time.Time) bool {
	a.t.Helper()
	age, err := strconv.Atoi(a.header.Get("Age"))
	if err != nil {
		return false
	}
	if longest := time.Since(began).Seconds() + 1; age < 0 || float64(age) > longest {
		a.t.Errorf("%s: Age is %d, want up to %.0f", a.what, age, longest)
	}
	if a.status == 200 && !a.contains(`"stale_since":"`) {
		a.t.Errorf("%s does not say since when: %s", a.what, a.body)
	}
	return true
}

// TestOutage_EvaluationGoesOn: while the database is away, this node evaluates the
// flags in memory for the keys it knows, and marks the answers as stale. Everything else
// is a 503. When the database is back, answers without the mark are current.
func TestOutage_EvaluationGoesOn(t *testing.T) {
	t.Parallel()
	direct := storetest.New(t, "postgres")
	behind, proxy := direct.ThroughProxy(t)
	there, here := speakTo(t, apptest.Start(t, direct)), speakTo(t, apptest.Start(t, behind))
	path := here.makeFlag("made", nil)
	reader, revoked, unseen := here.withRole("VIEWER"), here.makeKey(nil), here.withRole("VIEWER")
	idle := here.account("pro")
	idle.get(flagsPath).want(200)
	evaluate := func(c client) answer { return c.ofrep("made", `{}`) }
	snapshot := snapshotsPath + "/production"
	evaluate(here.as(revoked.secret)).want(200)
	tag := reader.get(snapshot).want(200).header.Get("Etag")
	began := time.Now()
	evaluate(reader).want(200)
	there.put(revoked.path, envelope("", "", attributes{"name": "n"})).want(200)
	for range 2 { // the first may meet the change of the key, and is then not remembered
		evaluate(here.as(revoked.secret)).want(200)
		evaluate(reader).want(200)
	}

	proxy.Down()
	storetest.Wait(t, patience, "evaluation goes on from memory", func() bool { return evaluate(reader).want(200).isStale(began) })
	for _, got := range []answer{
		reader.ofrep("", `{}`).want(200), reader.get(snapshot).want(200), reader.get(snapshot, with("If-None-Match", tag)).want(304),
		evaluate(here.as(revoked.secret)).want(200),
	} {
		if !got.isStale(began) {
			t.Errorf("%s is not marked: %v", got.what, got.header)
		}
	}
	stale := reader.get(snapshot).want(200).header.Get("Etag")
	reader.get(snapshot, with("If-None-Match", stale)).want(304)
	if reader.ofrep("nowhere", `{}`).want(404).header.Get("Age") == "" {
		t.Error("an unknown flag is not marked")
	}
	for _, got := range []answer{
		evaluate(unseen), unseen.get(snapshot), evaluate(idle), idle.get(snapshot),
		reader.get(snapshotsPath + "/never-asked-for"), reader.get(flagsPath), reader.get(environmentsPath),
	} {
		if got.status != 503 {
			t.Errorf("%s: got %d", got.what, got.status)
		}
	}

	there.put(path, envelope("", "", boolean(true, nil))).want(200)
	there.post(revoked.path+"/actions/revoke", "").want(200)
	proxy.Up()
	if got := confirmed(t, func() answer { return evaluate(reader) }).want(200); got.members()["value"] != true || got.contains("stale") {
		t.Errorf("got %s, %v", got.body, got.header)
	}
	if got := confirmed(t, func() answer { return reader.get(snapshot, with("If-None-Match", tag)) }).want(200); got.contains("stale") {
		t.Errorf("got %s", got.body)
	}
	confirmed(t, func() answer { return evaluate(here.as(revoked.secret)) }).want(401)
}

// confirmed asks until the database has confirmed the answer. One that is slow, as on a
// busy machine, is away for a moment.
func confirmed(t *testing.T, ask func() answer) (got answer) {
	t.Helper()
	storetest.Wait(t, patience, "the database is back", func() bool {
		got = ask()
		return got.header.Get("Age") == ""
	})
	return got
}

// promised is how soon evaluation is answered from memory. The book says 2 s; a busy
// machine gets more, which is still less than the time limit of a read.
const promised = 6 * time.Second

// answersFromMemory checks that both ways to evaluate are answered in time, marked as
// not confirmed since the outage began.
func (c client) answersFromMemory(began time.Time) {
	c.t.Helper()
	for _, ask := range []func() answer{
		func() answer { return c.ofrep("made", `{}`) },
		func() answer { return c.get(snapshotsPath + "/production") },
	} {
		sent := time.Now()
		got := ask().want(200)
		if took := time.Since(sent); took > promised {
			c.t.Errorf("%s took %s", got.what, took)
		}
		if !got.isStale(began) {
			c.t.Errorf("%s is not marked: %v", got.what, got.header)
		}
	}
}

// isConfirmed reports whether both ways to evaluate are answered with what the
// database says.
func (c client) isConfirmed() bool {
	c.t.Helper()
	evaluated, loaded := c.ofrep("made", `{}`).want(200), c.get(snapshotsPath+"/production").want(200)
	return evaluated.header.Get("Age")+loaded.header.Get("Age") == "" && !evaluated.contains("stale") && !loaded.contains("stale")
}

// TestOutage_SilentNetwork: connections stay open and nothing answers. Those who ask
// in the first moment, when nothing is known of it yet, are answered in time as well.
func TestOutage_SilentNetwork(t *testing.T) {
	t.Parallel()
	direct := storetest.New(t, "postgres")
	behind, proxy := direct.ThroughProxy(t)
	here := speakTo(t, apptest.Start(t, behind))
	here.makeFlag("made", nil)
	began := time.Now()
	storetest.Wait(t, patience, "both are in memory", here.isConfirmed)
	proxy.Silence()
	for range 3 {
		here.answersFromMemory(began)
	}
	proxy.Up()
	storetest.Wait(t, patience, "the database is back", here.isConfirmed)
}

// TestOutage_UnreadableFile: the file that SQLite reads has lost its content, as on a
// disk that fails. What is in memory counts as confirmed until something is written, and
// a connection that still has the pages it needs may confirm it once more.
func TestOutage_UnreadableFile(t *testing.T) {
	t.Parallel()
	database := storetest.New(t, "sqlite")
	here := speakTo(t, apptest.Start(t, database))
	here.makeFlag("made", nil)
	began := time.Now()
	storetest.Wait(t, patience, "both are in memory", here.isConfirmed)
	restore := lose(t, filepath.Join(database.Dir, "signalbox.db"))
	storetest.Wait(t, patience, "reads fail", func() bool { return here.get(environmentsPath+"?page[size]=7").status >= 500 })
	storetest.Wait(t, patience, "both ways to evaluate are marked", func() bool {
		return here.ofrep("made", `{}`).want(200).isStale(began) && here.get(snapshotsPath+"/production").want(200).isStale(began)
	})
	restore()
	storetest.Wait(t, patience, "evaluation is confirmed again", here.isConfirmed)
	storetest.Wait(t, patience, "reads work", func() bool { return here.get(environmentsPath+"?page[size]=7").status == 200 })
}

// lose empties a file, and returns what gives it its content back.
func lose(t *testing.T, file string) (restore func()) {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(file, 0); err != nil {
		t.Fatal(err)
	}
	return func() {
		if err := os.WriteFile(file, content, 0o600); err != nil {
			t.Error(err)
		}
	}
}
