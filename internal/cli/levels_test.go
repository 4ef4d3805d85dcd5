package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/internal/store/storetest"
)

// TestLevelsFollow_WritesChanges: a change is in the file at once, a logger that is released inherits its level again, and
// without a server a start leaves the levels that are known.
func TestLevelsFollow_WritesChanges(t *testing.T) {
	t.Parallel()
	term, _ := watchedAccount(t)
	file := filepath.Join(t.TempDir(), "levels.properties")
	term.must("loggers", "set", "com.example.Shop", "DEBUG", "-e", "production")
	follow := start(t, term, nil, "levels", "follow", "--format", "logback", "-e", "production", file)
	has := func(lines ...string) {
		t.Helper()
		want := "# Log levels from Signalbox\n" + strings.Join(lines, "\n") + "\n"
		storetest.Wait(t, patience, "the file has "+want, func() bool {
			text, err := os.ReadFile(file)
			return err == nil && string(text) == want
		})
	}
	has("logback.logger.com.example.Shop=DEBUG")
	term.must("loggers", "set", "org.Other", "SILENT")
	has("logback.logger.com.example.Shop=DEBUG", "logback.logger.org.Other=OFF")
	term.must("loggers", "set", "org.Other", "WARN", "--for", "1s")
	has("logback.logger.com.example.Shop=DEBUG", "logback.logger.org.Other=INHERITED")
	term.must("loggers", "reset", "com.example.shop")
	has("logback.logger.com.example.Shop=INHERITED", "logback.logger.org.Other=INHERITED")
	follow.interrupt()
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o644 {
		t.Errorf("the file is %v, %v", info, err)
	}
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(file), ".*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestLevelsFollow_Once(t *testing.T) {
	t.Parallel()
	term, _ := watchedAccount(t)
	term.must("loggers", "set", "com.example.Shop", "DEBUG")
	for format, want := range map[string]string{"log4j2": `<Logger name="com.example.Shop" level="DEBUG"/>`, "json": `{"com.example.Shop":"DEBUG"}`,
		"python": `"com.example.Shop":{"level":"DEBUG"}`, "log4j2-json": `"monitorInterval":"5"`} {
		t.Run(format, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "levels")
			term.in(t).must("levels", "follow", "--format", format, "-e", "production", "--once", file)
			if text, err := os.ReadFile(file); err != nil || !strings.Contains(string(text), want) {
				t.Errorf("got %s, %v", text, err)
			}
		})
	}
}
