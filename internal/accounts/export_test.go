package accounts

// Remembered counts what an Authenticator keeps in memory.
func (a *Authenticator) Remembered() (sessions, uses int) {
	a.mu.RLock()
	defer a.mu.RUnlock()
	return len(a.byKey), len(a.uses)
}

// MaxRemembered bounds it.
const MaxRemembered = maxRemembered
