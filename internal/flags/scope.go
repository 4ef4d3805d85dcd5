package flags

import (
	"slices"

	"github.com/signalbox/signalbox/internal/accounts"
	"github.com/signalbox/signalbox/internal/overrides"
	"github.com/signalbox/signalbox/internal/rawjson"
)

func sameEnvironment(a, b Environment) bool {
	return a.Enabled == b.Enabled && rawjson.Same(a.Default, b.Default) &&
		slices.EqualFunc(a.Rules, b.Rules, func(a, b Rule) bool {
			return a.Description == b.Description && rawjson.Same(a.Logic, b.Logic) && rawjson.Same(a.Value, b.Value)
		})
}

// checkScope refuses a change outside the environments that the caller's key is
// restricted to.
func checkScope(caller accounts.Caller, before, after Flag) error {
	if caller.Environments == nil {
		return nil
	}
	if before.Managed != after.Managed || !sameBase(before, after) {
		return caller.RequireUnscoped()
	}
	return caller.RequireEnvironments(overrides.Changed(before.Environments, after.Environments, sameEnvironment)...)
}

// sameBase reports whether two flags agree in all but managed and environments.
func sameBase(a, b Flag) bool {
	return a.Name == b.Name && a.Type == b.Type && rawjson.Same(a.Default, b.Default) &&
		(a.Description == nil) == (b.Description == nil) && (a.Description == nil || *a.Description == *b.Description) &&
		slices.EqualFunc(a.Values, b.Values, func(a, b Choice) bool { return a.Name == b.Name && rawjson.Same(a.Value, b.Value) })
}
