package logging

import (
	"maps"
	"math"
	"slices"
	"time"

	"github.com/signalbox/signalbox/client/loglevel"
	"github.com/signalbox/signalbox/internal/fault"
	"github.com/signalbox/signalbox/internal/naming"
	"github.com/signalbox/signalbox/internal/optional"
	"github.com/signalbox/signalbox/internal/overrides"
)

// maxTTL is ten years, in seconds.
const maxTTL = 315_360_000

// OverrideDraft is a level with its expiry, as a caller sent it.
type OverrideDraft struct {
	Level      optional.Value[string]
	ExpiresAt  optional.Value[time.Time]
	TTLSeconds optional.Value[float64]
}

// LevelsDraft is the part of a draft that loggers and groups share.
type LevelsDraft struct {
	Base         OverrideDraft
	Environments map[string]OverrideDraft
	// Restores says that the draft is an earlier state. A missing expiry then means that there
	// was none, and levels that have expired since are left out.
	Restores bool
	// Problems starts with the problems found while reading the input.
	Problems fault.Problems
}

// Draft is the logger that a caller asks for, not yet validated.
type Draft struct {
	Name optional.Value[string]
	// Group and GroupID are two names of the same member.
	Group, GroupID optional.Value[string]
	Managed        optional.Value[bool]
	LevelsDraft
}

// GroupDraft is the group that a caller asks for, not yet validated.
type GroupDraft struct {
	Key      optional.Value[string]
	Name     optional.Value[string]
	ParentID optional.Value[string]
	LevelsDraft
}

// wantedLevels are the levels that a draft asks for.
type wantedLevels struct {
	base         wantedLevel
	environments map[string]wantedLevel // only the environments for which a level was sent
	restores     bool
}

func (d *LevelsDraft) wanted() wantedLevels {
	wanted := wantedLevels{base: d.wantedLevel(d.Base, "level", "level_expires_at", "level_ttl_seconds"),
		environments: map[string]wantedLevel{}, restores: d.Restores}
	if !overrides.CheckCount(&d.Problems, len(d.Environments)) {
		return wanted
	}
	for _, environment := range slices.Sorted(maps.Keys(d.Environments)) {
		path := overrides.Path(environment)
		made := d.wantedLevel(d.Environments[environment], path+"/level", path+"/expires_at", path+"/ttl_seconds")
		if made.level != loglevel.None || d.Problems.Mentions(path+"/level") {
			wanted.environments[environment] = made
		}
		if made.level != loglevel.None && made.level == wanted.base.level {
			d.Problems.Warn(fault.Attribute(path+"/level"), "%s/level is the same as the level that it overrides: leave it out.", path)
		}
	}
	return wanted
}

// wantedLevel reads a level and its expiry. The last parameters are the members' names.
func (d *LevelsDraft) wantedLevel(sent OverrideDraft, level, expiry, ttl string) wantedLevel {
	made := wantedLevel{expiry: sent.ExpiresAt}
	if text, has := sent.Level.Get(); has {
		var known bool
		if made.level, known = loglevel.Parse(text); !known {
			d.Problems.Attribute(level, "must be TRACE, DEBUG, INFO, WARN, ERROR, FATAL, SILENT or null")
		}
	}
	if (sent.TTLSeconds.IsNull() || d.Restores) && made.expiry.IsAbsent() {
		made.expiry = optional.Null[time.Time]()
	}
	d.checkExpiry(sent, made.level != loglevel.None || d.Problems.Mentions(level), expiry, ttl)
	if !d.Problems.Mentions(ttl) {
		made.ttl = time.Duration(sent.TTLSeconds.Or(0)) * time.Second
	}
	return made
}

// checkExpiry checks the expiry of a level. hasLevel says whether the caller sent a level,
// valid or not.
func (d *LevelsDraft) checkExpiry(sent OverrideDraft, hasLevel bool, expiry, ttl string) {
	_, hasInstant := sent.ExpiresAt.Get()
	if hasInstant && !hasLevel {
		d.Problems.Attribute(expiry, "needs a level that can expire")
	}
	seconds, hasTTL := sent.TTLSeconds.Get()
	switch {
	case !hasTTL:
	case hasInstant:
		d.Problems.Attribute(ttl, "must be left out when there is an instant of expiry")
	case seconds < 1 || seconds > maxTTL || seconds != math.Trunc(seconds):
		d.Problems.Attribute(ttl, "must be a whole number from 1 to %d", maxTTL)
	case !hasLevel:
		d.Problems.Attribute(ttl, "needs a level that can expire")
	}
}

