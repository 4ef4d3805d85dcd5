package sealed

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

const (
	keySize    = 32 // AES-256
	fileHeader = "# Signalbox key ring. The last key seals new values, the others open older ones.\n" +
		"# Keep a copy apart from the database: without these keys, sealed values are lost.\n"
)

// keyID identifies a key. It is random, reveals nothing about the key, and is not secret.
type keyID [4]byte

func (id keyID) String() string { return hex.EncodeToString(id[:]) }

func newKeyID() keyID {
	var id keyID
	rand.Read(id[:]) // never fails; the runtime would stop the program instead
	return id
}

func parseKeyID(text string) (keyID, bool) {
	raw, err := hex.DecodeString(text)
	// Only one spelling is allowed, so that equal ids are equal texts.
	if err != nil || len(raw) != len(keyID{}) || strings.ToLower(text) != text {
		return keyID{}, false
	}
	return keyID(raw), true
}

// keySet is a parsed ring. It is immutable.
type keySet struct {
	order   []keyID // oldest first, never empty
	ciphers map[keyID]cipher.AEAD
	signers map[keyID][]byte  // for signatures, derived from the keys
	sum     [sha256.Size]byte // of the text, to detect a change without keeping the text
}

func (k *keySet) primary() keyID { return k.order[len(k.order)-1] }

func (k *keySet) madeFrom(text string) bool { return k.sum == sha256.Sum256([]byte(text)) }

func (k *keySet) freshID() keyID {
	for {
		id := newKeyID()
		if _, taken := k.ciphers[id]; !taken {
			return id
		}
	}
}

func (k *keySet) add(entry string) error {
	id, key, err := parseKey(entry)
	if err != nil {
		return err
	}
	if _, taken := k.ciphers[id]; taken {
		return fmt.Errorf("the key id %s is used twice", id)
	}
	if k.ciphers[id], err = newCipher(key); err != nil {
		return err
	}
	if k.signers[id], err = newSigner(key); err != nil {
		return err
	}
	k.order = append(k.order, id)
	return nil
}

func newCipher(key []byte) (cipher.AEAD, error) {
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	return cipher.NewGCMWithRandomNonce(block) // creates the nonces itself, so no caller can repeat one
}

// parse parses the text of a ring. Its errors name lines but never quote the content, which may be a key.
func parse(text string) (*keySet, error) {
	keys := &keySet{ciphers: map[keyID]cipher.AEAD{}, signers: map[keyID][]byte{}, sum: sha256.Sum256([]byte(text))}
	for i, entry := range entries(text) {
		if entry == "" || strings.HasPrefix(entry, "#") {
			continue
		}
		if err := keys.add(entry); err != nil {
			return nil, fmt.Errorf("line %d: %w", i+1, err)
		}
	}
	if len(keys.order) == 0 {
		return nil, errors.New("there is no key in it")
	}
	return keys, nil
}

// entries splits the text into keys, comments and empty lines.
func entries(text string) []string {
	var all []string
	for line := range strings.SplitSeq(text, "\n") {
		all = append(all, lineEntries(line)...)
	}
	return all
}

// lineEntries splits a line at ';' and ',', but not inside a comment.
func lineEntries(line string) []string {
	var all []string
	for {
		line = strings.TrimSpace(line)
		end := strings.IndexAny(line, ";,")
		if end < 0 || strings.HasPrefix(line, "#") {
			return append(all, line)
		}
		all = append(all, strings.TrimSpace(line[:end]))
		line = line[end+1:]
	}
}

func parseKey(entry string) (keyID, []byte, error) {
	fields := strings.Fields(entry)
	if len(fields) != 2 {
		return keyID{}, nil, fmt.Errorf("expected a key id, a space and a base64 key, found %d words", len(fields))
	}
	id, ok := parseKeyID(fields[0])
	if !ok {
		return keyID{}, nil, errors.New("the first word must be a key id of 8 lower-case hex digits")
	}
	key, err := base64.StdEncoding.Strict().DecodeString(fields[1])
	if err != nil {
		return keyID{}, nil, fmt.Errorf("key %s is not base64 (the standard alphabet, padded with '=')", id)
	}
	if len(key) != keySize {
		return keyID{}, nil, fmt.Errorf("key %s is %d bytes long, it must be %d", id, len(key), keySize)
	}
	return id, key, nil
}

// appendKey adds a new random key with this id at the end of the text.
func appendKey(text string, id keyID) string {
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	var key [keySize]byte
	rand.Read(key[:]) // never fails; the runtime would stop the program instead
	return text + id.String() + " " + base64.StdEncoding.EncodeToString(key[:]) + "\n"
}

// isInline reports whether a source contains keys and is not a path. If no such file exists, a text that could be a key
// counts as a key. Otherwise the error about a missing file would repeat it, and a key must not get into a log.
func isInline(source string) bool {
	if _, err := os.Stat(source); err == nil {
		return false
	}
	words := strings.FieldsFunc(source, func(r rune) bool { return strings.ContainsRune(" \t\r\n;,:", r) })
	if strings.Contains(source, "\n") || slices.ContainsFunc(words, looksSecret) {
		return true
	}
	return !looksLikePath(source) && (len(words) > 1 || source[0] == '#')
}

func looksLikePath(source string) bool {
	return filepath.IsAbs(source) || strings.HasPrefix(source, ".")
}

// looksSecret reports whether a word could be a key: in base64, which may start with '/', or in hex.
func looksSecret(word string) bool {
	const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
	if strings.HasSuffix(word, "=") {
		return true
	}
	encoded := onlyFrom(word, letters+"+/") || onlyFrom(word, letters+"-_")
	return encoded && (len(word) == 43 || len(word) >= 32 && !looksLikePath(word))
}

func onlyFrom(word, alphabet string) bool { return strings.Trim(word, alphabet) == "" }
