package accounts

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/signalbox/signalbox/internal/changes"
	"github.com/signalbox/signalbox/internal/fault"
	"github.com/signalbox/signalbox/internal/naming"
	"github.com/signalbox/signalbox/internal/optional"
	"github.com/signalbox/signalbox/internal/page"
)

// KindKey is the JSON:API type of an API key.
const KindKey = "api_key"

// secretPrefix makes a leaked key recognizable as a key of Signalbox.
const secretPrefix = "sk_api_"

// Secret is the plaintext of a key, of a link's token or of a session's cookie.
type Secret struct{ text string }

// NewSecret creates the plaintext of a key: 256 random bits.
func NewSecret() Secret { return Secret{secretPrefix + newToken().text} }

// newToken creates the plaintext of a link or a session: 256 random bits.
func newToken() Secret {
	bits := make([]byte, 32)
	_, _ = rand.Read(bits) // never fails; it would end the process instead
	return Secret{base64.RawURLEncoding.EncodeToString(bits)}
}

// ParseSecret returns the secret of a text that a caller sent or an operator chose.
func ParseSecret(text string) Secret { return Secret{text} }

// Hash returns the hash that is stored instead of the secret.
func (s Secret) Hash() string {
	sum := s.digest()
	return hex.EncodeToString(sum[:])
}

// digest returns the binary hash without allocating memory.
func (s Secret) digest() digest {
	var buffer [128]byte // long enough for a key, so that append does not allocate
	return sha256.Sum256(append(buffer[:0], s.text...))
}

type digest = [sha256.Size]byte

// Status says whether a key works.
type Status string

// The states of a key. A revoked key never works again.
const (
	Active  Status = "ACTIVE"
	Revoked Status = "REVOKED"
)

// Scopes are the restrictions of a key.
type Scopes struct {
	// Environments are the environments whose values the key may write; nil is all.
	Environments []string `json:"environments,omitempty"`
	// Origins are the origins of the web pages that may use an evaluate key; nil is any.
	Origins []string `json:"origins,omitempty"`
}

// maxNamed is how many unknown environments an error names.
const maxNamed = 10

// distinct returns each text once, in the order of first occurrence.
func distinct(texts []string) (once []string) {
	seen := make(map[string]bool)
	for _, text := range texts {
		if !seen[text] {
			seen[text] = true
			once = append(once, text)
		}
	}
	return once
}

// Key is an API key. Only the result of CreateKey and IssueKey has the plaintext.
type Key struct {
	ID         string     `json:"-"`
	Account    string     `json:"-"`
	Hash       string     `json:"-"`
	Plaintext  string     `json:"-"`
	Name       string     `json:"name"`
	Role       Role       `json:"role"`
	Status     Status     `json:"status"`
	Access     Access     `json:"access"`
	Scopes     Scopes     `json:"scopes"`
	ExpiresAt  *time.Time `json:"expires_at"`
	LastUsedAt *time.Time `json:"last_used_at"`
	CreatedBy  string     `json:"created_by"`
	CreatedAt  time.Time  `json:"created_at"`
	UpdatedAt  time.Time  `json:"updated_at"`
}

// Works reports whether the key may be used at the time now.
func (k Key) Works(now time.Time) bool {
	return k.Status == Active && (k.ExpiresAt == nil || now.Before(*k.ExpiresAt))
}

// Caller returns the key as the rest of the domain sees it.
func (k Key) Caller() Caller {
	return Caller{Account: k.Account, KeyID: k.ID, KeyName: k.Name, UserID: k.CreatedBy,
		Role: k.Role, Access: k.Access, Environments: k.Scopes.Environments, Origins: k.Scopes.Origins, ExpiresAt: k.ExpiresAt, KeyExpiresAt: k.ExpiresAt}
}

// KeyFilter narrows a list of keys.
type KeyFilter struct {
	Search string // a part of the name or the id
}

// KeyDraft is the state of a key that a caller asks for. If a replace omits a member that
// grants rights (role, access, scopes, expires_at), that member keeps its value. So a
// client that does not know scopes cannot remove them by renaming a key.
type KeyDraft struct {
	Name      optional.Value[string]
	Role      optional.Value[string]
	Access    optional.Value[string]
	Scopes    optional.Value[Scopes]
	ExpiresAt optional.Value[time.Time]
	// Problems are the problems found while reading the input.
	Problems fault.Problems
}

