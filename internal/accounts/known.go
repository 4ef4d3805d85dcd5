package accounts

import (
	"cmp"
	"context"
	"encoding/hex"
	"fmt"
	"slices"
	"time"

	"github.com/signalbox/signalbox/internal/fault"
)

// unconfirmed is the access version of a key that was loaded after a restart. No account
// has this version, so the key is looked up at its first use.
const unconfirmed = -1

// KnownKey is the part of a key that a node saves for its next start. The plaintext cannot
// be derived from it.
type KnownKey struct {
	Hash         string     `json:"hash"`
	ID           string     `json:"id"`
	Account      string     `json:"account"`
	Name         string     `json:"name"`
	CreatedBy    string     `json:"created_by"`
	Role         Role       `json:"role"`
	Access       Access     `json:"access"`
	Environments []string   `json:"environments"` // nil does not restrict
	Origins      []string   `json:"origins"`      // nil allows any
	ExpiresAt    *time.Time `json:"expires_at"`
	UsedAt       time.Time  `json:"used_at"`
}

// Known returns at most limit remembered keys that work and were used after since, most
// recently used first. It looks up again every key that may have changed, so the result has
// no key that was revoked before the call.
func (a *Authenticator) Known(ctx context.Context, since time.Time, limit int) ([]KnownKey, error) {
	versions, known := map[string]Versions{}, []KnownKey{}
	for _, seen := range a.usedSince(since) {
		if len(known) == limit {
			break
		}
		account := seen.key.Account
		if _, read := versions[account]; !read {
			current, err := a.Directory.Versions(ctx, account)
			if err != nil && !fault.Is(err, fault.NotFound) {
				return nil, err
			}
			versions[account] = current
		}
		if seen.caller.access != versions[account].Access {
			current, err := a.lookUpAgain(ctx, seen)
			if err != nil {
				return nil, err
			}
			seen = current
		}
		if seen != nil && seen.key.Works(a.Now()) {
			known = append(known, seen.known())
		}
	}
	return known, nil
}

// usedSince returns the keys that were used after since, most recently used first.
func (a *Authenticator) usedSince(since time.Time) []*rememberedKey {
	var found []*rememberedKey
	a.mu.RLock()
	for _, seen := range a.byDigest {
		if seen.noted.Load() >= since.UnixMicro() {
			found = append(found, seen)
		}
	}
	a.mu.RUnlock()
	slices.SortFunc(found, func(a, b *rememberedKey) int { return cmp.Compare(b.noted.Load(), a.noted.Load()) })
	return found
}

// lookUpAgain reads a remembered key again. If the key no longer exists, it forgets the key
// and returns nil.
func (a *Authenticator) lookUpAgain(ctx context.Context, seen *rememberedKey) (*rememberedKey, error) {
	_, generation := a.remembered(seen.digest)
	key, versions, err := a.Directory.KeyByHash(ctx, hex.EncodeToString(seen.digest[:]))
	if fault.Is(err, fault.NotFound) {
		a.forget(seen)
		return nil, nil //nolint:nilnil // no key is a valid result
	}
	if err != nil {
		return nil, err
	}
	current := newRememberedKey(seen.digest, key, versions.Access)
	current.noted.Store(seen.noted.Load())
	return a.remember(current, generation), nil
}

func (r *rememberedKey) known() KnownKey {
	return KnownKey{Hash: hex.EncodeToString(r.digest[:]), ID: r.key.ID, Account: r.key.Account, Name: r.key.Name, CreatedBy: r.key.CreatedBy,
		Role: r.key.Role, Access: r.key.Access, Environments: r.key.Scopes.Environments, Origins: r.key.Scopes.Origins,
		ExpiresAt: r.key.ExpiresAt, UsedAt: time.UnixMicro(r.noted.Load()).UTC()}
}

// Remember adds the keys that Known returned before a restart, for Recall. While the
// database is reachable, each key is looked up at its first use.
func (a *Authenticator) Remember(keys []KnownKey) {
	for _, kept := range keys {
		hash, err := digestOf(kept.Hash)
		if err != nil {
			continue
		}
		key := Key{ID: kept.ID, Account: kept.Account, Hash: kept.Hash, Name: kept.Name, CreatedBy: kept.CreatedBy, Role: kept.Role, Access: kept.Access, Status: Active,
			Scopes: Scopes{Environments: kept.Environments, Origins: kept.Origins}, ExpiresAt: kept.ExpiresAt}
		seen := newRememberedKey(hash, key, unconfirmed)
		seen.noted.Store(kept.UsedAt.UnixMicro())
		_, generation := a.remembered(hash)
		a.remember(seen, generation)
	}
}

// digestOf returns the digest that a stored hash spells.
func digestOf(hash string) (read digest, err error) {
	text, err := hex.DecodeString(hash)
	if err != nil || len(text) != len(read) {
		return digest{}, fmt.Errorf("the hash of a key has %d characters and is not SHA-256 in hex", len(hash))
	}
	return digest(text), nil
}

// Mark returns a number that changes whenever the remembered keys change.
func (a *Authenticator) Mark() uint64 {
	a.mu.RLock()
	defer a.mu.RUnlock()
	return a.generation<<20 + uint64(len(a.byDigest))
}
