package configs

import (
	"github.com/signalbox/signalbox/internal/accounts"
	"github.com/signalbox/signalbox/internal/overrides"
)

// repeats tells whether a write says nothing but what is stored.
func (b *budget) repeats(stored, wanted Overrides) bool {
	for key, value := range wanted {
		if was, has := stored[key]; !has || !b.same(was, value) {
			return false
		}
	}
	return true
}

// checkScope refuses a key that is restricted to environments and would change
// anything else.
func checkScope(caller accounts.Caller, before, after Config, work *budget) error {
	if caller.Environments == nil {
		return nil
	}
	same := work.sameBase(before, after)
	changed := overrides.Changed(before.Environments, after.Environments, work.sameOverrides)
	if work.spent() {
		return nil // and the write is refused for its work
	}
	if !same {
		return caller.RequireUnscoped()
	}
	for _, environment := range changed {
		if err := caller.RequireEnvironment(environment); err != nil {
			return err
		}
	}
	return nil
}
