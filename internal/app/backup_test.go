package app_test

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/internal/app"
	"github.com/signalbox/signalbox/internal/app/apptest"
	"github.com/signalbox/signalbox/internal/settings"
	"github.com/signalbox/signalbox/internal/store/storetest"
)

// interruptedRestore returns the settings of a server whose restore was killed: the old database, with two accounts, was
// moved away, but the backup, with one account, is not in its place yet. Tests of internal/store kill a restore after
// every step.
func interruptedRestore(t *testing.T) settings.Settings {
	t.Helper()
	s := apptest.Settings(storetest.New(t, "sqlite"))
	start(t, s)
	copied, file := filepath.Join(s.Data, ".signalbox-restore-1.tmp"), filepath.Join(s.Data, "signalbox.db")
	if _, err := app.Backup(t.Context(), s, copied); err != nil {
		t.Fatal(err)
	}
	operator, err := app.OpenOperator(t.Context(), s, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := operator.CreateAccount(t.Context(), "second", "pro"); err != nil {
		t.Fatal(err)
	}
	if err := operator.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file+".restore", []byte(`{"copy":".signalbox-restore-1.tmp","kept":"signalbox.db.before"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(file, file+".before"); err != nil {
		t.Fatal(err)
	}
	return s
}

// The next command that opens the database completes the restore.
func TestRestore_Interrupted(t *testing.T) {
	t.Parallel()
	for name, next := range map[string]func(*testing.T, settings.Settings) error{
		"a start": func(t *testing.T, s settings.Settings) error {
			t.Helper()
			start(t, s)
			return nil
		},
		"a command": func(t *testing.T, s settings.Settings) error {
			t.Helper()
			operator, err := app.OpenOperator(t.Context(), s, slog.New(slog.DiscardHandler))
			if err != nil {
				return err
			}
			return operator.Close()
		},
		"a backup": func(t *testing.T, s settings.Settings) error {
			t.Helper()
			_, err := app.Backup(t.Context(), s, filepath.Join(t.TempDir(), "copy.db"))
			return err
		},
		"another restore": func(t *testing.T, s settings.Settings) error {
			t.Helper()
			backup := filepath.Join(t.TempDir(), "copy.db")
			copied, err := os.ReadFile(filepath.Join(s.Data, ".signalbox-restore-1.tmp"))
			if err == nil {
				err = os.WriteFile(backup, copied, 0o600)
			}
			if err == nil {
				_, err = app.Restore(t.Context(), s, backup)
			}
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := interruptedRestore(t)
			if !app.HasDatabase(s) {
				t.Error("HasDatabase does not find the interrupted restore")
			}
			if err := next(t, s); err != nil {
				t.Fatal(err)
			}
			if found, _ := accountsAndKeys(t, s); len(found) != 1 {
				t.Errorf("there are %d accounts, want only the one of the backup", len(found))
			}
			if _, err := os.Stat(filepath.Join(s.Data, "signalbox.db.before")); err != nil {
				t.Error(err)
			}
		})
	}
}

// The doctor does not complete an interrupted restore, because it changes nothing.
func TestDoctor_InterruptedRestore(t *testing.T) {
	t.Parallel()
	s := interruptedRestore(t)
	var said []string
	for _, finding := range app.Examine(t.Context(), s, "") {
		said = append(said, finding.Detail)
	}
	if !strings.Contains(strings.Join(said, "\n"), "is not complete: the next start of the server completes it") {
		t.Errorf("it says %q", said)
	}
	if _, err := os.Stat(filepath.Join(s.Data, "signalbox.db")); !os.IsNotExist(err) {
		t.Errorf("there is a new database: %v", err)
	}
}
