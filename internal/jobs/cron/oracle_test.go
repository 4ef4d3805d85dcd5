package cron_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	peer "github.com/robfig/cron/v3"
	"pgregory.net/rapid"

	"github.com/signalbox/signalbox/internal/jobs/cron"
)

// slow is an oracle that interprets the expression for every minute and shares no code with the package.
type slow struct{ minute, hour, day, month, weekday string }

func newSlow(expr string) slow {
	parts := strings.Fields(expr)
	return slow{parts[0], parts[1], parts[2], parts[3], parts[4]}
}

func (s slow) firesOn(t time.Time) bool {
	if !covers(s.month, int(t.Month()), 1, 12) {
		return false
	}
	day := covers(s.day, t.Day(), 1, 31)
	weekday := covers(s.weekday, int(t.Weekday()), 0, 7) || t.Weekday() == time.Sunday && covers(s.weekday, 7, 0, 7)
	if s.day[0] == '*' || s.weekday[0] == '*' {
		return day && weekday
	}
	return day || weekday
}

// next steps through the days, and through every minute of a day that fires.
func (s slow) next(after time.Time) time.Time {
	t := after.UTC().Truncate(time.Minute)
	for {
		t = t.Add(time.Minute)
		for !s.firesOn(t) {
			t = t.Truncate(24 * time.Hour).Add(24 * time.Hour)
		}
		if covers(s.hour, t.Hour(), 0, 23) && covers(s.minute, t.Minute(), 0, 59) {
			return t
		}
	}
}

func covers(field string, value, low, high int) bool {
	for item := range strings.SplitSeq(field, ",") {
		text, stepText, stepped := strings.Cut(item, "/")
		first, last, step := low, high, 1
		if stepped {
			step, _ = strconv.Atoi(stepText)
		}
		if from, to, isRange := strings.Cut(text, "-"); isRange {
			first, last = named(from), named(to)
		} else if text != "*" {
			first = named(text)
			if !stepped {
				last = first
			}
		}
		if first <= value && value <= last && (value-first)%step == 0 {
			return true
		}
	}
	return false
}

func named(text string) int {
	if n, err := strconv.Atoi(text); err == nil {
		return n
	}
	for _, list := range []string{"-- JAN FEB MAR APR MAY JUN JUL AUG SEP OCT NOV DEC", "SUN MON TUE WED THU FRI SAT"} {
		for i, name := range strings.Fields(list) {
			if strings.EqualFold(name, text) {
				return i
			}
		}
	}
	return -1
}

// item draws one item of a field.
func item(low, high int, names []string) *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		spelled := func(n int) string {
			if n-low < len(names) && rapid.Bool().Draw(t, "by name") {
				return names[n-low]
			}
			return strconv.Itoa(n)
		}
		text := "*"
		switch first := rapid.IntRange(low, high).Draw(t, "first"); rapid.IntRange(0, 2).Draw(t, "kind") {
		case 0:
			text = spelled(first)
		case 1:
			text = spelled(first) + "-" + spelled(rapid.IntRange(first, high).Draw(t, "last"))
		}
		if rapid.IntRange(0, 2).Draw(t, "stepped") == 0 {
			text += "/" + strconv.Itoa(rapid.IntRange(1, high+2).Draw(t, "step"))
		}
		return text
	})
}

func list(low, high int, names []string) *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		if rapid.IntRange(0, 3).Draw(t, "any") == 0 {
			return "*"
		}
		return strings.Join(rapid.SliceOfN(item(low, high, names), 1, 3).Draw(t, "items"), ",")
	})
}

func expression(weekdays int) *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		return fmt.Sprintf("%s %s %s %s %s",
			list(0, 59, nil).Draw(t, "minute"), list(0, 23, nil).Draw(t, "hour"), list(1, 31, nil).Draw(t, "day"),
			list(1, 12, []string{"jan", "Feb", "MAR", "apr"}).Draw(t, "month"), list(0, weekdays, []string{"SUN", "mon", "Tue"}).Draw(t, "weekday"))
	})
}

func anInstant() *rapid.Generator[time.Time] {
	return rapid.Custom(func(t *rapid.T) time.Time {
		return time.UnixMicro(rapid.Int64Range(0, 4_000_000_000_000_000).Draw(t, "instant"))
	})
}

