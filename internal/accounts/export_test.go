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

// Attempt is attempt, for tests.
type Attempt = attempt

// Admit is attempts.admit.
func (a *Attempts) Admit(address, peer string, now time.Time) (Attempt, error) {
	return a.admit(address, peer, now)
}

// Succeeded is attempts.succeeded.
func (a *Attempts) Succeeded(who Attempt) { a.succeeded(who) }

// Withdraw is attempts.withdraw.
func (a *Attempts) Withdraw(who Attempt) { a.withdraw(who) }

// Occupy takes a turn and returns what ends it.
func (p *Passwords) Occupy(ctx context.Context) func() {
	leave, err := p.enter(ctx)
	if err != nil {
		panic(err)
	}
	return leave
}

// Turns returns how many passwords are worked on at once.
func (p *Passwords) Turns() int { return cap(p.turns) }
