package live

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"

	signalbox "github.com/signalbox/signalbox/client"
	"github.com/signalbox/signalbox/client/flageval"
)

// contents has the resources of the account that the box has loaded for its environment. It is immutable.
type contents struct {
	environment string
	seq         int64
	bootstrap   bool // read from the bootstrap file, whose seq may be of another account
	confirmed   bool // sent by the server, so that levels apply even if this machine's clock says that they have expired
	flags       map[string]signalbox.Flag
	loggers     map[string]signalbox.Logger
	groups      map[string]signalbox.LogGroup
	configs     map[string]map[string]json.RawMessage
}

// newContents returns the contents of a snapshot.
func newContents(environment string, s signalbox.Snapshot) *contents {
	return (&contents{environment: environment}).with(s, parts{flags: true, levels: true, configs: true})
}

// parts selects parts of the contents.
type parts struct{ flags, levels, configs bool }

func (p parts) any() bool { return p.flags || p.levels || p.configs }

func (p parts) all() bool { return p.flags && p.levels && p.configs }

// with returns the contents with some parts replaced by the parts of a snapshot.
func (c *contents) with(s signalbox.Snapshot, replaced parts) *contents {
	next := *c
	next.seq, next.confirmed, next.bootstrap = s.Seq, s.StaleSince == nil, false
	if replaced.flags {
		next.flags = make(map[string]signalbox.Flag, len(s.Flags))
		for _, each := range s.Flags {
			next.flags[each.ID] = next.trimmed(each)
		}
	}
	if replaced.levels {
		next.loggers = make(map[string]signalbox.Logger, len(s.Loggers))
		for _, each := range s.Loggers {
			next.loggers[each.ID] = each
		}
		next.groups = make(map[string]signalbox.LogGroup, len(s.LogGroups))
		for _, each := range s.LogGroups {
			next.groups[each.ID] = each
		}
	}
	if replaced.configs {
		next.configs = s.Configs
	}
	return &next
}

// outranks reports whether a snapshot is older than the contents and must not replace them. A server that has lost its
// database answers from memory, which may be older than an earlier answer of this or another node. A server with a database
// is always right: there a smaller seq means that the database was restored to an earlier state.
func (c *contents) outranks(s signalbox.Snapshot) bool {
	return s.StaleSince != nil && s.Seq < c.seq && !c.bootstrap
}

// trimmed returns a flag with only the members that evaluation in the environment needs.
func (c *contents) trimmed(flag signalbox.Flag) signalbox.Flag {
	kept := signalbox.Flag{Resource: signalbox.Resource{ID: flag.ID}, Type: flag.Type, Default: flag.Default, Values: flag.Values, Managed: flag.Managed,
		Environments: map[string]flageval.Environment{}}
	if own, has := flag.Environments[c.environment]; has {
		kept.Environments[c.environment] = own
	}
	return kept
}

// withResources returns the contents with single resources changed; nil deletes a resource. Like a snapshot, the result has
// no unmanaged flags: another service's declaration must not replace the default in this service's code.
func (c *contents) withResources(seq int64, flags map[string]*signalbox.Flag, loggers map[string]*signalbox.Logger, groups map[string]*signalbox.LogGroup) *contents {
	next := *c
	next.seq, next.confirmed = max(c.seq, seq), true
	for key, flag := range flags {
		switch {
		case flag == nil:
		case flag.Managed:
			flags[key] = new(c.trimmed(*flag))
		default:
			flags[key] = nil
		}
	}
	next.flags = merged(c.flags, flags)
	next.loggers = merged(c.loggers, loggers)
	next.groups = merged(c.groups, groups)
	return &next
}

// merged returns the same map when nothing changes.
func merged[T any](before map[string]T, changes map[string]*T) map[string]T {
	if len(changes) == 0 {
		return before
	}
	after := maps.Clone(before)
	if after == nil {
		after = map[string]T{}
	}
	for key, value := range changes {
		if value == nil {
			delete(after, key)
		} else {
			after[key] = *value
		}
	}
	return after
}

// snapshot returns the contents as a snapshot, for the cache.
func (c *contents) snapshot() signalbox.Snapshot {
	return signalbox.Snapshot{
		Resource: signalbox.Resource{ID: c.environment}, Seq: c.seq, Configs: c.configs,
		Flags: slices.Collect(maps.Values(c.flags)), Loggers: slices.Collect(maps.Values(c.loggers)), LogGroups: slices.Collect(maps.Values(c.groups)),
	}
}

// changedFlags returns the keys of flags that were added, removed or changed. It compares the flags of among, or all if
// among is nil.
func changedFlags(before, after map[string]signalbox.Flag, among []string) []string {
	if among == nil {
		among = slices.Collect(maps.Keys(after))
		for key := range before {
			if _, still := after[key]; !still {
				among = append(among, key)
			}
		}
	}
	var changed []string
	for _, key := range among {
		old, was := before[key]
		flag, is := after[key]
		if was != is || !reflect.DeepEqual(old, flag) {
			changed = append(changed, key)
		}
	}
	slices.Sort(changed)
	return changed
}
