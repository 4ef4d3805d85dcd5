package demo

import (
	"bytes"
	"context"
	"os"
	"os/signal"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	signalbox "github.com/signalbox/signalbox/client"
	"github.com/signalbox/signalbox/client/loglevel"
	"github.com/signalbox/signalbox/internal/store/storetest"
)

// TestMain runs the test binary as one of the programs if the demo has started it so.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && slices.ContainsFunc(programs(), func(p program) bool { return p.name == os.Args[1] }) {
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
		defer stop()
		if err := RunProgram(ctx, os.Args[1], os.Stdout); err != nil {
			panic(err)
		}
		return
	}
	os.Exit(m.Run())
}

// TestDemo checks that a demo is full of data, that its programs react to changes, and that no files are left
// afterward.
func TestDemo(t *testing.T) {
	folder := t.TempDir()
	t.Setenv("TMPDIR", folder)
	began := time.Now()
	printed, clients := &output{}, make(chan *signalbox.Client, 1)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		ended <- Run(ctx, Options{Out: printed, Program: os.Args[0], Others: []Other{{"broken", []string{"false"}}}, Listen: "127.0.0.1:0", Ready: func(url, _ string) {
			client, _, err := signalbox.SignIn(ctx, url, people()[0].Email, Password)
			if err != nil {
				panic(err)
			}
			clients <- client
		}})
	}()
	select {
	case client := <-clients:
		for name, check := range map[string]func(*testing.T, *signalbox.Client){
			"Full": checkFull, "Home": checkHome, "Flags": checkFlags, "Day": checkDay, "Access": checkAccess,
		} {
			t.Run(name, func(t *testing.T) { check(t, client) })
		}
		checkConnected(t, client, printed)
		if want := "The program broken ended (exit status 1). The demo goes on without it."; !strings.Contains(printed.String(), want) {
			t.Errorf("the demo printed\n%s\nwant %q", printed, want)
		}
		checkRuns(t, client, began)
	case err := <-ended:
		t.Fatalf("the demo ended: %v\n%s", err, printed)
	}
	stop()
	if err := <-ended; err != nil {
		t.Errorf("Run = %v", err)
	}
	if strings.Contains(printed.String(), "past their retention") {
		t.Errorf("the server warns of the invented months:\n%s", printed)
	}
	if left, err := os.ReadDir(folder); err != nil || len(left) > 0 {
		t.Errorf("the demo left %v, %v", left, err)
	}
}

// everything requests a whole list at once.
func everything() signalbox.Paging { return signalbox.Paging{Size: 1000} }

func checkFull(t *testing.T, client *signalbox.Client) {
	ctx := t.Context()
	settings, err := client.Account.Settings(ctx)
	if want := []string{"development", "staging", "production"}; err != nil || !slices.Equal(settings.EnvironmentOrder, want) {
		t.Errorf("the environments are in the order %v, %v; want %v", settings.EnvironmentOrder, err, want)
	}
	flags, err := client.Flags.List(ctx, signalbox.FlagParams{Paging: everything()})
	atLeast(t, 40, "flags", len(flags.Items), err)
	loggers, err := client.Loggers.List(ctx, signalbox.LoggerParams{Paging: everything()})
	atLeast(t, 200, "loggers", len(loggers.Items), err)
	configs, err := client.Configs.List(ctx, signalbox.ConfigParams{Paging: everything()})
	atLeast(t, 8, "configs", len(configs.Items), err)
	jobs, err := client.Jobs.List(ctx, signalbox.JobParams{Paging: everything()})
	atLeast(t, 12, "jobs", len(jobs.Items), err)
	runs, err := client.Runs.List(ctx, signalbox.RunParams{Size: 1000})
	atLeast(t, 500, "runs", len(runs.Items), err)
}

func atLeast(t *testing.T, want int, what string, got int, err error) {
	t.Helper()
	if err != nil || got < want {
		t.Errorf("%d %s, %v; want %d or more", got, what, err, want)
	}
}

