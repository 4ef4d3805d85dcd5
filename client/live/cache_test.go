package live

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	signalbox "github.com/signalbox/signalbox/client"
	"github.com/signalbox/signalbox/client/flageval"
	"github.com/signalbox/signalbox/client/internal/servertest"
	"github.com/signalbox/signalbox/client/internal/testenv"
)

const nowhere = "http://127.0.0.1:1"

func cached(dir string) []string {
	files, _ := filepath.Glob(filepath.Join(dir, "*"))
	return files
}

// TestCache_StartsWithoutServer: a service starts with its last values while the server is away.
func TestCache_StartsWithoutServer(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "new")
	server := servertest.Start(t)
	setFlag(t, server.Client(), "on", true)
	setConfig(t, server.Client(), "checkout", map[string]string{"timeout_ms": "9"})
	first := readyBox(t, server.URL, WithCacheDir(dir))
	first.Close(t.Context())
	server.Stop()
	files := cached(dir)
	if len(files) != 1 {
		t.Fatalf("the cache has %v", files)
	}
	info, err := os.Stat(files[0])
	if err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("the file's mode is %v, %v", info.Mode(), err)
	}
	second := startBox(t, server.URL, WithCacheDir(dir))
	if !second.Bool("on", false).Get(t.Context()) || Config(second, "checkout", limits{}).Get().Timeout != 9 {
		t.Error("the last values are not there")
	}
	waitStatus(t, second, Stale)
	if since := second.State().Since; !since.Equal(info.ModTime()) {
		t.Errorf("stale since %s, not %s", since, info.ModTime())
	}
	other := startBox(t, server.URL, WithCacheDir(dir), WithKey("sk_api_of-another-account"))
	if other.Bool("on", false).Get(t.Context()) {
		t.Error("another account's values are served")
	}
}

// TestCache_Unusable: whatever is wrong with the disk, the service works as without a cache.
func TestCache_Unusable(t *testing.T) {
	t.Parallel()
	server := servertest.Start(t)
	setFlag(t, server.Client(), "on", true)
	if _, err := os.Stat("/dev/full"); err != nil {
		testenv.Skip(t, "this system has no /dev/full")
	}
	inTheWay := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(inTheWay, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, prepare := range map[string]func(*settings){
		"a full disk": func(s *settings) {
			s.createFile = func(dir string) (*os.File, error) {
				full := filepath.Join(dir, "full") // a link, because the cache removes a file that it cannot write
				if err := os.Symlink("/dev/full", full); err != nil {
					return nil, err
				}
				return os.OpenFile(full, os.O_WRONLY, 0)
			}
		},
		"a file in the way": func(s *settings) { s.cacheDir = filepath.Join(inTheWay, "below") },
	} {
		t.Run(name, func(t *testing.T) {
			log := &logText{}
			box := readyBox(t, server.URL, log.option(), prepare)
			flag := box.Bool("on", false)
			if !flag.Get(t.Context()) {
				t.Error("the flag has no value")
			}
			setFlag(t, server.Client(), "on", false)
			testenv.Wait(t, "a change", func() bool { return !flag.Get(t.Context()) })
			testenv.Wait(t, "a log line", func() bool { return strings.Contains(log.String(), "Keeping the last known values failed") })
			setFlag(t, server.Client(), "on", true)
			testenv.Wait(t, "a change", func() bool { return flag.Get(t.Context()) })
			box.Close(t.Context())
			if lines := strings.Count(log.String(), "Keeping"); lines != 1 {
				t.Errorf("logged %d lines:\n%s", lines, log)
			}
		})
	}
}

// TestCache_Damaged: a damaged file is ignored, without an error.
func TestCache_Damaged(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "{", "null", "[]", `{"data":{}}`, `{"data":{"id":"production","attributes":{"flags":7}}}`} {
		t.Run(fmt.Sprintf("%q", text), func(t *testing.T) {
			dir, log := t.TempDir(), &logText{}
			s := newSettings([]Option{WithURL(nowhere), WithKey(servertest.OwnerKey), WithEnvironment("production")})
			if err := os.WriteFile(filepath.Join(dir, s.cacheName()), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			box := startBox(t, nowhere, WithCacheDir(dir), log.option())
			if !box.Bool("on", true).Get(t.Context()) || !strings.Contains(log.String(), "starts without them") {
				t.Errorf("%q: logged %s", text, log)
			}
		})
	}
}

// TestBootstrap_File: the file has the format of the server's answer, and is used when there is no
// cache.
func TestBootstrap_File(t *testing.T) {
	t.Parallel()
	snapshot := signalbox.Snapshot{Resource: signalbox.Resource{ID: "production"}, Flags: []signalbox.Flag{
		{Resource: signalbox.Resource{ID: "color"}, Type: flageval.String, Default: []byte(`"red"`)}}}
	text, err := json.Marshal(snapshot)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "bootstrap.json")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	box := startBox(t, nowhere, WithBootstrap(file), WithoutCache())
	if got := box.String("color", "blue").Get(t.Context()); got != "red" {
		t.Errorf("got %s", got)
	}
	missing, err := Start(t.Context(), WithURL(nowhere), WithKey("k"), WithEnvironment("e"), WithoutCache(), quietly(), WithBootstrap(file+"x"))
	if err == nil || missing.String("color", "blue").Get(t.Context()) != "blue" {
		t.Errorf("a missing file: %v", err)
	}
	missing.Close(t.Context())
}
