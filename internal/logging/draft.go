package logging

import (
	"math"
	"time"

	"github.com/signalbox/signalbox/client/loglevel"
	"github.com/signalbox/signalbox/internal/fault"
	"github.com/signalbox/signalbox/internal/naming"
	"github.com/signalbox/signalbox/internal/optional"
	"github.com/signalbox/signalbox/internal/overrides"
)

// maxTTL is ten years: who wants more wants no expiry.
const maxTTL = 315_360_000

// OverrideDraft is a level as a caller sent it.
type OverrideDraft struct {
	Level      optional.Value[string]
	ExpiresAt  optional.Value[time.Time]
	TTLSeconds optional.Value[float64]
}

// LevelsDraft is what loggers and groups are sent alike.
type LevelsDraft struct {
	Base         OverrideDraft
	Environments map[string]OverrideDraft
	// Problems holds what reading the input already found.
	Problems fault.Problems
}

// Draft is what a caller wants a logger to be.
type Draft struct {
	Name optional.Value[string]
	// Group and GroupID are two names of one thing.
	Group, GroupID optional.Value[string]
	Managed        optional.Value[bool]
	LevelsDraft
}

// GroupDraft is what a caller wants a group to be.
type GroupDraft struct {
	Key      optional.Value[string]
	Name     optional.Value[string]
	ParentID optional.Value[string]
	LevelsDraft
}

// wishes are the levels of a draft that has no problems by itself.
type wishes struct {
	base         wish
	environments map[string]wish // without those that have no level
}

func (d *LevelsDraft) wishes() wishes {
	wanted := wishes{base: d.wish(d.Base, "level", "level_expires_at", "level_ttl_seconds"), environments: map[string]wish{}}
	if !overrides.CheckCount(&d.Problems, len(d.Environments)) {
		return wanted
	}
	for environment, sent := range d.Environments {
		path := overrides.Path(environment)
		if made := d.wish(sent, path+"/level", path+"/expires_at", path+"/ttl_seconds"); made.level != loglevel.None {
			wanted.environments[environment] = made
		}
	}
	return wanted
}

// wish reads one level with its expiry, given the names of its members.
func (d *LevelsDraft) wish(sent OverrideDraft, level, expiry, ttl string) wish {
	made := wish{expiry: sent.ExpiresAt}
	if text, has := sent.Level.Get(); has {
		var known bool
		if made.level, known = loglevel.Parse(text); !known {
			d.Problems.Attribute(level, "must be TRACE, DEBUG, INFO, WARN, ERROR, FATAL, SILENT or null")
			return made
		}
	}
	_, hasInstant := sent.ExpiresAt.Get()
	seconds, hasTTL := sent.TTLSeconds.Get()
	if sent.TTLSeconds.IsNull() && made.expiry.IsAbsent() {
		made.expiry = optional.Null[time.Time]()
	}
	switch {
	case hasInstant && hasTTL:
		d.Problems.Attribute(ttl, "must be left out when there is an instant of expiry")
	case hasTTL && (seconds < 1 || seconds > maxTTL || seconds != math.Trunc(seconds)):
		d.Problems.Attribute(ttl, "must be a whole number from 1 to %d", maxTTL)
	case hasInstant && made.level == loglevel.None:
		d.Problems.Attribute(expiry, "needs a level that can expire")
	case hasTTL && made.level == loglevel.None:
		d.Problems.Attribute(ttl, "needs a level that can expire")
	}
	made.ttl = time.Duration(seconds) * time.Second
	return made
}

// over gives the levels that wishes make of stored ones. An expiry that has
// passed is refused, unless it is the stored one that is about to be removed.
func (w wishes) over(stored Levels, now time.Time) (Levels, error) {
	var problems fault.Problems
	base := w.base.over(stored.base(), now)
	refusePast(&problems, "level_expires_at", base, stored.base(), now)
	made := Levels{Level: base.Level, LevelExpiresAt: base.ExpiresAt, Environments: make(map[string]Override, len(w.environments))}
	for environment, wanted := range w.environments {
		was := stored.Environments[environment]
		made.Environments[environment] = wanted.over(was, now)
		refusePast(&problems, overrides.Path(environment)+"/expires_at", made.Environments[environment], was, now)
	}
	return made, problems.Err()
}

func refusePast(problems *fault.Problems, path string, override, stored Override, now time.Time) {
	if override.due(now) && !override.same(stored) {
		problems.Attribute(path, "must be in the future")
	}
}

// request is a draft that has no problems by itself.
type request struct {
	name    string
	group   string
	release bool
	levels  wishes
}

func (d *Draft) validate(key string) (request, error) {
	if !usable(key) {
		d.Problems.Add(fault.New(fault.Validation, "id must have 1 to %d characters and no control characters.", maxName).At(fault.Pointer("/data/id")))
	}
	made := request{name: checkName(&d.Problems, d.Name, key), levels: d.wishes()}
	made.group = d.groupKey()
	if managed, sent := d.Managed.Get(); sent {
		made.release = !managed
	}
	return made, d.Problems.Err()
}

// groupKey reads the group under either of its names.
func (d *Draft) groupKey() string {
	group, sent := d.Group.Get()
	other, otherSent := d.GroupID.Get()
	switch {
	case d.Group.IsAbsent():
		return other
	case d.GroupID.IsAbsent():
		return group
	case sent != otherSent || group != other:
		d.Problems.Attribute("group_id", "must be the same as group, or be left out")
	}
	return group
}

// checkName holds the rule of names; without one the key is the name.
func checkName(problems *fault.Problems, name optional.Value[string], key string) string {
	naming.CheckName(problems, name, maxName)
	return name.Or(key)
}

// groupRequest is a draft of a group that has no problems by itself.
type groupRequest struct {
	name   string
	levels wishes
}

func (d *GroupDraft) validate(key string) (groupRequest, error) {
	if _, sent := d.ParentID.Get(); sent {
		d.Problems.Add(fault.New(fault.GroupNesting, "A log group cannot be part of another: groups are flat. Leave parent_id out or send null.").
			At(fault.Attribute("parent_id")))
	}
	made := groupRequest{name: checkName(&d.Problems, d.Name, key), levels: d.wishes()}
	return made, d.Problems.Err()
}

func (d *GroupDraft) checkKey() {
	key, sent := d.Key.Get()
	switch {
	case !sent:
		d.Problems.Add(fault.New(fault.Validation, "id is required: it is the group's key.").At(fault.Pointer("/data/id")))
	case !usable(key):
		d.Problems.Add(fault.New(fault.Validation, "id must have 1 to %d characters and no control characters.", maxName).At(fault.Pointer("/data/id")))
	}
}
