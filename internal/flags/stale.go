package flags

import (
	"bytes"
	"encoding/json"
	"time"

	"github.com/signalbox/signalbox/internal/accounts"
	"github.com/signalbox/signalbox/internal/rawjson"
)

// StaleReason says why a flag is stale.
type StaleReason string

// The reasons, the one that matters most first.
const (
	// NotDeclared: no service declared or evaluated the flag since StaleRule.IdleSince, so no code seems to
	// use it.
	NotDeclared StaleReason = "not_declared"
	// NotEvaluated: services declare the flag, but none evaluated it since StaleRule.IdleSince.
	NotEvaluated StaleReason = "not_evaluated"
	// OneValue: the flag serves the same value in every environment and was not changed since
	// StaleRule.UnchangedSince.
	OneValue StaleReason = "one_value"
)

// Stale says since when a flag is stale, and why.
type Stale struct {
	Since  time.Time   `json:"since"`
	Reason StaleReason `json:"reason"`
}

// StaleRule decides which flags are stale. A discovered flag never is: Signalbox serves nothing for it.
type StaleRule struct {
	// IdleSince and UnchangedSince are the instants before which the last use and the last change of a flag make it stale.
	IdleSince, UnchangedSince time.Time
	// Managed are the managed environments.
	Managed []string
}

const day = 24 * time.Hour

// NewStaleRule returns the rule of an account at an instant. environments says which are managed.
func NewStaleRule(days accounts.StaleFlags, environments map[string]bool, now time.Time) StaleRule {
	rule := StaleRule{
		IdleSince:      now.Add(-time.Duration(days.UnevaluatedDays) * day),
		UnchangedSince: now.Add(-time.Duration(days.UnchangedDays) * day),
	}
	for key, managed := range environments {
		if managed {
			rule.Managed = append(rule.Managed, key)
		}
	}
	return rule
}

// Of returns why a flag is stale, or nil if it is not.
func (r StaleRule) Of(flag Flag) *Stale {
	if !flag.Managed {
		return nil
	}
	evaluated := latest(flag.CreatedAt, flag.LastEvaluated)
	used := latest(evaluated, flag.LastSeen)
	switch {
	case used.Before(r.IdleSince):
		return &Stale{used, NotDeclared}
	case evaluated.Before(r.IdleSince):
		return &Stale{evaluated, NotEvaluated}
	case flag.UpdatedAt.Before(r.UnchangedSince) && r.servesOneValue(flag):
		return &Stale{flag.UpdatedAt, OneValue}
	}
	return nil
}

func latest(at time.Time, observed *time.Time) time.Time {
	if observed != nil && observed.After(at) {
		return *observed
	}
	return at
}

// servesOneValue reports whether a flag serves the same value in every managed environment, whatever its rules decide.
func (r StaleRule) servesOneValue(flag Flag) bool {
	var served json.RawMessage
	same := func(value json.RawMessage) bool {
		if served == nil {
			served = value
		}
		return bytes.Equal(served, value) || rawjson.Same(served, value)
	}
	for _, key := range r.Managed {
		environment, configured := flag.Environments[key]
		value := flag.Default
		if configured && environment.Default != nil {
			value = environment.Default
		}
		if !same(value) {
			return false
		}
		for _, rule := range environment.Rules {
			if environment.Enabled && !same(rule.Value) {
				return false
			}
		}
	}
	return served != nil
}
