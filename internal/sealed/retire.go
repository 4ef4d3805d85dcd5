package sealed

import (
	"fmt"
	"slices"
	"strings"
)

// Generate returns a new key as a line of a key ring, for rings that are part of deployment settings.
func Generate() string { return strings.TrimSpace(appendKey("", newKeyID())) }

// IDs returns the ids of all keys, oldest first. The last is the primary.
func (r *Ring) IDs() []string {
	keys := r.keys.Load()
	ids := make([]string, len(keys.order))
	for i, id := range keys.order {
		ids[i] = id.String()
	}
	return ids
}

// Retire removes a key from the file. Values sealed with the key can then no longer be opened, not even from a backup. The
// primary key cannot be removed. An inline ring returns ErrInline.
func (r *Ring) Retire(id string) error {
	if id == r.Primary() {
		return fmt.Errorf("the key %s seals new values; rotate the ring first", id)
	}
	err := r.change(func(text string, keys *keySet) (string, error) {
		if parsed, ok := parseKeyID(id); !ok || keys.ciphers[parsed] == nil {
			return "", fmt.Errorf("%w: %s", ErrUnknownKey, id)
		}
		return removeKey(text, id), nil
	})
	if err != nil {
		return fmt.Errorf("cannot retire a key: %w", err)
	}
	return nil
}

// removeKey returns the text of a ring without a key. Comments and all other keys stay.
func removeKey(text, id string) string {
	var kept []string
	for line := range strings.Lines(text) {
		entries := slices.DeleteFunc(lineEntries(line), func(entry string) bool { return strings.HasPrefix(entry, id+" ") })
		if len(entries) > 0 {
			kept = append(kept, strings.Join(entries, ";"))
		}
	}
	return strings.Join(kept, "\n") + "\n"
}