// CreateKey creates a key for the caller's user, with at most the caller's role. Only the
// result has the plaintext. It requires ADMIN or OWNER.
func (s *Service) CreateKey(ctx context.Context, caller Caller, draft KeyDraft) (Key, error) {
	return Write(ctx, s.Store, caller, func(ctx context.Context, tx Tx, caller Caller) (Key, error) {
		return IssueKey(ctx, tx, caller, caller.Actor(), draft)
	})
}

// IssueKey creates a key with the rights of caller. The history names actor.
func IssueKey(ctx context.Context, tx Tx, caller Caller, actor changes.Actor, draft KeyDraft) (Key, error) {
	secret := NewSecret()
	key, err := draft.apply(ctx, tx, caller, Key{
		ID: newID(), Account: caller.Account, Role: Member, Status: Active, Access: FullAccess, CreatedBy: caller.UserID,
		CreatedAt: tx.Now(), Plaintext: secret.text, Hash: secret.Hash(),
	})
	if err != nil {
		return Key{}, err
	}
	return key, insertKey(ctx, tx, actor, key)
}

func insertKey(ctx context.Context, tx FoundingTx, actor changes.Actor, key Key) error {
	if err := tx.InsertKey(ctx, key); err != nil {
		return err
	}
	return changes.Record(ctx, tx, key.Account, actor, KindKey, key.ID, nil, &key)
}

// Key returns one key of the caller's account.
func (s *Service) Key(ctx context.Context, caller Caller, id string) (Key, error) {
	if id == "current" {
		id = caller.KeyID
	}
	return Get(ctx, s.Store, caller, ReadTx.Key, id)
}

// Keys lists the keys of the caller's account.
func (s *Service) Keys(ctx context.Context, caller Caller, filter KeyFilter, request page.Request) (page.List[Key], error) {
	return List(ctx, s.Store, caller, ReadTx.Keys, filter, request)
}

// ReplaceKey renames a key, or changes its role, scopes or expiry. It requires ADMIN or
// OWNER; only an OWNER changes an OWNER's key.
func (s *Service) ReplaceKey(ctx context.Context, caller Caller, id string, draft KeyDraft, match changes.Match[Key]) (Key, error) {
	return Write(ctx, s.Store, caller, func(ctx context.Context, tx Tx, caller Caller) (Key, error) {
		return changes.Replace(ctx, tx, keyTarget(ctx, tx, caller, id, match),
			func(before Key) (Key, error) { return draft.apply(ctx, tx, caller, before) },
			func(_, after Key) error { return tx.UpdateKey(ctx, after) })
	})
}

// RevokeKey makes a key stop working forever. Revoking it again changes nothing. It
// requires ADMIN or OWNER; only an OWNER revokes an OWNER's key.
func (s *Service) RevokeKey(ctx context.Context, caller Caller, id string) (Key, error) {
	return Write(ctx, s.Store, caller, func(ctx context.Context, tx Tx, caller Caller) (Key, error) {
		key, err := keyTarget(ctx, tx, caller, id, nil).Load()
		if err != nil {
			return Key{}, err
		}
		return Revoke(ctx, tx, caller.Actor(), key)
	})
}

// Revoke revokes a key on behalf of an actor.
func Revoke(ctx context.Context, tx Tx, actor changes.Actor, before Key) (Key, error) {
	if before.Status == Revoked {
		return before, nil
	}
	after := before
	after.Status, after.UpdatedAt = Revoked, tx.Now()
	if err := tx.UpdateKey(ctx, after); err != nil {
		return Key{}, err
	}
	return after, changes.RecordAs(ctx, tx, after.Account, actor, changes.Revoked, KindKey, after.ID, &before, &after)
}

// DeleteKey deletes a key, which stops working. It requires ADMIN or OWNER; only an OWNER
// deletes an OWNER's key.
func (s *Service) DeleteKey(ctx context.Context, caller Caller, id string, match changes.Match[Key]) error {
	return Do(ctx, s.Store, caller, func(ctx context.Context, tx Tx, caller Caller) error {
		return changes.Delete(ctx, tx, keyTarget(ctx, tx, caller, id, match), func(Key) error {
			return tx.DeleteKey(ctx, caller.Account, id)
		})
	})
}

// keyTarget describes the write of a key. Its Load refuses callers who may not
// change the key.
func keyTarget(ctx context.Context, tx Tx, caller Caller, id string, match changes.Match[Key]) changes.Target[Key] {
	return Target(ctx, caller, KindKey, id, match, func(ctx context.Context, account, id string) (Key, error) {
		key, err := tx.Key(ctx, account, id)
		if err == nil && !caller.Role.Covers(key.Role) {
			err = fault.New(fault.Forbidden, "Changing a key with the role %s needs that role; %s.", key.Role, caller.has())
		}
		return key, err
	})
}