func TestSchedule_NextMatchesOracle(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		expr := expression(7).Draw(t, "expression")
		schedule, err := cron.Parse(expr)
		if err != nil {
			t.Skip(err) // it never fires; the oracle would not end
		}
		at := anInstant().Draw(t, "after")
		for range 5 {
			next, ok := schedule.Next(at)
			if want := newSlow(expr).next(at); !ok || !next.Equal(want) {
				t.Fatalf("%q after %v: %v, want %v", expr, at.UTC(), next, want)
			}
			at = next
		}
	})
}

func TestSchedule_NothingBetweenLatestAndNext(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		schedule, err := cron.Parse(expression(7).Draw(t, "expression"))
		if err != nil {
			t.Skip(err)
		}
		at := anInstant().Draw(t, "at")
		last, ok := schedule.Latest(at)
		if !ok || last.After(at) {
			t.Fatalf("the latest up to %v is %v", at.UTC(), last)
		}
		next, _ := schedule.Next(at)
		if between, _ := schedule.Next(last); !between.Equal(next) {
			t.Fatalf("at %v: the latest is %v, the next %v, and %v is between", at.UTC(), last, next, between)
		}
	})
}

// The peer is compared where robfig/cron reads an expression as Debian does: it knows no Sunday 7, which is also where
// Debian's a/n ends, and a day field counts as unrestricted there when any of its items is a bare * or */1, or when it is ?.
func TestSchedule_NextMatchesPeer(t *testing.T) {
	reader := peer.NewParser(peer.Minute | peer.Hour | peer.Dom | peer.Month | peer.Dow)
	rapid.Check(t, func(t *rapid.T) {
		expr := expression(6).Draw(t, "expression")
		days := strings.Fields(expr)
		if starred(days[2]) || starred(days[4]) || openEnded(days[4]) {
			t.Skip("the two differ by design")
		}
		schedule, err := cron.Parse(expr)
		if err != nil {
			t.Skip(err)
		}
		theirs, err := reader.Parse(expr)
		if err != nil {
			t.Skip(err) // a step beyond the field
		}
		at := anInstant().Draw(t, "after").UTC()
		next, _ := schedule.Next(at)
		if want := theirs.Next(at); !want.IsZero() && !next.Equal(want) {
			t.Fatalf("%q after %v: %v, the peer says %v", expr, at, next, want)
		}
	})
}

// starred reports whether a day field has a * that the two read differently.
func starred(field string) bool { return field != "*" && strings.Contains(field, "*") }

// openEnded reports whether a field has an item a/n, which ends with the field.
func openEnded(field string) bool {
	return slices.ContainsFunc(strings.Split(field, ","), func(item string) bool {
		return strings.Contains(item, "/") && !strings.ContainsAny(item, "-*")
	})
}

func FuzzParse(f *testing.F) {
	for _, expr := range []string{"* * * * *", "*/15 8-17 * * MON-FRI", "0 0 29 2 */7", "0 0 30 2 1", "1,,2 * * * *", "50/5 1-2/3 1 JAN sun", "a b c d e", "@daily", "\x00 * * * *"} {
		f.Add(expr, int64(1_800_000_000))
	}
	f.Fuzz(func(t *testing.T, expr string, seconds int64) {
		schedule, err := cron.Parse(expr)
		if err != nil {
			if err.Error() == "" || len(err.Error()) > 600 {
				t.Errorf("%q: %v", expr, err)
			}
			return
		}
		at := time.Unix(seconds%200_000_000_000, 0) // until the year 8307: no expression runs out of years
		next, ok := schedule.Next(at)
		if !ok || !next.After(at) || next.Second() != 0 || next.Location() != time.UTC {
			t.Fatalf("%q after %v: %v, %v", expr, at, next, ok)
		}
		if !newSlow(expr).firesOn(next) {
			t.Errorf("%q does not fire on %v", expr, next)
		}
		if last, ok := schedule.Latest(next); !ok || !last.Equal(next) {
			t.Errorf("%q: the latest up to %v is %v", expr, next, last)
		}
	})
}

func BenchmarkNext(b *testing.B) {
	at := time.Date(2026, 11, 15, 12, 0, 30, 0, time.UTC)
	for _, expr := range []string{"* * * * *", "*/15 8-17 * * MON-FRI", "0 0 1 1 *", "0 0 29 2 */7"} {
		b.Run(expr, func(b *testing.B) {
			schedule, err := cron.Parse(expr)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				schedule.Next(at)
			}
		})
	}
}

func BenchmarkParse(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := cron.Parse("*/15 8-17 * JAN-JUN MON-FRI"); err != nil {
			b.Fatal(err)
		}
	}
}
