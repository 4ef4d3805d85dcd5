package accounts

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"fmt"
	"runtime"
	"strings"
	"time"

	"golang.org/x/crypto/argon2"

	"github.com/signalbox/signalbox/internal/fault"
	"github.com/signalbox/signalbox/internal/naming"
	"github.com/signalbox/signalbox/internal/optional"
)

const (
	minPassword = 10
	maxPassword = 200

	// passwordMemory bounds, in KiB, the memory of all hashing that runs at once on a node.
	passwordMemory = 64 << 10
	// passwordWait is how long a password waits for its turn.
	passwordWait = 2 * time.Second

	saltBytes, hashBytes = 16, 32
)

// PasswordCost is the cost of hashing one password.
type PasswordCost struct {
	Memory uint32 // in KiB
	Passes uint32
}

// DefaultPasswordCost returns the cost that OWASP recommends for argon2id.
func DefaultPasswordCost() PasswordCost { return PasswordCost{Memory: 19 << 10, Passes: 2} }

// Passwords hashes and verifies passwords with argon2id. Hashing takes memory and time on purpose.
// So passwordMemory limits how many passwords are hashed at once, and at least half of the
// processors stay free for other requests. Further passwords wait, and networks take turns. A
// password that has waited for passwordWait is RateLimited.
type Passwords struct {
	cost  PasswordCost
	turns turns
	argon func(password string, salt []byte, cost PasswordCost) []byte // tests count its calls
	// decoy is the hash that is verified for unknown people. No password matches it.
	decoy string
}

// Sender is the origin of a password.
type Sender struct {
	Peer  string // an address, perhaps with a port
	Known bool   // the person signed in from this address before
}

// NewPasswords returns Passwords with a hashing cost.
func NewPasswords(cost PasswordCost) *Passwords {
	random := make([]byte, saltBytes+hashBytes)
	_, _ = rand.Read(random) // never fails; it would end the process instead
	atOnce := min(passwordMemory/int(cost.Memory), runtime.GOMAXPROCS(0)/2)
	return &Passwords{cost: cost, turns: turns{limit: max(1, atOnce)}, argon: argon,
		decoy: hashText(cost, random[:saltBytes], random[saltBytes:])}
}

// Hash returns the hash that is stored instead of the password.
func (p *Passwords) Hash(ctx context.Context, from Sender, password string) (string, error) {
	if err := p.enter(ctx, from); err != nil {
		return "", err
	}
	defer p.turns.leave()
	salt := make([]byte, saltBytes)
	_, _ = rand.Read(salt) // never fails; it would end the process instead
	return hashText(p.cost, salt, p.argon(password, salt, p.cost)), nil
}

// Verify reports whether a password matches a hash. An empty hash matches no password, and
// its verification takes as long as any other.
func (p *Passwords) Verify(ctx context.Context, from Sender, password, hash string) (bool, error) {
	if err := p.enter(ctx, from); err != nil {
		return false, err
	}
	defer p.turns.leave()
	exists := hash != ""
	if !exists {
		hash = p.decoy
	}
	cost, salt, want, err := parseHash(hash)
	if err != nil {
		return false, err
	}
	return subtle.ConstantTimeCompare(p.argon(password, salt, cost), want) == 1 && exists, nil
}

// enter waits for a turn.
func (p *Passwords) enter(ctx context.Context, from Sender) error {
	turn := p.turns.enter(from)
	if turn == nil {
		return nil
	}
	timeout := time.NewTimer(passwordWait)
	defer timeout.Stop()
	select {
	case <-turn:
		return nil
	case <-ctx.Done():
		p.turns.giveUp(from, turn)
		return ctx.Err()
	case <-timeout.C:
		p.turns.giveUp(from, turn)
		refusal := fault.New(fault.RateLimited, "Many people are signing in at this moment. Try again shortly.")
		refusal.RetryAfter = time.Second
		return refusal
	}
}

func argon(password string, salt []byte, cost PasswordCost) []byte {
	return argon2.IDKey([]byte(password), salt, cost.Passes, cost.Memory, 1, hashBytes)
}

// hashFormat is the standard notation of argon2id hashes.
const hashFormat = "$argon2id$v=19$m=%d,t=%d,p=1$"

func hashText(cost PasswordCost, salt, hash []byte) string {
	encode := base64.RawStdEncoding.EncodeToString
	return fmt.Sprintf(hashFormat, cost.Memory, cost.Passes) + encode(salt) + "$" + encode(hash)
}

// parseHash is the inverse of hashText.
func parseHash(text string) (cost PasswordCost, salt, hash []byte, err error) {
	parts := strings.Split(text, "$")
	if len(parts) != 6 {
		return cost, nil, nil, fmt.Errorf("a stored password has %d parts", len(parts))
	}
	if _, err = fmt.Sscanf(text, hashFormat, &cost.Memory, &cost.Passes); err == nil {
		salt, err = base64.RawStdEncoding.DecodeString(parts[4])
	}
	if err == nil {
		hash, err = base64.RawStdEncoding.DecodeString(parts[5])
	}
	if err != nil {
		return cost, nil, nil, fmt.Errorf("reading a stored password: %w", err)
	}
	return cost, salt, hash, nil
}

// checkPassword notes a problem with a new password.
func checkPassword(problems *fault.Problems, password optional.Value[string]) {
	if text, sent := password.Get(); !sent || !naming.Fits(text, minPassword, maxPassword) {
		problems.Attribute("password", "is required and must have %d to %d characters", minPassword, maxPassword)
	}
}
