package accounts

import (
	"context"
	"time"
)

// Remembered counts the keys that an Authenticator has in memory.
func (a *Authenticator) Remembered() int {
	a.mu.RLock()
	defer a.mu.RUnlock()
	return len(a.byKey)
}

// MaxRemembered exports maxRemembered.
const MaxRemembered = maxRemembered

// Attempts exports attempts.
type Attempts struct{ attempts }

// Admitted exports admitted.
type Admitted = admitted

// Admit is attempts.admit.
func (a *Attempts) Admit(address, peer string, now time.Time) (Admitted, error) {
	return a.admit(address, peer, now)
}

// Succeeded is attempts.succeeded.
func (a *Attempts) Succeeded(allowed Admitted) { a.succeeded(allowed) }

// Withdraw is attempts.withdraw.
func (a *Attempts) Withdraw(allowed Admitted) { a.withdraw(allowed) }

// Remembered counts the remembered people, and the remembered addresses and
// networks.
func (a *Attempts) Remembered() (people, places int) {
	return len(a.failed), a.addresses.Len() + a.networks.Len() + a.sites.Len()
}

// MaxAttemptKeys exports maxAttemptKeys.
const MaxAttemptKeys = maxAttemptKeys

// Occupy takes a turn at hashing and returns the function that ends the turn.
func (p *Passwords) Occupy(ctx context.Context) func() {
	if err := p.enter(ctx, Sender{}); err != nil {
		panic(err)
	}
	return p.turns.leave
}

// HashesAtOnce returns how many passwords are hashed at once.
func (p *Passwords) HashesAtOnce() int { return p.turns.limit }

// Waiting counts the senders that wait for a turn.
func (p *Passwords) Waiting() (count int) {
	p.turns.mu.Lock()
	defer p.turns.mu.Unlock()
	for _, line := range p.turns.lines {
		for _, each := range line.waiting {
			count += len(each)
		}
	}
	return count
}

// Instead replaces the function that hashes passwords.
func (p *Passwords) Instead(hash func(password string) []byte) {
	p.argon = func(password string, _ []byte, _ PasswordCost) []byte { return hash(password) }
}

// Try verifies a password as SignIn does, without a store.
func (s *Service) Try(ctx context.Context, address, peer, password, hash string) error {
	return s.attempt(address, peer, func(from Sender) error { return s.verify(ctx, from, password, hash, errNotSignedIn()) })
}