// checkHome checks that every part of the page Home has content. Exceptions are nearly reached limits and overdue jobs,
// which a healthy server does not have.
func checkHome(t *testing.T, client *signalbox.Client) {
	ctx := t.Context()
	failing, err := client.Jobs.List(ctx, signalbox.JobParams{LastStatus: signalbox.RunFailed})
	atLeast(t, 1, "failing jobs", len(failing.Items), err)
	ending := 0
	loggers, err := client.Loggers.List(ctx, signalbox.LoggerParams{Paging: everything()})
	for _, logger := range loggers.Items {
		for _, each := range logger.Environments {
			if each.ExpiresAt != nil {
				ending++
			}
		}
	}
	atLeast(t, 2, "levels that end", ending, err)
	seen, err := client.Loggers.Sources(ctx, "warehouse.stock", signalbox.SourceParams{})
	if err != nil || len(seen.Items) != 1 || time.Since(seen.Items[0].LastSeen).Truncate(day) != 9*day {
		t.Errorf("the silent service was seen %+v, %v", seen.Items, err)
	}
	frozen, err := client.Environments.Usage(ctx, "loadtest")
	atLeast(t, 1, "frozen values of flags", frozen.FlagDefaults, err)
	atLeast(t, 1, "frozen values of configs", frozen.ConfigOverrides, err)
	atLeast(t, 1, "frozen levels", frozen.LoggerOverrides, err)
	if loadtest, err := client.Environments.Get(ctx, "loadtest"); err != nil || loadtest.Managed {
		t.Errorf("the values of %+v, %v are not frozen", loadtest, err)
	}
}

// checkFlags checks that flags are in use, that some are stale, and that some are only discovered.
func checkFlags(t *testing.T, client *signalbox.Client) {
	ctx := t.Context()
	flags, err := client.Flags.List(ctx, signalbox.FlagParams{Paging: everything()})
	var stale, discovered, lately []string
	for _, flag := range flags.Items {
		asked := flag.CreatedAt
		if flag.LastEvaluated != nil {
			asked = *flag.LastEvaluated
		}
		sources, err := client.Flags.Sources(ctx, flag.ID, signalbox.SourceParams{})
		switch idle := time.Since(asked); {
		case !flag.Managed:
			discovered = append(discovered, flag.ID)
		case idle > 30*day:
			stale = append(stale, flag.ID)
		case flag.LastEvaluated == nil || err != nil || len(sources.Items) == 0:
			t.Errorf("%s was evaluated at %v, its sources are %v, %v", flag.ID, flag.LastEvaluated, sources.Items, err)
		case idle < 5*time.Minute:
			lately = append(lately, flag.ID)
		}
	}
	slices.Sort(stale)
	slices.Sort(discovered)
	if want := []string{"ab-homepage", "double-write-ledger", "holiday-theme"}; err != nil || !slices.Equal(stale, want) {
		t.Errorf("%v are stale, %v; want %v", stale, err, want)
	}
	if want := []string{"legacy-import", "new-invoice-layout"}; !slices.Equal(discovered, want) {
		t.Errorf("%v are discovered, want %v", discovered, want)
	}
	atLeast(t, 15, "flags that were evaluated in the last minutes", len(lately), nil)
}

// checkDay checks that the recent changes look like a team's: by several people, of several kinds, at different times.
func checkDay(t *testing.T, client *signalbox.Client) {
	recent, err := client.Changes.List(t.Context(), signalbox.ChangeParams{From: time.Now().Add(-day), Size: 1000})
	kinds, actors, minutes := map[string]bool{}, map[string]bool{}, map[time.Time]bool{}
	for _, change := range recent.Items {
		minute := change.CreatedAt.Truncate(time.Minute)
		if change.Kind == "session" || change.Kind == "job_health" { // nobody chooses when these happen
			continue
		}
		if minutes[minute] {
			t.Errorf("%s %s %s was not the only change at %v", change.Action, change.Kind, change.Key, minute)
		}
		kinds[change.Kind], actors[change.Actor.Name], minutes[minute] = true, true, true
		if time.Since(change.CreatedAt) < 10*time.Minute {
			t.Errorf("%s %s %s %s at the start", change.Actor.Name, change.Action, change.Kind, change.Key)
		}
	}
	atLeast(t, 12, "changes in a day", len(minutes), err)
	atLeast(t, 6, "kinds of them", len(kinds), nil)
	atLeast(t, 4, "actors", len(actors), nil)
}

