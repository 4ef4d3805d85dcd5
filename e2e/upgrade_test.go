package e2e

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
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

// TestUpgrade_Rolling runs a server of an older commit, which stored a release's database, beside a new one: the new
// server migrates the database, and both go on accepting writes. It builds an older commit, so only make soak runs it.
func TestUpgrade_Rolling(t *testing.T) {
	t.Parallel()
	const release = "testdata/upgrade/0.1.0"
	for range suite.Scale(0, 1) {
		old := buildOld(t, release)
		database := storetest.NewEmpty(t, "postgres")
		unpack(t, filepath.Join(release, "postgres.tar.gz"), database.Dir)
		dump, err := os.ReadFile(filepath.Join(database.Dir, "dump.sql"))
		if err == nil {
			_, err = database.Raw(t).ExecContext(t.Context(), string(dump))
		}
		if err != nil {
			t.Fatal(err)
		}
		before, err := startProgram(old, database.Dir, serverSettings(database, "SIGNALBOX_NODE=old"), nil)
		if err != nil {
			t.Fatalf("%v\n%s", err, before.stderr.String())
		}
		after := start(t, database, "SIGNALBOX_NODE=new")
		for i := range 20 {
			for name, each := range map[string]*node{"old": before, "new": after} {
				id := fmt.Sprint(name, "-", i)
				say(t, each.url, upgradeKey, "flags", "create", id, "--type", "BOOLEAN", "--default", "false")
			}
		}
		for _, each := range []*node{before, after} {
			for _, id := range []string{"old-19", "new-19"} {
				say(t, each.url, upgradeKey, "flags", "on", id, "-e", "production")
			}
		}
		if err := before.signal(syscall.SIGTERM); err != nil {
			t.Errorf("the old server: %v", err)
		}
		if again, err := startProgram(old, database.Dir, serverSettings(database), nil); !errors.Is(err, errRefused) {
			t.Errorf("the old server started on the migrated database: %v", errors.Join(err, again.signal(syscall.SIGKILL)))
		}
	}
}

// buildOld builds the program of the commit that added a release's database.
func buildOld(t *testing.T, release string) (program string) {
	t.Helper()
	folder := t.TempDir()
	script := `set -e
commit=$(git log -1 --format=%H --diff-filter=A -- "$1/export.yaml")
git -C "$(git rev-parse --show-toplevel)" archive "$commit" | tar -x -C "$2"
cd "$2" && CGO_ENABLED=0 go build -trimpath -buildvcs=false -o signalbox-old ./cmd/signalbox`
	if output, err := exec.CommandContext(t.Context(), "sh", "-c", script, "sh", release, folder).CombinedOutput(); err != nil {
		suite.Skip(t, "The program of the older commit cannot be built; this needs a checkout with its history: "+string(output))
	}
	return filepath.Join(folder, "signalbox-old")
}
