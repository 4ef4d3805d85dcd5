package logging

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/signalbox/signalbox/client/loglevel"
	"github.com/signalbox/signalbox/internal/fault"
	"github.com/signalbox/signalbox/internal/optional"
	"github.com/signalbox/signalbox/internal/overrides"
)

func text(s string) optional.Value[string] { return optional.Of(s) }

func places(err error) (paths []string) {
	for _, refusal := range fault.All(err) {
		paths = append(paths, refusal.Source.Path)
	}
	return paths
}

func TestValidate_NamesEveryProblem(t *testing.T) {
	t.Parallel()
	base := func(o OverrideDraft) Draft { return Draft{LevelsDraft: LevelsDraft{Base: o}} }
	override := func(o OverrideDraft) Draft {
		return Draft{LevelsDraft: LevelsDraft{Environments: map[string]OverrideDraft{"a/b": o}}}
	}
	later := optional.Of(time.Now().Add(time.Hour))
	for _, c := range []struct {
		name, key string
		draft     Draft
		want      []string
	}{
		{"nothing", "a", Draft{}, nil},
		{"a long key", strings.Repeat("é", 255), Draft{}, nil},
		{"a key that is too long", strings.Repeat("k", 256), Draft{}, []string{"/data/id"}},
		{"no key", "", Draft{}, []string{"/data/id"}},
		{"the key of several", "*", Draft{}, []string{"/data/id"}},
		{"a star and more", "*.a", Draft{}, nil},
		{"a control character", "a\x1bb", Draft{}, []string{"/data/id"}},
		{"names", "a", Draft{Name: text("")}, []string{"name"}},
		{"a long name", "a", Draft{Name: text(strings.Repeat("n", 256))}, []string{"name"}},
		{"two groups", "a", Draft{Group: text("x"), GroupID: text("y")}, []string{"group_id"}},
		{"a group and none", "a", Draft{Group: text("x"), GroupID: optional.Null[string]()}, []string{"group_id"}},
		{"a group without a name", "a", Draft{Group: text("")}, []string{"group"}},
		{"a group without a name under another", "a", Draft{GroupID: text("")}, []string{"group_id"}},
		{"no group", "a", Draft{Group: optional.Null[string]()}, nil},
		{"one group under two names", "a", Draft{Group: text("x"), GroupID: text("x")}, nil},
		{"an unknown level", "a", base(OverrideDraft{Level: text("LOUD")}), []string{"level"}},
		{"an unknown override", "a", override(OverrideDraft{Level: text("LOUD")}), []string{"environments/a~1b/level"}},
		{"an instant and a time to live", "a", base(OverrideDraft{Level: text("INFO"), ExpiresAt: later, TTLSeconds: optional.Of(5.0)}), []string{"level_ttl_seconds"}},
		{"a time to live of nothing", "a", override(OverrideDraft{Level: text("INFO"), TTLSeconds: optional.Of(0.0)}), []string{"environments/a~1b/ttl_seconds"}},
		{"half a second", "a", override(OverrideDraft{Level: text("INFO"), TTLSeconds: optional.Of(1.5)}), []string{"environments/a~1b/ttl_seconds"}},
		{"a century", "a", override(OverrideDraft{Level: text("INFO"), TTLSeconds: optional.Of(4e9)}), []string{"environments/a~1b/ttl_seconds"}},
		{"an expiry of nothing", "a", base(OverrideDraft{ExpiresAt: later}), []string{"level_expires_at"}},
		{"an override's expiry of nothing", "a", override(OverrideDraft{Level: optional.Null[string](), TTLSeconds: optional.Of(5.0)}), []string{"environments/a~1b/ttl_seconds"}},
		{"a level and its time to live", "a", base(OverrideDraft{Level: text("LOUD"), TTLSeconds: optional.Of(0.0)}), []string{"level", "level_ttl_seconds"}},
		{"an unknown level that expires", "a", base(OverrideDraft{Level: text("LOUD"), ExpiresAt: later}), []string{"level"}},
		{"two expiries of nothing", "a", base(OverrideDraft{ExpiresAt: later, TTLSeconds: optional.Of(5.0)}), []string{"level_expires_at", "level_ttl_seconds"}},
		{"several", "", Draft{Name: text(""), GroupID: text("x"), LevelsDraft: LevelsDraft{Base: OverrideDraft{Level: text("x")}}}, []string{"/data/id", "name", "level"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.draft.validate(c.key)
			if diff := cmp.Diff(c.want, places(c.draft.Problems.Err())); diff != "" {
				t.Errorf("%s (-want +got):\n%s", c.name, diff)
			}
		})
	}
	crowd := LevelsDraft{Environments: map[string]OverrideDraft{}}
	for i := range overrides.MaxEntries + 1 {
		crowd.Environments[strconv.Itoa(i)] = OverrideDraft{Level: text("LOUD")}
	}
	crowded := GroupDraft{LevelsDraft: crowd}
	crowded.validate("g")
	if diff := cmp.Diff([]string{"environments"}, places(crowded.Problems.Err())); diff != "" {
		t.Error(diff)
	}
	nested := GroupDraft{ParentID: text("x"), Name: text("")}
	nested.validate("g")
	err := nested.Problems.Err()
	if diff := cmp.Diff([]string{"parent_id", "name"}, places(err)); diff != "" || !fault.Is(err, fault.GroupNesting) {
		t.Error(diff, err)
	}
}

