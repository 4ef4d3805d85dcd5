package sealed

import (
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
)

// signatureLen is the length of a signature: the id of the key, and 16 bytes of an HMAC.
const signatureLen = len(keyID{}) + 16

// newSigner derives the key of signatures from a key of the ring.
func newSigner(key []byte) ([]byte, error) {
	return hkdf.Key(sha256.New, key, nil, "signalbox signature", keySize)
}

// Sign returns a signature of a text for one purpose, made with the primary key. Every process with this ring makes the
// same signature, and Signed accepts it.
func (r *Ring) Sign(purpose string, text []byte) []byte {
	keys := r.keys.Load()
	return keys.sign(keys.primary(), purpose, text)
}

// Signed reports whether Sign made this signature, with any key of the ring. If the key is unknown, it reads the file
// again: another process may have added it.
func (r *Ring) Signed(purpose string, text, signature []byte) bool {
	if len(signature) != signatureLen {
		return false
	}
	id := keyID(signature[:len(keyID{})])
	if _, err := r.find(id); err != nil {
		return false
	}
	return hmac.Equal(signature, r.keys.Load().sign(id, purpose, text))
}

// sign returns the signature of a text with one key. The length of the purpose separates it from the text.
func (k *keySet) sign(id keyID, purpose string, text []byte) []byte {
	mac := hmac.New(sha256.New, k.signers[id])
	_, _ = mac.Write(binary.AppendUvarint(nil, uint64(len(purpose)))) // a hash takes everything
	_, _ = mac.Write([]byte(purpose))
	_, _ = mac.Write(text)
	return mac.Sum(id[:])[:signatureLen]
}
