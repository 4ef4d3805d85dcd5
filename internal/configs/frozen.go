package configs

import (
	"github.com/signalbox/signalbox/internal/accounts"
	"github.com/signalbox/signalbox/internal/overrides"
	"github.com/signalbox/signalbox/internal/rawjson"
)

// repeats tells whether a write says nothing but what is stored.
func repeats(stored, wanted Overrides) bool {
	for key, value := range wanted {
		if was, has := stored[key]; !has || !rawjson.Same(was, value) {
			return false
		}
	}
	return true
}

// checkScope refuses a key that is restricted to environments and would change
// anything else.
func checkScope(caller accounts.Caller, before, after Config) error {
	if caller.Environments == nil {
		return nil
	}
	if !sameBase(before, after) {
		return caller.RequireUnscoped()
	}
	for _, environment := range overrides.Changed(before.Environments, after.Environments, sameOverrides) {
		if err := caller.RequireEnvironment(environment); err != nil {
			return err
		}
	}
	return nil
}