// A write that repeats the level without an expiry keeps the stored expiry. A different level
// without an expiry removes it, and so does an explicit null.
func TestLevels_Expiry(t *testing.T) {
	t.Parallel()
	now := time.Date(2030, 1, 31, 8, 0, 0, 0, time.UTC)
	soon, later, past := now.Add(time.Minute), now.Add(time.Hour), now.Add(-time.Minute)
	stored := Override{loglevel.Debug, &soon}
	for _, c := range []struct {
		name   string
		stored Override
		sent   OverrideDraft
		want   Override
		wrong  bool
	}{
		{"the level repeated", stored, OverrideDraft{Level: text("debug")}, stored, false},
		{"the level repeated with null", stored, OverrideDraft{Level: text("DEBUG"), ExpiresAt: optional.Null[time.Time]()}, Override{loglevel.Debug, nil}, false},
		{"the level repeated with a time to live of null", stored, OverrideDraft{Level: text("DEBUG"), TTLSeconds: optional.Null[float64]()}, Override{loglevel.Debug, nil}, false},
		{"another level", stored, OverrideDraft{Level: text("TRACE")}, Override{loglevel.Trace, nil}, false},
		{"another instant", stored, OverrideDraft{Level: text("DEBUG"), ExpiresAt: optional.Of(later)}, Override{loglevel.Debug, &later}, false},
		{"a time to live", stored, OverrideDraft{Level: text("TRACE"), TTLSeconds: optional.Of(3600.0)}, Override{loglevel.Trace, &later}, false},
		{"an instant and a time to live of null", stored, OverrideDraft{Level: text("TRACE"), ExpiresAt: optional.Of(later), TTLSeconds: optional.Null[float64]()}, Override{loglevel.Trace, &later}, false},
		{"no level", stored, OverrideDraft{}, Override{}, false},
		{"an expiry that is new", Override{Level: loglevel.Debug}, OverrideDraft{Level: text("DEBUG"), ExpiresAt: optional.Of(soon)}, stored, false},
		{"an instant that has passed", stored, OverrideDraft{Level: text("DEBUG"), ExpiresAt: optional.Of(past)}, Override{}, true},
		{"this instant", stored, OverrideDraft{Level: text("DEBUG"), ExpiresAt: optional.Of(now)}, Override{}, true},
		{"the stored instant that has passed", Override{loglevel.Debug, &past}, OverrideDraft{Level: text("DEBUG"), ExpiresAt: optional.Of(past)}, Override{loglevel.Debug, &past}, false},
		{"nothing about one that has passed", Override{loglevel.Debug, &past}, OverrideDraft{Level: text("DEBUG")}, Override{loglevel.Debug, &past}, false},
		{"another level with the stored instant that has passed", Override{loglevel.Debug, &past}, OverrideDraft{Level: text("INFO"), ExpiresAt: optional.Of(past)}, Override{}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			draft := LevelsDraft{Base: c.sent, Environments: map[string]OverrideDraft{"e": c.sent}}
			before := Levels{Level: c.stored.Level, LevelExpiresAt: c.stored.ExpiresAt, Environments: map[string]Override{"e": c.stored}}
			wanted := draft.wanted()
			if err := draft.Problems.Err(); err != nil {
				t.Error(err)
			}
			var problems fault.Problems
			got := wanted.over(before, now, &problems)
			err := problems.Err()
			if c.wrong {
				if diff := cmp.Diff([]string{"level_expires_at", "environments/e/expires_at"}, places(err)); diff != "" {
					t.Errorf("%s (-want +got):\n%s", c.name, diff)
				}
				return
			}
			if diff := cmp.Diff([]Override{c.want, c.want}, []Override{got.base(), got.Environments["e"]}); diff != "" || err != nil {
				t.Errorf("%v (-want +got):\n%s", err, diff)
			}
		})
	}
}