// apply returns the key with the members of the draft, or says why it is not allowed.
func (d KeyDraft) apply(ctx context.Context, tx Tx, caller Caller, key Key) (Key, error) {
	problems, before := d.Problems, key
	naming.RequireName(&problems, d.Name, maxName)
	role := parseRole(&problems, d.Role, key.Role)
	key.Access = d.access(&problems, key.Access)
	if scopes := d.Scopes.Or(Scopes{}); !d.Scopes.IsAbsent() {
		key.Scopes = Scopes{Environments: distinct(scopes.Environments), Origins: canonicalOrigins(&problems, scopes.Origins)}
	}
	checkAccess(&problems, key.Access, key.Scopes)
	if err := d.checkScopes(ctx, tx, caller, &problems); err != nil {
		return Key{}, err
	}
	if at, sent := d.ExpiresAt.Get(); sent && !at.After(tx.Now()) {
		problems.Attribute("expires_at", "must be in the future")
	}
	if !d.ExpiresAt.IsAbsent() {
		key.ExpiresAt = d.ExpiresAt.Pointer()
	}
	key.Role = role
	caller.checkEnd(&problems, before, key)
	if err := problems.Err(); err != nil {
		return Key{}, err
	}
	if !caller.Role.Covers(role) {
		return Key{}, fault.New(fault.Forbidden, "Giving the role %s to a key needs that role; %s.", role, caller.has()).
			At(fault.Attribute("role"))
	}
	key.Name, key.UpdatedAt = d.Name.Or(""), tx.Now()
	return key, nil
}

// requireLasting refuses a caller whose key expires. People whom the key invites,
// promotes or gives a password would keep their access after its expiry.
func (c Caller) requireLasting() error {
	if c.KeyExpiresAt == nil {
		return nil
	}
	return fault.New(fault.Forbidden,
		"A key that expires cannot give people access, which would outlast the key's end at %s. Use a key without expires_at, or sign in.",
		c.KeyExpiresAt.UTC().Format(time.RFC3339))
}

// checkEnd notes a problem if a key would expire later than the caller's own key. Changes
// that grant nothing, such as a new name, are always allowed.
func (c Caller) checkEnd(problems *fault.Problems, before, after Key) {
	end := c.KeyExpiresAt
	switch {
	case end == nil:
	case after.ID == c.KeyID && !sameTime(before.ExpiresAt, after.ExpiresAt):
		problems.Attribute("expires_at", "must stay as it is: a key that expires cannot change its own expires_at")
	case after.ID != c.KeyID && !after.grantsSame(before) && (after.ExpiresAt == nil || after.ExpiresAt.After(*end)):
		problems.Attribute("expires_at", "must be at most %s, when the key of this request expires", end.UTC().Format(time.RFC3339Nano))
	}
}

// grantsSame reports whether a key grants the same rights as before. It is false for a
// new key, for which before.UpdatedAt is zero.
func (k Key) grantsSame(before Key) bool {
	return !before.UpdatedAt.IsZero() && k.Role == before.Role && k.Access == before.Access && sameTime(k.ExpiresAt, before.ExpiresAt) &&
		slices.Equal(k.Scopes.Environments, before.Scopes.Environments) && slices.Equal(k.Scopes.Origins, before.Scopes.Origins)
}

func sameTime(a, b *time.Time) bool { return a == b || a != nil && b != nil && a.Equal(*b) }

// checkScopes notes a problem for environments that do not exist. It also notes a problem
// for an empty list, which is ambiguous: it could mean none or all.
func (d KeyDraft) checkScopes(ctx context.Context, tx Tx, caller Caller, problems *fault.Problems) error {
	scopes, sent := d.Scopes.Get()
	if !sent || scopes.Environments == nil {
		return nil
	}
	if len(scopes.Environments) == 0 {
		problems.Attribute("scopes/environments", "must name at least one environment; leave it out for a key without restriction")
		return nil
	}
	known, err := tx.ManagedEnvironments(ctx, caller.Account)
	if err != nil {
		return err
	}
	unknown := slices.DeleteFunc(slices.Clone(scopes.Environments), func(key string) bool { _, exists := known[key]; return exists })
	if len(unknown) > 0 {
		problems.Add(fault.New(fault.Validation, "scopes/environments must name environments of this account; these do not exist: %s.%s",
			strings.Join(unknown[:min(len(unknown), maxNamed)], ", "), naming.DidYouMean(unknown[0], slices.Sorted(maps.Keys(known)))).At(fault.Attribute("scopes/environments")))
	}
	return nil
}
