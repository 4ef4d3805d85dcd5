package cron_test

import (
	"bufio"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"
	_ "time/tzdata" // the zones do not depend on the machine

	"github.com/signalbox/signalbox/internal/jobs/cron"
)

const zoneYears = 3

// zoneVector is a line of testdata/zones.tsv.
type zoneVector struct {
	schedule cron.Zoned
	year     int
	count    int
	hash     string
	around   []string
}

// TestZoned_Vectors computes all instants of 200 schedules in 12 zones over three years, and compares them with those of
// an independent model.
func TestZoned_Vectors(t *testing.T) {
	t.Parallel()
	file, err := os.Open("testdata/zones.tsv")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	byZone, lines := map[string][]zoneVector{}, bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		parts := strings.Split(lines.Text(), "\t")
		byZone[parts[0]] = append(byZone[parts[0]], readZoneVector(t, parts))
	}
	if len(byZone) != 12 {
		t.Errorf("there are %d zones", len(byZone))
	}
	for zone, vectors := range byZone {
		t.Run(zone, func(t *testing.T) {
			t.Parallel()
			if len(vectors) != 200 {
				t.Errorf("there are %d schedules", len(vectors))
			}
			for _, vector := range vectors {
				vector.check(t)
			}
		})
	}
}

func readZoneVector(t *testing.T, parts []string) zoneVector {
	t.Helper()
	zone, err := time.LoadLocation(parts[0])
	if err != nil {
		t.Fatal(err)
	}
	schedule, err := cron.Parse(parts[2])
	if err != nil {
		t.Fatal(err)
	}
	year, _ := strconv.Atoi(parts[1])
	count, _ := strconv.Atoi(parts[3])
	return zoneVector{schedule.In(zone), year, count, parts[4], strings.Fields(parts[5])}
}

func (v zoneVector) check(t *testing.T) {
	t.Helper()
	start, end := time.Date(v.year, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(v.year+zoneYears, 1, 1, 0, 0, 0, 0, time.UTC)
	sum, count, found := sha256.New(), 0, map[string]bool{}
	var number [8]byte
	for at := start.Add(-time.Second); ; count++ {
		next, ok := v.schedule.Next(at)
		if !ok || !next.After(at) {
			t.Fatalf("%+v after %s: %s, %v", v.schedule, at, next, ok)
		}
		if at = next; !at.Before(end) {
			break
		}
		binary.BigEndian.PutUint64(number[:], uint64(at.Unix()))
		sum.Write(number[:])
		if len(v.around) > 0 {
			found[at.Format("2006-01-02T15:04Z")] = true
		}
	}
	for _, want := range v.around {
		if !found[want] {
			t.Errorf("%+v does not fire at %s", v.schedule, want)
		}
	}
	if got := hex.EncodeToString(sum.Sum(nil))[:16]; count != v.count || got != v.hash {
		t.Errorf("%+v from %d fires %d times (hash %s), want %d (%s)", v.schedule, v.year, count, got, v.count, v.hash)
	}
}

// TestZoned_Latest: the latest instant up to any minute beside a change of the clock is the last one that Next returned.
func TestZoned_Latest(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"Australia/Lord_Howe", "Pacific/Apia", "America/Sao_Paulo", "Africa/Casablanca", "UTC"} {
		t.Run(name, func(t *testing.T) {
			zone, err := time.LoadLocation(name)
			if err != nil {
				t.Fatal(err)
			}
			for _, text := range []string{"30 2 * * *", "0 0 * * *", "*/20 * * * *", "15 */2 * * *", "0 12 30 12 *", "45 1-3 * * SUN"} {
				schedule, err := cron.Parse(text)
				if err != nil {
					t.Fatal(err)
				}
				for _, month := range []time.Time{time.Date(2011, 12, 29, 0, 0, 0, 0, time.UTC), time.Date(2017, 10, 14, 0, 0, 0, 0, time.UTC), time.Date(2024, 4, 5, 0, 0, 0, 0, time.UTC)} {
					checkLatest(t, schedule.In(zone), month)
				}
			}
		})
	}
}

func checkLatest(t *testing.T, schedule cron.Zoned, from time.Time) {
	t.Helper()
	last, ok := schedule.Latest(from)
	if !ok {
		t.Fatalf("%+v never fired before %s", schedule, from)
	}
	for at := from; at.Before(from.AddDate(0, 0, 10)); at = at.Add(7 * time.Minute) {
		for next, ok := schedule.Next(last); ok && !next.After(at); next, ok = schedule.Next(last) {
			last = next
		}
		if got, _ := schedule.Latest(at); !got.Equal(last) {
			t.Fatalf("%+v up to %s: %s, want %s", schedule, at, got, last)
		}
	}
}

func TestFirstAt(t *testing.T) {
	t.Parallel()
	for text, c := range map[string]struct{ zone, local, want string }{
		"an ordinary time":    {"Europe/Berlin", "2026-07-01T08:00:00Z", "2026-07-01T06:00:00Z"},
		"a time in a jump":    {"Europe/Berlin", "2026-03-29T02:30:00Z", "2026-03-29T01:00:00Z"},
		"a time that repeats": {"Europe/Berlin", "2026-10-25T02:30:00Z", "2026-10-25T00:30:00Z"},
		"a day that was left": {"Pacific/Apia", "2011-12-30T12:00:00Z", "2011-12-30T10:00:00Z"},
		"UTC":                 {"UTC", "2026-07-01T08:00:00Z", "2026-07-01T08:00:00Z"},
	} {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			zone, err := time.LoadLocation(c.zone)
			if err != nil {
				t.Fatal(err)
			}
			local, _ := time.Parse(time.RFC3339, c.local)
			if got := cron.FirstAt(local, zone).Format(time.RFC3339); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}