// checkAccess checks the keys and the people. Only the visitor may have a session.
func checkAccess(t *testing.T, client *signalbox.Client) {
	ctx := t.Context()
	keys, err := client.Keys.List(ctx, signalbox.KeyParams{})
	evaluates, expires, revoked := 0, 0, 0
	for _, key := range keys.Items {
		if key.Access == signalbox.AccessEvaluate {
			evaluates++
		}
		if key.ExpiresAt != nil && key.ExpiresAt.After(time.Now()) {
			expires++
		}
		if key.Status == signalbox.KeyRevoked {
			revoked++
		}
	}
	if err != nil || evaluates != 1 || expires != 1 || revoked != 1 {
		t.Errorf("%d keys evaluate only, %d expire, %d are revoked, %v; want one of each", evaluates, expires, revoked, err)
	}
	invited, err := client.Invitations.List(ctx, signalbox.InvitationParams{})
	atLeast(t, 1, "people who were invited", len(invited.Items), err)
	if sessions, err := client.Sessions.List(ctx, signalbox.SessionParams{}); err != nil || len(sessions.Items) != 1 {
		t.Errorf("the visitor is signed in %d times, %v", len(sessions.Items), err)
	}
}

// checkRuns checks that jobs were created at different times, that each run has the job's version of its time, and that
// the server's start fired no run that was due before.
func checkRuns(t *testing.T, client *signalbox.Client, began time.Time) {
	t.Helper()
	ctx := t.Context()
	jobs, err := client.Jobs.List(ctx, signalbox.JobParams{Paging: everything()})
	if err != nil {
		t.Fatal(err)
	}
	made := map[time.Time]bool{}
	for _, job := range jobs.Items {
		made[job.CreatedAt.Truncate(time.Hour)] = true
		if job.NextRunAt != nil && job.NextRunAt.Before(began.Add(-time.Minute)) {
			t.Errorf("%s is due since %v", job.ID, job.NextRunAt)
		}
	}
	if len(made) != len(jobs.Items) {
		t.Errorf("%d jobs were made in %d hours", len(jobs.Items), len(made))
	}
	versions := map[int]bool{}
	for run, err := range client.Runs.All(ctx, signalbox.RunParams{}) {
		if err != nil {
			t.Fatal(err)
		}
		if run.CreatedAt.After(began) && run.ScheduledFor.Before(began.Add(-2*time.Minute)) {
			t.Errorf("%s fired at the start for %v", run.Job, run.ScheduledFor)
		}
		if run.Job == "nightly-backup" && run.JobVersion != nil {
			versions[*run.JobVersion] = true
		}
	}
	if !versions[1] || !versions[2] {
		t.Errorf("the runs of nightly-backup are of the versions %v", versions)
	}
}

// checkConnected sets a level at which every logger of a program prints, and waits for the output.
func checkConnected(t *testing.T, client *signalbox.Client, printed *output) {
	t.Helper()
	storetest.Wait(t, time.Minute, "the programs are connected", func() bool {
		found, err := client.Connections.List(t.Context(), signalbox.ConnectionParams{})
		return err == nil && len(found.Items) == len(programs())
	})
	if printed.has("level=DEBUG", "logger=catalog.products") {
		t.Error("a program printed DEBUG before it was told to")
	}
	draft := signalbox.LoggerDraft{Base: signalbox.LevelSetting{Level: loglevel.Debug, TTL: time.Minute}}
	if _, err := client.Loggers.Apply(t.Context(), "catalog.products", draft); err != nil {
		t.Fatal(err)
	}
	storetest.Wait(t, time.Minute, "a program prints DEBUG", func() bool { return printed.has("level=DEBUG", "logger=catalog.products") })
}

// output collects the output of the demo and its programs.
type output struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (o *output) Write(text []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(text)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

// has reports whether some line contains all the words.
func (o *output) has(words ...string) bool {
	for line := range strings.Lines(o.String()) {
		if !slices.ContainsFunc(words, func(word string) bool { return !strings.Contains(line, word) }) {
			return true
		}
	}
	return false
}
