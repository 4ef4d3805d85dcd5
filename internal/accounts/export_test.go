package accounts

// Remembered counts the keys that an Authenticator keeps in memory.
func (a *Authenticator) Remembered() int {
	a.mu.RLock()
	defer a.mu.RUnlock()
	return len(a.byKey)
}

// MaxRemembered bounds it.
const MaxRemembered = maxRemembered
