package e2e

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/signalbox/signalbox/internal/store/storetest"
	"github.com/signalbox/signalbox/internal/suite"
)

// TestUpgrade_FromEveryRelease starts this version on the database that each release left: it must export the same
// resources, secrets included, which need the release's key ring, and accept writes. scripts/keep-release made the
// files.
func TestUpgrade_FromEveryRelease(t *testing.T) {
	t.Parallel()
	releases, err := filepath.Glob("testdata/upgrade/*/export.yaml")
	if err != nil || len(releases) == 0 {
		t.Fatalf("there are no releases: %v", err)
	}
	for _, exported := range releases {
		release := filepath.Dir(exported)
		for _, kind := range []string{"sqlite", "postgres"} {
			t.Run(filepath.Base(release)+"/"+kind, func(t *testing.T) {
				t.Parallel()
				requireSameExport(t, release, kind)
			})
		}
	}
}

func requireSameExport(t *testing.T, release, kind string) {
	t.Helper()
	database := storetest.NewEmpty(t, kind)
	unpack(t, filepath.Join(release, kind+".tar.gz"), database.Dir)
	if dump, err := os.ReadFile(filepath.Join(database.Dir, "dump.sql")); err == nil {
		if _, err := database.Raw(t).ExecContext(t.Context(), string(dump)); err != nil {
			t.Fatal(err)
		}
	}
	n := start(t, database)
	want, err := os.ReadFile(filepath.Join(release, "export.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	if got := say(t, n.url, upgradeKey, "export", "--secrets"); got != string(want) {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	say(t, n.url, upgradeKey, "flags", "off", "checkout-v2", "-e", "production")
}

// upgradeKey is the OWNER key in the kept databases.
const upgradeKey = "sk_api_upgrade-test-key-of-the-first-account-00000"

// say runs a command against a server and returns its output.
func say(t *testing.T, url, key string, args ...string) string {
	t.Helper()
	command := exec.CommandContext(t.Context(), binary, args...)
	command.Env = []string{"SIGNALBOX_URL=" + url, "SIGNALBOX_API_KEY=" + key, "HOME=" + t.TempDir()}
	var complaint bytes.Buffer
	command.Stderr = &complaint
	printed, err := command.Output()
	if err != nil {
		t.Fatalf("%v: %v: %s", args, err, &complaint)
	}
	return string(printed)
}

// unpack writes the files of an archive into a folder.
func unpack(t *testing.T, archive, folder string) {
	t.Helper()
	text, err := os.ReadFile(archive)
	if err != nil {
		t.Fatal(err)
	}
	plain, err := gzip.NewReader(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	for files := tar.NewReader(plain); ; {
		file, err := files.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		if file.Typeflag != tar.TypeReg {
			continue
		}
		content, err := io.ReadAll(files)
		if err == nil {
			err = os.WriteFile(filepath.Join(folder, filepath.Base(file.Name)), content, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// TestUpgrade_Rolling replaces a server of an earlier release by this one, as docs/upgrading.md says: on the database that the release
// left, beside a server that was built from the commit of that release. Both take writes and execute runs; the old one goes on
// alone when the new one stops. It builds an older commit, so only make soak runs it.
func TestUpgrade_Rolling(t *testing.T) {
	t.Parallel()
	for range suite.Scale(0, 1) {
		const release = "testdata/upgrade/0.1.0"
		old := buildOld(t, release)
		r := &rolling{sink: newSink(t), database: storetest.NewEmpty(t, "postgres")}
		r.restore(t, release)
		before, err := startProgram(old, r.database.Dir, serverSettings(r.database, r.settings("old")...), nil)
		if err != nil {
			t.Fatalf("%v\n%s", err, before.stderr.String())
		}
		t.Cleanup(func() { _ = before.signal(syscall.SIGKILL) }) // it has usually ended
		r.send(t, before, http.StatusCreated, http.MethodPost, "/api/v1/jobs", newJob("rolling", "0 0 1 1 *", r.sink.URL))
		r.work(t, 10, before)
		after := start(t, r.database, r.settings("new")...)
		r.work(t, 40, before, after)
		if err := after.signal(syscall.SIGTERM); err != nil {
			t.Errorf("the new server: %v", err)
		}
		r.work(t, 10, before)
		after = start(t, r.database, r.settings("new")...)
		if err := before.signal(syscall.SIGTERM); err != nil {
			t.Errorf("the old server: %v", err)
		}
		r.work(t, 10, after)
		r.check(t, after)
		if again, err := startProgram(old, r.database.Dir, serverSettings(r.database, r.settings("old")...), nil); !errors.Is(err, errRefused) {
			t.Errorf("the old server started on the migrated database: %v", errors.Join(err, again.signal(syscall.SIGKILL)))
		}
	}
}

// rolling is an installation whose servers are replaced.
type rolling struct {
	database storetest.Database
	sink     *sink
	flags    []string // acknowledged
	runs     []string
}

// restore restores the database that a release left.
func (r *rolling) restore(t *testing.T, release string) {
	t.Helper()
	unpack(t, filepath.Join(release, "postgres.tar.gz"), r.database.Dir)
	dump, err := os.ReadFile(filepath.Join(r.database.Dir, "dump.sql"))
	if err == nil {
		_, err = r.database.Raw(t).ExecContext(t.Context(), string(dump))
	}
	if err != nil {
		t.Fatal(err)
	}
}

func (r *rolling) settings(node string) []string {
	return []string{"SIGNALBOX_NODE=" + node, "SIGNALBOX_ALLOW_NETWORKS=127.0.0.0/8"}
}

func (r *rolling) send(t *testing.T, to *node, want int, method, path, body string) (answer string) {
	t.Helper()
	got, err := (&exchange{url: to.url, method: method, path: path, key: upgradeKey, body: body}).send()
	if err != nil || got.status != want {
		log := to.stderr.String()
		t.Fatalf("%s %s got %d %s, %v; the server logged\n%s", method, path, got.status, got.body, err, log[max(0, len(log)-2000):])
	}
	return got.body
}

// work creates flags and asks for runs, of the nodes in turn, and waits until all runs have succeeded.
func (r *rolling) work(t *testing.T, count int, nodes ...*node) {
	t.Helper()
	for i := range count {
		to := nodes[i%len(nodes)]
		flag := fmt.Sprint("rolling-", len(r.flags))
		r.send(t, to, http.StatusCreated, http.MethodPost, "/api/v1/flags", `{"data":{"type":"flag","id":"`+flag+`","attributes":{"type":"BOOLEAN","default":false}}}`)
		var run struct{ Data struct{ ID string } }
		if err := json.Unmarshal([]byte(r.send(t, to, http.StatusOK, http.MethodPost, "/api/v1/jobs/rolling/actions/run", "")), &run); err != nil {
			t.Fatal(err)
		}
		r.flags, r.runs = append(r.flags, flag), append(r.runs, run.Data.ID)
	}
	for _, id := range r.runs[len(r.runs)-count:] {
		for _, each := range nodes { // both read what the other wrote
			storetest.Wait(t, patience, "a run has succeeded", func() bool {
				return strings.Contains(r.send(t, each, http.StatusOK, http.MethodGet, "/api/v1/runs/"+id, ""), `"SUCCEEDED"`)
			})
		}
	}
}

// check requires that a server has all flags, and that the sink was called once for each run.
func (r *rolling) check(t *testing.T, by *node) {
	t.Helper()
	for _, flag := range r.flags {
		r.send(t, by, http.StatusOK, http.MethodGet, "/api/v1/flags/"+flag, "")
	}
	for _, run := range r.runs {
		if count := r.sink.count(run); count != 1 {
			t.Errorf("the run %s was sent %d times", run, count)
		}
	}
}

// buildOld builds the program of the commit that added a release's database. A folder without the history, such as an unpacked
// archive, cannot be tested: the test is then skipped, or fails under make soak, and says why.
func buildOld(t *testing.T, release string) (program string) {
	t.Helper()
	folder := t.TempDir()
	script := `set -e
if [ "$(git rev-parse --is-shallow-repository)" = true ]; then echo 'the history is cut off; git fetch --unshallow loads it' >&2; exit 1; fi
commit=$(git log --format=%H --diff-filter=A -- "$1/export.yaml" | tail -1)
if [ -z "$commit" ]; then echo "no commit has added $1/export.yaml" >&2; exit 1; fi
git -C "$(git rev-parse --show-toplevel)" archive "$commit" | tar -x -C "$2"`
	if output, err := exec.CommandContext(t.Context(), "sh", "-c", script, "sh", release, folder).CombinedOutput(); err != nil {
		suite.Skip(t, "The upgrade beside an older server was not tested, because there is no source of it; that needs a clone with its history: "+string(output))
	}
	program = filepath.Join(folder, "signalbox-old")
	build := exec.CommandContext(t.Context(), "go", "build", "-trimpath", "-buildvcs=false", "-o", program, "./cmd/signalbox")
	build.Dir, build.Env = folder, append(os.Environ(), "CGO_ENABLED=0", "PWD="+folder)
	if output, err := build.CombinedOutput(); err != nil {
		t.Fatalf("building the older commit: %v\n%s", err, output)
	}
	return program
}
