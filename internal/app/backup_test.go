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

// interruptedRestore returns the settings of a server whose restore was killed when the old database, with two accounts,
// had been moved and the backup, with one, was not in its place yet. internal/store kills restores after every step.
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

// Whatever opens the database next completes the restore.
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
				t.Error("there is a database to replace")
			}
			if err := next(t, s); err != nil {
				t.Fatal(err)
			}
			if found, _ := accountsAndKeys(t, s); len(found) != 1 {
				t.Errorf("there are %d accounts, not that of the backup", len(found))
			}
			if _, err := os.Stat(filepath.Join(s.Data, "signalbox.db.before")); err != nil {
				t.Error(err)
			}
		})
	}
}

// Looking at a server changes nothing.
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
