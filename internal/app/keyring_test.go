package app_test

import (
	"bytes"
	"database/sql"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/signalbox/signalbox/internal/app"
	"github.com/signalbox/signalbox/internal/app/apptest"
	"github.com/signalbox/signalbox/internal/sealed"
	"github.com/signalbox/signalbox/internal/settings"
	"github.com/signalbox/signalbox/internal/store"
	"github.com/signalbox/signalbox/internal/store/storetest"
)

// sealedWith reports whether all values in the store are sealed with this key.
func sealedWith(t *testing.T, raw *sql.DB, key string) bool {
	t.Helper()
	rows, err := raw.QueryContext(t.Context(), `SELECT sealed FROM seal_checks`)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	count := 0
	for rows.Next() {
		var value []byte
		if err := rows.Scan(&value); err != nil {
			t.Fatal(err)
		}
		if !bytes.HasPrefix(value, sealed.KeyPrefix(key)) {
			return false
		}
		count++
	}
	if err := rows.Err(); err != nil || count == 0 {
		t.Fatalf("%d sealed values, %v", count, err)
	}
	return true
}

// start builds an app, which creates the store and its key ring, and stops it.
func start(t *testing.T, s settings.Settings) {
	t.Helper()
	instance, _, err := build(t, s)
	if err != nil {
		t.Fatal(err)
	}
	stop(t, instance)
}

func TestKeyring_MissingOrForeign(t *testing.T) {
	t.Parallel()
	database := storetest.New(t, "sqlite")
	ring := apptest.KeyringFile(database)
	s := apptest.Settings(database)
	start(t, s)
	if info, err := os.Stat(ring); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the ring is %v, %v", info, err)
	}
	kept, err := os.ReadFile(ring)
	if err != nil {
		t.Fatal(err)
	}
	other := filepath.Join(t.TempDir(), "other")
	if _, err := sealed.OpenOrCreate(other); err != nil {
		t.Fatal(err)
	}
	foreign, err := os.ReadFile(other)
	if err != nil {
		t.Fatal(err)
	}
	t.Run("it is missing", func(t *testing.T) {
		if err := os.Remove(ring); err != nil {
			t.Fatal(err)
		}
		refuses(t, s, "is missing")
		if _, err := os.Stat(ring); err == nil {
			t.Error("another ring was made in its place")
		}
	})
	for name, each := range map[string]struct {
		text []byte
		mode os.FileMode
		says string
	}{
		"it is another":      {foreign, 0o600, "key ring does not open"},
		"it is damaged":      {[]byte("5c0e91d2 garbage\n"), 0o600, "key ring"},
		"it is empty":        {nil, 0o600, "key ring"},
		"others may read it": {kept, 0o644, "chmod 600"},
	} {
		t.Run(name, func(t *testing.T) {
			_ = os.Remove(ring)
			if err := os.WriteFile(ring, each.text, each.mode); err != nil {
				t.Fatal(err)
			}
			refuses(t, s, each.says)
		})
	}
	t.Run("it is back", func(t *testing.T) {
		if err := os.WriteFile(ring, kept, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(ring, 0o600); err != nil {
			t.Fatal(err)
		}
		start(t, s)
	})
}

// If the database is missing but the key ring exists, the start fails. A volume
// may not be mounted, or the settings may name another database.
func TestKeyring_VanishedDatabase(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, database storetest.Database) {
		s, ring := apptest.Settings(database), apptest.KeyringFile(database)
		start(t, s)
		before, err := os.ReadFile(ring)
		if err != nil {
			t.Fatal(err)
		}
		empty := storetest.Database{Kind: database.Kind, Dir: t.TempDir()}
		if database.URL != "" {
			empty.URL = storetest.New(t, database.Kind).URL
		}
		s.Data, s.Database = empty.Dir, empty.URL
		if err := os.WriteFile(apptest.KeyringFile(empty), before, 0o600); err != nil {
			t.Fatal(err)
		}
		refuses(t, s, "there is a key ring, "+apptest.KeyringFile(empty)+", but the ")
		refuses(t, s, "move the key ring away or name it with SIGNALBOX_KEYRING")
		if _, err := os.Stat(filepath.Join(empty.Dir, "signalbox.db")); err == nil {
			t.Error("a database was made")
		}
		if err := os.Rename(apptest.KeyringFile(empty), ring+".old"); err != nil {
			t.Fatal(err)
		}
		start(t, s) // start with a new database on purpose
		after, err := os.ReadFile(apptest.KeyringFile(empty))
		if err != nil || bytes.Equal(before, after) {
			t.Errorf("the new database has the old ring, or none: %v", err)
		}
	})
}

// A database file that was replaced by an empty one is refused like a missing
// one.
func TestKeyring_EmptyDatabaseFile(t *testing.T) {
	t.Parallel()
	database := storetest.New(t, "sqlite")
	s := apptest.Settings(database)
	start(t, s)
	if err := os.Truncate(filepath.Join(database.Dir, "signalbox.db"), 0); err != nil {
		t.Fatal(err)
	}
	refuses(t, s, "holds nothing that was sealed with it")
}

