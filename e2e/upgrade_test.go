package e2e

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/signalbox/signalbox/internal/store/storetest"
)

// TestUpgrade_FromEveryRelease starts this version on the database that each release left: it must
// export the same, with the secrets that only the release's key ring opens, and accept writes.
// scripts/keep-release made the files.
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
	const key = "sk_api_upgrade-test-key-of-the-first-account-00000"
	want, err := os.ReadFile(filepath.Join(release, "export.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	if got := say(t, n.url, key, "export", "--secrets"); got != string(want) {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	say(t, n.url, key, "flags", "off", "checkout-v2", "-e", "production")
}

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
