package accounts

import (
	"context"
	"time"
)

// Remembered counts the keys that an Authenticator keeps in memory.
func (a *Authenticator) Remembered() int {
	a.mu.RLock()
	defer a.mu.RUnlock()
	return len(a.byKey)
}

// MaxRemembered bounds it.
const MaxRemembered = maxRemembered

// Attempts is attempts, for tests.
type Attempts struct{ attempts }

// Admitted is admitted, for tests.
type Admitted = admitted

// Admit is attempts.admit.
func (a *Attempts) Admit(address, peer string, now time.Time) (Admitted, error) {
	return a.admit(address, peer, now)
}

// Succeeded is attempts.succeeded.
func (a *Attempts) Succeeded(let Admitted) { a.succeeded(let) }

// Withdraw is attempts.withdraw.
func (a *Attempts) Withdraw(let Admitted) { a.withdraw(let) }

// Remembered counts the people and the places that are remembered.
func (a *Attempts) Remembered() (people, places int) {
	return len(a.failed), a.addresses.Len() + a.networks.Len() + a.sites.Len()
}

// MaxAttemptKeys bounds the people.
const MaxAttemptKeys = maxAttemptKeys

// Occupy takes a turn and returns what ends it.
func (p *Passwords) Occupy(ctx context.Context) func() {
	if err := p.enter(ctx, Sender{}); err != nil {
		panic(err)
	}
	return p.turns.leave
}

// Turns returns how many passwords are worked on at once.
func (p *Passwords) Turns() int { return p.turns.limit }

// Waiting counts those who wait for a turn.
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

// Instead makes passwords be hashed by a function of the test.
func (p *Passwords) Instead(hash func(password string) []byte) {
	p.argon = func(password string, _ []byte, _ PasswordCost) []byte { return hash(password) }
}

// Try verifies a password as signing in does, without a store.
func (s *Service) Try(ctx context.Context, address, peer, password, hash string) error {
	return s.attempt(address, peer, func(from Sender) error { return s.verify(ctx, from, password, hash, errNotSignedIn()) })
}