func TestKeyring_InterruptedFirstStart(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, database storetest.Database) {
		s, ring := apptest.Settings(database), apptest.KeyringFile(database)
		t.Run("before the database holds a seal", func(t *testing.T) {
			if _, err := sealed.OpenOrCreate(ring + ".new"); err != nil {
				t.Fatal(err)
			}
			start(t, s)
		})
		t.Run("before the ring has its name", func(t *testing.T) {
			if err := os.Rename(ring, ring+".new"); err != nil {
				t.Fatal(err)
			}
			start(t, s)
		})
		if _, err := os.Stat(ring + ".new"); err == nil {
			t.Error("the ring did not get its name")
		}
	})
}

func TestKeyring_NodesStartAtOnce(t *testing.T) {
	t.Parallel()
	database := storetest.New(t, "postgres")
	s := apptest.Settings(database)
	var starting sync.WaitGroup
	for range 5 {
		starting.Go(func() {
			instance, _, err := build(t, s)
			if err != nil {
				t.Error(err)
				return
			}
			stop(t, instance)
		})
	}
	starting.Wait()
	start(t, s)
}

func TestKeyring_FromSetting(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "ring")
	ring, err := sealed.OpenOrCreate(file)
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for name, given := range map[string]string{"as a file": file, "as the keys themselves": string(text)} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			database := storetest.New(t, "sqlite")
			s := apptest.Settings(database)
			s.Keyring = given
			start(t, s)
			if !sealedWith(t, database.Raw(t), ring.Primary()) {
				t.Error("another key sealed")
			}
			if _, err := os.Stat(apptest.KeyringFile(database)); err == nil {
				t.Error("a ring was made in the data folder")
			}
			s.Keyring = filepath.Join(t.TempDir(), "none")
			refuses(t, s, "key ring")
		})
	}
}

func TestKeyring_SharedByNodes(t *testing.T) {
	t.Parallel()
	database := storetest.New(t, "postgres")
	start(t, apptest.Settings(database))
	elsewhere := apptest.Settings(database)
	elsewhere.Data = t.TempDir()
	refuses(t, elsewhere, "key ring")
}

// A running node notices a rotation, and re-encrypts the values that the
// rotation did not.
func TestResealer_RotationWhileRunning(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, database storetest.Database) {
		run(t, apptest.Settings(database))
		raw := database.Raw(t)
		ring, err := sealed.OpenFile(apptest.KeyringFile(database))
		if err != nil {
			t.Fatal(err)
		}
		if !sealedWith(t, raw, ring.Primary()) {
			t.Error("the first start did not seal with the ring")
		}
		key, err := ring.Rotate() // nothing more, as if the command was interrupted
		if err != nil {
			t.Fatal(err)
		}
		storetest.Wait(t, 2*soon, "the node has sealed again", func() bool { return sealedWith(t, raw, key) })
	})
}

func TestResealer_InterruptedRotation(t *testing.T) {
	t.Parallel()
	database := storetest.New(t, "sqlite")
	s := apptest.Settings(database)
	start(t, s)
	ring, err := sealed.OpenFile(apptest.KeyringFile(database))
	if err != nil {
		t.Fatal(err)
	}
	key, err := ring.Rotate()
	if err != nil {
		t.Fatal(err)
	}
	run(t, s)
	raw := database.Raw(t)
	storetest.Wait(t, soon, "the node has sealed again", func() bool { return sealedWith(t, raw, key) })
}

// A value that no key decrypts is logged once, with its place. Trying again
// would not help.
func TestResealer_WarnsOnceOfUnopenedValue(t *testing.T) {
	t.Parallel()
	database := storetest.New(t, "sqlite")
	db := database.Open(t)
	ring, err := sealed.OpenOrCreate(filepath.Join(t.TempDir(), "ring"))
	if err != nil {
		t.Fatal(err)
	}
	if err := db.CheckSeal(t.Context(), ring); err != nil {
		t.Fatal(err)
	}
	if _, err := database.Raw(t).ExecContext(t.Context(), `UPDATE seal_checks SET sealed = $1`, []byte("swordfish")); err != nil {
		t.Fatal(err)
	}
	var logged bytes.Buffer
	look := app.Resealer(db, ring, slog.New(slog.NewTextHandler(&logged, nil)))
	for range 3 {
		look(t.Context())
	}
	text := logged.String()
	if strings.Count(text, "\n") != 1 || !strings.Contains(text, "values=1 first=seal_checks:sealed:ring") || strings.Contains(text, "swordfish") {
		t.Errorf("logged %s", text)
	}
}

func TestOperator_RotateKeyring(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, database storetest.Database) {
		s := apptest.Settings(database)
		start(t, s) // and stop it: a running node would re-encrypt at the same time as the operator
		operator := operate(t, s)
		for range 2 {
			key, done, err := operator.RotateKeyring(t.Context())
			if err != nil || done != (store.Resealed{Values: 1}) || !sealedWith(t, database.Raw(t), key) {
				t.Errorf("%+v sealed with %s, %v", done, key, err)
			}
		}
		start(t, s)
	})
}

func TestOperator_RotateInlineKeyring(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "ring")
	if _, err := sealed.OpenOrCreate(file); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	s := apptest.Settings(storetest.New(t, "sqlite"))
	s.Keyring = string(text)
	start(t, s)
	if _, _, err := operate(t, s).RotateKeyring(t.Context()); err == nil {
		t.Error("it was rotated")
	}
}
