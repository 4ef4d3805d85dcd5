package jobs

import (
	_ "embed"
	"slices"
	"strings"
	"sync"
	"time"
	_ "time/tzdata" // machines without zone data know the same zones

	"github.com/signalbox/signalbox/internal/naming"
)

// zoneNames has the names of the zones whose data is in the binary, sorted, one per line. Names
// are checked against this list, so that a name means the same on every machine.
//
//go:embed zones.txt
var zoneNames string

// Zones loads zones and keeps them. A nil *Zones loads them each time.
type Zones struct{ loaded sync.Map }

// Load returns the zone of a stored name; nil is UTC. A stored name was checked, so that it
// only fails to load if a newer version stored it: then the zone is UTC.
func (z *Zones) Load(name *string) *time.Location {
	if name == nil {
		return time.UTC
	}
	if z != nil {
		if zone, known := z.loaded.Load(*name); known {
			return zone.(*time.Location)
		}
	}
	zone, err := time.LoadLocation(*name)
	if err != nil {
		return time.UTC
	}
	if z != nil {
		z.loaded.Store(*name, zone)
	}
	return zone
}

// checkZone returns the rule that the name of a zone breaks, or "".
func checkZone(name string) string {
	names := strings.Fields(zoneNames)
	if _, known := slices.BinarySearch(names, name); known {
		return ""
	}
	rule := "must be an IANA time zone such as Europe/Berlin, or null for UTC"
	if nearest := nearestZone(name, names); name != "" && nearest != "" {
		rule += "; the nearest is " + nearest
	}
	return rule
}

// nearestZone returns the zone that was probably meant, or "". The name of a city is
// enough: Berlin is Europe/Berlin.
func nearestZone(name string, names []string) string {
	city := "/" + strings.ReplaceAll(strings.ToLower(name), " ", "_")
	for _, each := range names {
		if strings.HasSuffix("/"+strings.ToLower(each), city) && len(city) > 1 {
			return each
		}
	}
	return naming.Nearest(name, names)
}
