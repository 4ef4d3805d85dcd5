package sealed

import (
	"encoding/binary"
	"fmt"
	"slices"
)

// These constants describe the layout of a sealed value; see the package comment.
const (
	version   = 1
	prefixLen = 1 + len(keyID{})
	nonceLen  = 12
	tagLen    = 16
	overhead  = prefixLen + nonceLen + tagLen
)

// Place is where a sealed value is stored. The value can be opened only for this place.
type Place struct{ Table, Column, Row string }

// String returns table:column:row, for messages.
func (p Place) String() string { return p.Table + ":" + p.Column + ":" + p.Row }

// check refuses an incomplete place. Without a row, values could be swapped between rows unnoticed.
func (p Place) check() error {
	if p.Table == "" || p.Column == "" || p.Row == "" {
		return fmt.Errorf("the place %q needs a table, a column and a row", p.String())
	}
	return nil
}

// bind returns the additional data of a value. Each part has its length, so that different places have different bytes.
func (p Place) bind(prefix []byte) []byte {
	data := slices.Clone(prefix)
	for _, part := range []string{p.Table, p.Column, p.Row} {
		data = binary.AppendUvarint(data, uint64(len(part)))
		data = append(data, part...)
	}
	return data
}

// Seal encrypts a text for one place with the primary key. It fails only if the place is incomplete.
func (r *Ring) Seal(place Place, plaintext []byte) ([]byte, error) {
	if err := place.check(); err != nil {
		return nil, fmt.Errorf("cannot seal a value: %w", err)
	}
	keys := r.keys.Load()
	id := keys.primary()
	prefix := id.prefix()
	sealed := slices.Grow(slices.Clone(prefix), overhead-prefixLen+len(plaintext))
	return keys.ciphers[id].Seal(sealed, nil, plaintext, place.bind(prefix)), nil
}

// Unseal decrypts a value that was sealed for this place. It returns ErrCorrupt if the value is damaged or belongs to
// another place, and ErrUnknownKey if the ring does not have the key.
func (r *Ring) Unseal(place Place, sealed []byte) ([]byte, error) {
	if err := place.check(); err != nil {
		return nil, fmt.Errorf("cannot unseal a value: %w", err)
	}
	id, err := keyOf(sealed)
	if err != nil {
		return nil, fmt.Errorf("cannot unseal %s: %w", place, err)
	}
	key, err := r.find(id)
	if err != nil {
		return nil, fmt.Errorf("cannot unseal %s: %w", place, err)
	}
	prefix, body := sealed[:prefixLen], sealed[prefixLen:]
	plaintext, err := key.Open(make([]byte, 0, len(sealed)-overhead), nil, body, place.bind(prefix))
	if err != nil {
		return nil, fmt.Errorf("cannot unseal %s with key %s: %w", place, id, ErrCorrupt)
	}
	return plaintext, nil
}

// KeyPrefix returns the first bytes of all values sealed with a key, for SQL that finds them; nil if id is not valid.
func KeyPrefix(id string) []byte {
	key, ok := parseKeyID(id)
	if !ok {
		return nil
	}
	return key.prefix()
}

func (id keyID) prefix() []byte { return append([]byte{version}, id[:]...) }

func keyOf(sealed []byte) (keyID, error) {
	if len(sealed) < overhead {
		return keyID{}, fmt.Errorf("%w: it is %d bytes long and must have at least %d", ErrCorrupt, len(sealed), overhead)
	}
	if sealed[0] != version {
		return keyID{}, fmt.Errorf("%w: it has format version %d, this program knows only %d", ErrCorrupt, sealed[0], version)
	}
	return keyID(sealed[1:prefixLen]), nil
}
