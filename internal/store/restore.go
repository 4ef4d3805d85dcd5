package store

import (
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/signalbox/signalbox/internal/durable"
)

// A SQLite database is several files, and no file system renames several at once. So a restore first prepares everything,
// then writes a note with the steps that are left. Giving the note its name decides the restore: before, the old database
// is untouched; after, every start moves the old files away and the copy into their place, until that is complete.

const (
	// restoreNote is added to the name of the database to name the note.
	restoreNote = ".restore"
	// restoreFiles matches the files that an interrupted restore leaves in the folder of the database.
	restoreFiles = ".signalbox-restore-*.tmp"
)

// databaseFiles returns the suffixes of the files of a database. Files that may hold commits come first, and are moved
// before the database itself.
func databaseFiles() []string { return []string{"-wal", "-shm", "-journal", ""} }

// restoration is a decided restore. Its files are in the folder of the database.
type restoration struct {
	Copy string `json:"copy"` // becomes the database
	Kept string `json:"kept"` // the new name of the old database
}

// Restore replaces a SQLite file by a copy of a backup, and keeps the old file under another name in the same folder. The
// caller has called FinishRestore, and no process may use the file meanwhile. A restore that is killed leaves the old
// database, or is completed by FinishRestore.
func Restore(file, from, kept string) error {
	return restore(file, from, kept, func(string) {})
}

// restore is Restore, and calls after with the name of each completed step, so that a test can end
// it there.
func restore(file, from, kept string, after func(step string)) error {
	folder := filepath.Dir(file)
	copied, err := copyInto(folder, from)
	if err != nil {
		return fmt.Errorf("copying the backup: %w", err)
	}
	if err := renewLevelDates(copied, file); err != nil {
		return errors.Join(fmt.Errorf("preparing the copy: %w", err), os.Remove(copied))
	}
	after("copied")
	decided := restoration{Copy: filepath.Base(copied), Kept: filepath.Base(kept)}
	if err := decided.note(file, after); err != nil {
		return errors.Join(fmt.Errorf("writing the note of the restore: %w", err), os.Remove(copied))
	}
	if err := decided.finish(file, after); err != nil {
		return fmt.Errorf("the restore is not complete; repeat it, or start the server, which completes it: %w", err)
	}
	return nil
}

// RestoreInterrupted reports whether a restore of the file is decided and not complete.
func RestoreInterrupted(file string) bool {
	_, err := os.Lstat(file + restoreNote)
	return err == nil
}

// FinishRestore completes an interrupted restore of the file, if there is one, and removes the files of a restore that was
// never decided. No process may use the file meanwhile.
func FinishRestore(file string) error { return finishRestore(file, func(string) {}) }

func finishRestore(file string, after func(step string)) error {
	text, err := os.ReadFile(file + restoreNote)
	if errors.Is(err, os.ErrNotExist) {
		return removeFiles(filepath.Dir(file), restoreFiles)
	}
	var decided restoration
	if err == nil {
		err = json.Unmarshal(text, &decided)
	}
	if err == nil && (!isPlainName(decided.Copy) || !isPlainName(decided.Kept)) {
		err = errors.New("it names no files of its folder")
	}
	if err != nil {
		return fmt.Errorf("reading the note of an interrupted restore, %s: %w", file+restoreNote, err)
	}
	if err := decided.finish(file, after); err != nil {
		return fmt.Errorf("completing an interrupted restore: %w", err)
	}
	return removeFiles(filepath.Dir(file), restoreFiles)
}

func isPlainName(name string) bool { return name != "" && name == filepath.Base(name) }

// note decides the restore: from here on it is completed even if it is interrupted.
func (r restoration) note(file string, after func(step string)) error {
	folder := filepath.Dir(file)
	text, err := json.Marshal(r)
	if err != nil {
		return err
	}
	draft, err := durable.Create(folder, restoreFiles, func(draft *os.File) error {
		_, err := draft.Write(text)
		return err
	})
	if err != nil {
		return err
	}
	defer os.Remove(draft)
	if err := durable.SyncFolder(folder); err != nil { // the copy needs its name before the note tells it
		return err
	}
	after("note written")
	return durable.Rename(draft, file+restoreNote)
}

// finish does the remaining steps of the restore. As long as the copy exists it has not become the database, so the files
// with the database's name belong to the old one.
func (r restoration) finish(file string, after func(step string)) error {
	folder := filepath.Dir(file)
	after("decided")
	copied := filepath.Join(folder, r.Copy)
	if _, err := os.Lstat(copied); err == nil {
		if err := moveDatabase(file, filepath.Join(folder, r.Kept), after); err != nil {
			return fmt.Errorf("keeping the old database: %w", err)
		}
		if err := durable.Rename(copied, file); err != nil {
			return err
		}
	} else if !errors.Is(err, os.ErrNotExist) {
		return err
	}
	after("replaced")
	return errors.Join(os.Remove(file+restoreNote), durable.SyncFolder(folder))
}

// moveDatabase renames a SQLite database with the files beside it. Missing files may have been moved before.
func moveDatabase(file, to string, after func(step string)) error {
	for _, suffix := range databaseFiles() {
		if err := move(file+suffix, to+suffix); err != nil {
			return err
		}
		after("moved " + filepath.Base(file) + suffix)
	}
	return durable.SyncFolder(filepath.Dir(file))
}

// renewLevelDates makes the level files of a copy newer than those of the database that it replaces: their readers compare
// dates, and would otherwise keep their levels until the next change of one. A burst of changes can move these dates into
// the future, so the replaced database is asked. It may be missing or damaged.
func renewLevelDates(copied, replaced string) error {
	var newest int64
	_ = withFile(replaced, func(db *sql.DB) error {
		return db.QueryRow(`SELECT coalesce(max(levels_at), 0) FROM accounts`).Scan(&newest)
	}, "mode=ro")
	return withFile(copied, func(db *sql.DB) error {
		var exists bool
		if err := db.QueryRow(`SELECT count(*) FROM pragma_table_info('accounts') WHERE name = 'levels_at'`).Scan(&exists); err != nil || !exists {
			return err // the copy is of an older version
		}
		_, err := db.Exec(`UPDATE accounts SET levels_at = $1`, max(newest+1, time.Now().Unix()))
		return err
	}, "_pragma=journal_mode(MEMORY)") // a journal would be left behind if this is killed
}

// move renames a file, if it exists, to a name that is not in use.
func move(file, to string) error {
	if _, err := os.Lstat(file); errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if _, err := os.Lstat(to); err == nil {
		return fmt.Errorf("there are both %s and %s, as when another program opened the database during the restore: move the former away", file, to)
	}
	return os.Rename(file, to)
}

// copyInto copies a file to a new one in a folder and makes it durable.
func copyInto(folder, from string) (name string, err error) {
	source, err := os.Open(from)
	if err != nil {
		return "", err
	}
	defer source.Close()
	return durable.Create(folder, restoreFiles, func(target *os.File) error {
		_, err := io.Copy(target, source)
		return err
	})
}

// removeFiles removes the files of a folder whose names match.
func removeFiles(folder, pattern string) error {
	names, err := namesIn(folder, pattern)
	for _, name := range names {
		err = errors.Join(err, os.Remove(filepath.Join(folder, name)))
	}
	return err
}

// namesIn returns the names in a folder that match.
func namesIn(folder, pattern string) (names []string, err error) {
	found, err := os.ReadDir(folder)
	for _, each := range found {
		if matches, _ := filepath.Match(pattern, each.Name()); matches {
			names = append(names, each.Name())
		}
	}
	return names, err
}