// over applies the wanted levels to the stored levels. It refuses an expiry in the past, unless
// the stored level has the same expiry and is about to be removed.
func (w wantedLevels) over(stored Levels, now time.Time, problems *fault.Problems) Levels {
	if w.restores {
		w = w.unexpired(now)
	}
	base := w.base.over(stored.base(), now)
	refusePast(problems, "level_expires_at", base, stored.base(), now)
	made := Levels{Level: base.Level, LevelExpiresAt: base.ExpiresAt, Environments: make(map[string]Override, len(w.environments))}
	for _, environment := range slices.Sorted(maps.Keys(w.environments)) {
		was := stored.Environments[environment]
		made.Environments[environment] = w.environments[environment].over(was, now)
		refusePast(problems, overrides.Path(environment)+"/expires_at", made.Environments[environment], was, now)
	}
	return made
}

// unexpired returns the wanted levels without the expired ones.
func (w wantedLevels) unexpired(now time.Time) wantedLevels {
	if w.base.due(now) {
		w.base = wantedLevel{}
	}
	w.environments = maps.Clone(w.environments)
	maps.DeleteFunc(w.environments, func(_ string, level wantedLevel) bool { return level.due(now) })
	return w
}

func refusePast(problems *fault.Problems, path string, override, stored Override, now time.Time) {
	if override.due(now) && !override.same(stored) {
		problems.Attribute(path, "must be in the future")
	}
}

// request is a validated draft. For a group, only the name and the levels are set.
type request struct {
	name    string
	group   string
	groupAt string // the member that had the group: group or group_id
	release bool
	levels  wantedLevels
}

// validate checks every rule that does not need the database, and adds to the
// draft's problems.
func (d *Draft) validate(key string) request {
	checkKey(&d.Problems, key)
	made := request{name: checkName(&d.Problems, d.Name, key), levels: d.wanted()}
	made.group, made.groupAt = d.groupKey()
	if managed, sent := d.Managed.Get(); sent {
		made.release = !managed
	}
	return made
}

// groupKey returns the group and the name of the member that had it.
func (d *Draft) groupKey() (key, at string) {
	group, other := d.groupNamed("group", d.Group), d.groupNamed("group_id", d.GroupID)
	switch {
	case d.Group.IsAbsent():
		return other, "group_id"
	case !d.GroupID.IsAbsent() && group != other:
		d.Problems.Attribute("group_id", "must be the same as group, or be left out")
	}
	return group, "group"
}

// groupNamed checks the group that was sent in the member path.
func (d *Draft) groupNamed(path string, sent optional.Value[string]) string {
	key, named := sent.Get()
	if named && key == "" {
		d.Problems.Attribute(path, "must be the id of a log group, or null for none")
	}
	return key
}

// checkKey checks the key of a logger or a group.
func checkKey(problems *fault.Problems, key string) {
	if rule := brokenKeyRule(key); rule != "" {
		problems.Add(fault.New(fault.Validation, "id %s.", rule).At(fault.Pointer("/data/id")))
	}
}

// checkName checks a name and returns it, or the key if there is no name.
func checkName(problems *fault.Problems, name optional.Value[string], key string) string {
	naming.CheckName(problems, name, maxName)
	return name.Or(key)
}

// validate checks every rule that does not need the database.
func (d *GroupDraft) validate(key string) request {
	if _, sent := d.ParentID.Get(); sent {
		d.Problems.Add(fault.New(fault.GroupNesting, "A log group cannot be part of another: groups are flat. Leave parent_id out or send null.").
			At(fault.Attribute("parent_id")))
	}
	return request{name: checkName(&d.Problems, d.Name, key), levels: d.wanted()}
}

func (d *GroupDraft) checkKey() {
	key, sent := d.Key.Get()
	if !sent {
		d.Problems.Add(fault.New(fault.Validation, "id is required: it is the group's key.").At(fault.Pointer("/data/id")))
	}
	checkKey(&d.Problems, key)
}
