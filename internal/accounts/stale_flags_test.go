package accounts_test

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/signalbox/signalbox/internal/accounts"
	"github.com/signalbox/signalbox/internal/fault"
	"github.com/signalbox/signalbox/internal/store/storetest"
)

func TestSettings_StaleFlags(t *testing.T) {
	t.Parallel()
	byDefault := accounts.StaleFlags{UnevaluatedDays: 30, UnchangedDays: 90}
	for other, want := range map[string]accounts.StaleFlags{
		``:                     byDefault,
		`{"theme":"dark"}`:     byDefault,
		`{"stale_flags":null}`: byDefault,
		`{"stale_flags":{}}`:   byDefault,
		`{"stale_flags":7}`:    byDefault, // stored before it had a meaning
		`{"stale_flags":{"unchanged_days":null,"unevaluated_days":"7"}}`:         byDefault,
		`{"stale_flags":{"unevaluated_days":7}}`:                                 {UnevaluatedDays: 7, UnchangedDays: 90},
		`{"stale_flags":{"unevaluated_days":1,"unchanged_days":3650},"other":1}`: {UnevaluatedDays: 1, UnchangedDays: 3650},
		`{"stale_flags":{"unevaluated_days":0,"unchanged_days":3651}}`:           byDefault,
	} {
		t.Run(other, func(t *testing.T) {
			if diff := cmp.Diff(want, accounts.Settings{Other: json.RawMessage(other)}.StaleFlags()); diff != "" {
				t.Errorf("%s (-want +got):\n%s", other, diff)
			}
		})
	}
}

func TestReplaceAccountSettings_StaleFlags(t *testing.T) {
	t.Parallel()
	h := newFixture(t, storetest.New(t, "sqlite"))
	const days = "must be a whole number of days from 1 to 3650."
	for other, want := range map[string]string{
		`{"stale_flags":null}`: "",
		`{"stale_flags":{"unevaluated_days":1,"unchanged_days":365}}`: "",
		`{"stale_flags":30}`:                      `stale_flags must be an object such as {"unevaluated_days": 30, "unchanged_days": 90}.`,
		`{"stale_flags":{"unevaluated_days":0}}`:  "stale_flags/unevaluated_days " + days,
		`{"stale_flags":{"unchanged_days":null}}`: "stale_flags/unchanged_days " + days,
		`{"stale_flags":{"unchanged_days":1.5}}`:  "stale_flags/unchanged_days " + days,
		`{"stale_flags":{"days":9}}`:              "stale_flags/days is not known; known are unevaluated_days and unchanged_days.",
	} {
		t.Run(other, func(t *testing.T) {
			_, err := h.ReplaceAccountSettings(t.Context(), h.owner, accounts.SettingsDraft{Other: json.RawMessage(other)}, nil)
			if want == "" {
				if err != nil {
					t.Errorf("%s: %v", other, err)
				}
				return
			}
			if refused, ok := errors.AsType[*fault.Error](err); !ok || refused.Detail != want {
				t.Errorf("%s: got %v, want %s", other, err, want)
			}
		})
	}
	// The member means nothing in the settings of a user.
	if _, err := h.ReplaceUserSettings(t.Context(), h.owner, accounts.SettingsDraft{Other: json.RawMessage(`{"stale_flags":7}`)}, nil); err != nil {
		t.Error(err)
	}
}
