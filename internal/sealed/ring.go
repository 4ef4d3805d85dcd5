package sealed

import (
	"crypto/cipher"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/signalbox/signalbox/internal/durable"
)

// Errors to test for with errors.Is.
var (
	ErrCorrupt = errors.New("the sealed value is damaged or was moved here from another place")

	// ErrUnknownKey means that the ring lacks a key. Putting it back makes the value readable again.
	ErrUnknownKey = errors.New("unknown key")

	// ErrInline means that a ring cannot be changed because it has no file.
	ErrInline = errors.New("the key ring was given inline and has no file to change")
)

// inlineAdvice says how to rotate keys that are part of deployment settings.
const inlineAdvice = "make a key with signalbox admin keyring generate; " +
	"add it before the last key and restart every process, then move it to the end and restart every process again"

// Ring is a set of keys. The last key seals. A Ring is safe for concurrent use.
type Ring struct {
	path string // absolute; empty when the keys were given inline

	// mu is held from reading the file until keys is replaced, so that no older version replaces a newer one.
	mu   sync.Mutex
	keys atomic.Pointer[keySet]
}

// Open reads a key ring from the file that source names, or from source itself if it holds keys. A missing file is
// fs.ErrNotExist. No error repeats key material, not even if source is a malformed key.
func Open(source string) (*Ring, error) {
	source = strings.TrimSpace(source)
	if source == "" {
		return nil, errors.New("no key ring was given: name a key ring file, or give the keys themselves")
	}
	if !isInline(source) {
		return OpenFile(source)
	}
	keys, err := parse(source)
	if err != nil {
		return nil, fmt.Errorf("the key ring was read as inline keys, because no file has that name: %w", err)
	}
	ring := &Ring{}
	ring.keys.Store(keys)
	return ring, nil
}

// OpenOrCreate opens a key ring file, or creates it with one new key. Processes that call it at once get the same key.
func OpenOrCreate(path string) (*Ring, error) {
	ring, err := OpenFile(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return ring, err
	}
	if err := createFile(path, appendKey(fileHeader, newKeyID())); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, fmt.Errorf("cannot create the key ring file %s: %w", path, err)
	}
	return OpenFile(path)
}

// OpenFile is Open for a source that is always a path.
func OpenFile(path string) (*Ring, error) {
	absolute, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("find the folder of the key ring file %s: %w", path, err)
	}
	ring := &Ring{path: absolute}
	if err := ring.Reload(); err != nil {
		return nil, err
	}
	return ring, nil
}

// Primary returns the id of the key that seals new values.
func (r *Ring) Primary() string { return r.keys.Load().primary().String() }

// Reload reads the file again if it has changed. If it cannot be read, the old keys stay in use.
func (r *Ring) Reload() error {
	if r.path == "" {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	text, err := readFile(r.path)
	if err != nil {
		return err
	}
	if old := r.keys.Load(); old != nil && old.madeFrom(text) {
		return nil
	}
	keys, err := parse(text)
	if err != nil {
		return fmt.Errorf("key ring file %s: %w", r.path, err)
	}
	// A power cut must not undo a key that seals: another process may just have renamed the file. On a read-only mount
	// this fails, but there no process renames files.
	if target, err := filepath.EvalSymlinks(r.path); err == nil {
		_ = durable.SyncFolder(filepath.Dir(target))
	}
	r.keys.Store(keys)
	return nil
}

// Rotate appends a new primary key to the file and returns its id. An inline ring returns ErrInline.
func (r *Ring) Rotate() (newID string, err error) {
	err = r.change(func(text string, keys *keySet) (string, error) {
		id := keys.freshID()
		newID = id.String()
		return appendKey(text, id), nil
	})
	if err != nil {
		return "", fmt.Errorf("cannot rotate the key ring: %w", err)
	}
	return newID, nil
}

// change replaces the text of the file by the text that edit returns.
func (r *Ring) change(edit func(text string, keys *keySet) (string, error)) error {
	if r.path == "" {
		return fmt.Errorf("%w: %s", ErrInline, inlineAdvice)
	}
	// The lock comes first: waiting for another process must not block Reload.
	file, err := lockFile(r.path, lockTries)
	if err != nil {
		return err
	}
	defer file.Close()
	r.mu.Lock()
	defer r.mu.Unlock()
	text, err := readAll(file.File) // other processes may have changed it
	if err != nil {
		return err
	}
	keys, err := parse(text)
	if err != nil {
		return fmt.Errorf("key ring file %s: %w", r.path, err)
	}
	if text, err = edit(text, keys); err != nil {
		return err
	}
	if keys, err = parse(text); err != nil {
		return fmt.Errorf("the changed key ring would be unreadable, so nothing was written: %w", err)
	}
	if err := file.replace(text); err != nil {
		return err
	}
	r.keys.Store(keys)
	return nil
}

// find returns the key with this id. If the key is unknown it reads the file again: another process may have rotated it.
func (r *Ring) find(id keyID) (cipher.AEAD, error) {
	if key, ok := r.keys.Load().ciphers[id]; ok {
		return key, nil
	}
	reloadErr := r.Reload()
	if key, ok := r.keys.Load().ciphers[id]; ok {
		return key, nil
	}
	source := "the inline key ring"
	if r.path != "" {
		source = "the key ring file " + r.path
	}
	if reloadErr != nil {
		return nil, fmt.Errorf("%w: %s is not in %s, and reading that again failed: %w", ErrUnknownKey, id, source, reloadErr)
	}
	return nil, fmt.Errorf("%w: %s is not in %s", ErrUnknownKey, id, source)
}
