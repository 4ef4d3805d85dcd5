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
)

// The reasons a caller may want to tell apart; test for them with errors.Is.
var (
	// ErrCorrupt means that a sealed value is damaged, or sits in another place
	// than the one it was sealed for. No key will ever open it there.
	ErrCorrupt = errors.New("the sealed value is damaged or was moved here from another place")

	// ErrUnknownKey means that the ring lacks a key. It is kept apart from
	// ErrCorrupt because putting the key back makes the value readable again.
	ErrUnknownKey = errors.New("unknown key")

	// ErrPrimary means that a key cannot be retired because it seals new values.
	ErrPrimary = errors.New("the primary key seals new values")

	// ErrInline means that a ring cannot be changed because it has no file.
	ErrInline = errors.New("the key ring was given inline and has no file to change")
)

// inlineAdvice tells how to rotate keys that live in somebody's deployment settings.
const inlineAdvice = `make a key with: echo "$(openssl rand -hex 4) $(openssl rand -base64 32)"; ` +
	`add it before the last key and restart every process, then move it to the end and restart every process again`

// Ring is a set of keys, of which the last one seals. It is safe for concurrent
// use. Make one with Open, Create or OpenOrCreate.
type Ring struct {
	path string // absolute; empty when the keys were given inline

	// mu is held from reading the file until keys is replaced, so that an older
	// reading never overtakes a newer one. Sealing and unsealing do not take it.
	mu   sync.Mutex
	keys atomic.Pointer[keySet]
}

// Open reads a key ring. The source is the path of a key ring file, or the keys
// themselves in the same text format. A missing file is fs.ErrNotExist. No error
// repeats key material, not even when the source is a key in the wrong form.
func Open(source string) (*Ring, error) {
	source = strings.TrimSpace(source)
	switch {
	case source == "":
		return nil, errors.New("no key ring was given: name a key ring file, or give the keys themselves")
	case isInline(source):
		return openInline(source)
	default:
		return OpenFile(source)
	}
}

// Create makes a key ring file with one new key and opens it. When the file
// exists already, perhaps because another process was faster, that one is opened
// and left as it is.
func Create(path string) (*Ring, error) {
	err := createFile(path, appendKey(fileHeader, newKeyID()))
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, fmt.Errorf("cannot create the key ring file %s: %w", path, err)
	}
	return OpenFile(path)
}

// OpenOrCreate opens the key ring file at path and creates it when it is
// missing. Any number of processes may do this at once: all get the same key.
func OpenOrCreate(path string) (*Ring, error) {
	ring, err := OpenFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return Create(path)
	}
	return ring, err
}

func openInline(text string) (*Ring, error) {
	keys, err := parse(text)
	if err != nil {
		return nil, fmt.Errorf("the key ring was read as inline keys, because no file has that name: %w", err)
	}
	ring := &Ring{}
	ring.keys.Store(keys)
	return ring, nil
}

// OpenFile reads a key ring file. Unlike Open it never takes the path for keys.
// A missing file is fs.ErrNotExist.
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

// Keys returns the ids of all keys, oldest first. The last one is the primary.
func (r *Ring) Keys() []string {
	keys := r.keys.Load()
	ids := make([]string, len(keys.order))
	for i, id := range keys.order {
		ids[i] = id.String()
	}
	return ids
}

// Primary returns the id of the key that seals new values.
func (r *Ring) Primary() string {
	return r.keys.Load().primary().String()
}

// Reload reads the file again and takes over its keys if the text has changed.
// When the file cannot be read or is malformed, the keys known so far stay in
// use and the error says what is wrong. An inline ring has nothing to reload.
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
	return r.adopt(text)
}

// adopt takes over the keys in text. The caller holds mu.
func (r *Ring) adopt(text string) error {
	if old := r.keys.Load(); old != nil && old.madeFrom(text) {
		return nil
	}
	keys, err := parse(text)
	if err != nil {
		return fmt.Errorf("key ring file %s: %w", r.path, err)
	}
	// Another process may have renamed the file into place a moment ago. Nothing
	// may be sealed with a key whose file a power cut could still take back. On a
	// read-only mount this fails, and there nobody has renamed anything.
	_ = syncFolder(r.path)
	r.keys.Store(keys)
	return nil
}

// Rotate appends a new primary key to the file and returns its id. Rotations by
// other processes wait for each other. An inline ring returns ErrInline.
func (r *Ring) Rotate() (newID string, err error) {
	var id keyID
	err = r.edit(func(text string, keys *keySet) (string, error) {
		id = keys.freshID()
		return appendKey(text, id), nil
	})
	if err != nil {
		return "", fmt.Errorf("cannot rotate the key ring: %w", err)
	}
	return id.String(), nil
}

// Retire removes a key from the file. Values still sealed with it are lost, so
// first make sure that there are none; the package comment says how. It returns
// ErrPrimary for the primary, ErrUnknownKey for an id that is not in the file,
// and ErrInline for an inline ring.
func (r *Ring) Retire(id string) error {
	err := r.edit(func(text string, keys *keySet) (string, error) {
		key, err := keys.retirable(id)
		if err != nil {
			return "", err
		}
		return removeKey(text, key), nil
	})
	if err != nil {
		return fmt.Errorf("cannot retire a key: %w", err)
	}
	return nil
}

// edit changes the file under its lock. The change starts from what the file
// says now, not from what this ring remembers: others may have changed it since.
func (r *Ring) edit(change func(text string, keys *keySet) (string, error)) error {
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
	return r.rewrite(file, change)
}

// rewrite does the work of edit. The caller holds the lock on file, and mu.
func (r *Ring) rewrite(file *lockedFile, change func(string, *keySet) (string, error)) error {
	text, err := file.read()
	if err != nil {
		return err
	}
	keys, err := parse(text)
	if err != nil {
		return fmt.Errorf("key ring file %s: %w", r.path, err)
	}
	if text, err = change(text, keys); err != nil {
		return fmt.Errorf("key ring file %s: %w", r.path, err)
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

// find returns the key with this id. The file is read again for an unknown id,
// because another process may have rotated the ring since.
func (r *Ring) find(id keyID) (cipher.AEAD, error) {
	if key, ok := r.keys.Load().ciphers[id]; ok {
		return key, nil
	}
	reloadErr := r.Reload()
	if key, ok := r.keys.Load().ciphers[id]; ok {
		return key, nil
	}
	if reloadErr != nil {
		return nil, fmt.Errorf("%w: %s is not in %s, and reading that again failed: %w", ErrUnknownKey, id, r.source(), reloadErr)
	}
	return nil, fmt.Errorf("%w: %s is not in %s", ErrUnknownKey, id, r.source())
}

// source names where the keys come from and never what they are.
func (r *Ring) source() string {
	if r.path == "" {
		return "the inline key ring"
	}
	return "the key ring file " + r.path
}
