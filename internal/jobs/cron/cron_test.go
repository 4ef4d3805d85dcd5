package cron_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/signalbox/signalbox/internal/jobs/cron"
)

func instant(t *testing.T, text string) time.Time {
	t.Helper()
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		t.Fatal(err)
	}
	return at
}

func parsed(t *testing.T, expr string) cron.Schedule {
	t.Helper()
	schedule, err := cron.Parse(expr)
	if err != nil {
		t.Fatalf("%q: %v", expr, err)
	}
	return schedule
}

func TestParse_ErrorNamesFieldAndRule(t *testing.T) {
	five := "the expression must have five fields (minute, hour, day of month, month and day of week), but has "
	for expr, want := range map[string]string{
		"":                   five + "0",
		" \t ":               five + "0",
		"@daily":             "write 0 0 * * * instead of @daily",
		"@Midnight":          "write 0 0 * * * instead of @Midnight",
		"@hourly":            "write 0 * * * * instead of @hourly",
		"@weekly":            "write 0 0 * * 0 instead of @weekly",
		"@monthly":           "write 0 0 1 * * instead of @monthly",
		"@yearly":            "write 0 0 1 1 * instead of @yearly",
		"@annually":          "write 0 0 1 1 * instead of @annually",
		"@every 5m":          `"@every 5m" is not read; write five fields, such as 0 0 * * * for every day at midnight`,
		"* * * *":            five + "4",
		"* * * * * *":        five + "6",
		"60 * * * *":         `the minute field "60" is wrong: 60 is above 59`,
		"1,99 * * * *":       `the minute field "1,99" is wrong: 99 is above 59`,
		"* 25 * * *":         `the hour field "25" is wrong: 25 is above 23`,
		"* * 0 * *":          `the day-of-month field "0" is wrong: 0 is below 1`,
		"* * 0-5 * *":        `the day-of-month field "0-5" is wrong: 0 is below 1`,
		"* * 0/5 * *":        `the day-of-month field "0/5" is wrong: 0 is below 1`,
		"* * * 13 *":         `the month field "13" is wrong: 13 is above 12`,
		"* * * FOO *":        `the month field "FOO" is wrong: "FOO" is not a number or one of JAN to DEC`,
		"* * * MON *":        `the month field "MON" is wrong: "MON" is not a number or one of JAN to DEC`,
		"* * * January *":    `the month field "January" is wrong: "January" is not a number or one of JAN to DEC`,
		"* * * * 8":          `the day-of-week field "8" is wrong: 8 is above 7`,
		"* * * * sat-sun":    `the day-of-week field "sat-sun" is wrong: the range "sat-sun" runs backward`,
		"* * * * 5#2":        `the day-of-week field "5#2" is wrong: "5#2" is not a number or one of SUN to SAT`,
		"* * L * *":          `the day-of-month field "L" is wrong: "L" is not a number`,
		"* * 15W * *":        `the day-of-month field "15W" is wrong: "15W" is not a number`,
		"5-3 * * * *":        `the minute field "5-3" is wrong: the range "5-3" runs backward`,
		"1,,2 * * * *":       `the minute field "1,,2" is wrong: an item of the list is empty`,
		"1, * * * *":         `the minute field "1," is wrong: an item of the list is empty`,
		"-1 * * * *":         `the minute field "-1" is wrong: a value is missing`,
		"1- * * * *":         `the minute field "1-" is wrong: a value is missing`,
		"+5 * * * *":         `the minute field "+5" is wrong: "+5" is not a number`,
		"1-2-3 * * * *":      `the minute field "1-2-3" is wrong: "2-3" is not a number`,
		"*-5 * * * *":        `the minute field "*-5" is wrong: "*" is not a number`,
		"** * * * *":         `the minute field "**" is wrong: "**" is not a number`,
		"*/0 * * * *":        `the minute field "*/0" is wrong: the step must be at least 1`,
		"*/00 * * * *":       `the minute field "*/00" is wrong: the step must be at least 1`,
		"*/ * * * *":         `the minute field "*/" is wrong: the step after / is missing`,
		"/5 * * * *":         `the minute field "/5" is wrong: a value is missing`,
		"*/2/3 * * * *":      `the minute field "*/2/3" is wrong: the step "2/3" is not a number`,
		"* * * */feb *":      `the month field "*/feb" is wrong: the step "feb" is not a number`,
		"*/99999999 * * * *": `the minute field "*/99999999" is wrong: the step 99999999 is too large`,
		"*\n * * * *":        `the minute field "*\n" is wrong: "*\n" is not a number`,
		"* * * * \u0661":     `the day-of-week field "١" is wrong: "١" is not a number or one of SUN to SAT`,
		"* * * * \xff":       `the day-of-week field "\xff" is wrong: "\xff" is not a number or one of SUN to SAT`,
		"0 0 30 2 *":         `the expression never fires: no month of "2" has a day of "30"`,
		"0 0 31 2,4,6,9 *":   `the expression never fires: no month of "2,4,6,9" has a day of "31"`,
		"0 0 30-31 feb */2":  `the expression never fires: no month of "feb" has a day of "30-31"`,
	} {
		t.Run(fmt.Sprintf("%q", expr), func(t *testing.T) {
			_, err := cron.Parse(expr)
			if err == nil || err.Error() != want {
				t.Errorf("%q:\n got %v\nwant %s", expr, err, want)
			}
		})
	}
}

func TestParse_ShortErrors(t *testing.T) {
	for _, item := range []string{strings.Repeat("9", 1<<20), strings.Repeat("x", 1<<20), "*/" + strings.Repeat("9", 1<<20)} {
		t.Run(fmt.Sprintf("%.5s…", item), func(t *testing.T) {
			_, err := cron.Parse(item + " * * * *")
			if err == nil || len(err.Error()) > 300 {
				t.Errorf("%.20s…: %.400v", item, err)
			}
		})
	}
}

func TestSchedule_Next(t *testing.T) {
	for _, c := range []struct{ expr, after, want string }{
		{"* * * * *", "2026-01-01T00:00:00Z", "2026-01-01T00:01:00Z"},
		{"* * * * *", "2026-01-01T00:00:59.999999Z", "2026-01-01T00:01:00Z"},
		{"* * * * *", "2026-12-31T23:59:00Z", "2027-01-01T00:00:00Z"},
		{" 5\t4  * * * ", "2026-01-01T04:05:00Z", "2026-01-02T04:05:00Z"},
		{"0 12 * * *", "2026-06-01T13:30:00+02:00", "2026-06-01T12:00:00Z"},
		{"*/100 * * * *", "2026-01-01T00:00:00Z", "2026-01-01T01:00:00Z"},
		{"50/5 * * * *", "2026-01-01T00:00:00Z", "2026-01-01T00:50:00Z"},
		{"3,1,2 * * * *", "2026-01-01T00:01:00Z", "2026-01-01T00:02:00Z"},
		{"10-12 * * * *", "2026-01-01T00:12:00Z", "2026-01-01T01:10:00Z"},
		{"10-20/5 8-17 * * *", "2026-01-01T17:15:00Z", "2026-01-01T17:20:00Z"},
		{"10-20/5 8-17 * * *", "2026-01-01T17:20:00Z", "2026-01-02T08:10:00Z"},
		{"0 0 1 feb,DEC *", "2026-02-01T00:00:00Z", "2026-12-01T00:00:00Z"},
		{"0 0 1 Mar-may/2 *", "2026-03-01T00:00:00Z", "2026-05-01T00:00:00Z"},
		{"0 0 * * mon-fri", "2026-11-13T00:00:00Z", "2026-11-16T00:00:00Z"},
		{"007 * * * *", "2026-01-01T00:00:00Z", "2026-01-01T00:07:00Z"},
		{"0 0 29 2 *", "2026-01-01T00:00:00Z", "2028-02-29T00:00:00Z"},
		{"0 0 29 2 *", "2096-02-29T00:00:00Z", "2104-02-29T00:00:00Z"},
		{"0 0 31 * *", "2026-01-31T00:00:00Z", "2026-03-31T00:00:00Z"},
		// 15 November 2026 is a Sunday.
		{"0 0 * * 0", "2026-11-10T00:00:00Z", "2026-11-15T00:00:00Z"},
		{"0 0 * * 7", "2026-11-10T00:00:00Z", "2026-11-15T00:00:00Z"},
		{"0 0 * * sun", "2026-11-10T00:00:00Z", "2026-11-15T00:00:00Z"},
		{"0 0 * * 6-7", "2026-11-14T00:00:00Z", "2026-11-15T00:00:00Z"},
		{"0 0 * * */7", "2026-11-10T00:00:00Z", "2026-11-15T00:00:00Z"},
		{"0 0 * * MON/3", "2026-11-12T00:00:00Z", "2026-11-15T00:00:00Z"},
		// Either day field is enough when neither starts with *.
		{"0 0 13 * 5", "2026-11-01T00:00:00Z", "2026-11-06T00:00:00Z"},
		{"0 0 13 * 5", "2026-09-11T00:00:00Z", "2026-09-13T00:00:00Z"},
		{"0 0 1,* * 5", "2026-11-01T00:00:00Z", "2026-11-02T00:00:00Z"},
		// Both must hold when one starts with *, restricted or not.
		{"0 0 */2 * MON", "2026-11-01T00:00:00Z", "2026-11-09T00:00:00Z"},
		{"0 0 13 * */5", "2026-11-01T00:00:00Z", "2026-11-13T00:00:00Z"},
		{"0 0 *,13 * 5", "2026-11-01T00:00:00Z", "2026-11-06T00:00:00Z"},
		// The 29th of February on a Sunday, across the year 2100, which has none.
		{"0 0 29 2 */7", "2080-01-01T00:00:00Z", "2088-02-29T00:00:00Z"},
		{"0 0 29 2 */7", "2088-02-29T00:00:00Z", "2128-02-29T00:00:00Z"},
		// What cannot be on its own can be with the other day field.
		{"0 0 30 2 1", "2026-01-01T00:00:00Z", "2026-02-02T00:00:00Z"},
	} {
		t.Run(fmt.Sprintf("%.40q %.40q", c.expr, c.after), func(t *testing.T) {
			next, ok := parsed(t, c.expr).Next(instant(t, c.after))
			if got := next.Format(time.RFC3339Nano); !ok || got != c.want {
				t.Errorf("%q after %s: %s, want %s", c.expr, c.after, got, c.want)
			}
		})
	}
}

func TestSchedule_Latest(t *testing.T) {
	for _, c := range []struct{ expr, until, want string }{
		{"* * * * *", "2026-01-01T00:00:59.999999Z", "2026-01-01T00:00:00Z"},
		{"30 * * * *", "2026-01-01T00:29:59Z", "2025-12-31T23:30:00Z"},
		{"0 12 * * *", "2026-06-01T13:30:00+02:00", "2026-05-31T12:00:00Z"},
		{"0 12 1 3 *", "2026-02-28T00:00:00Z", "2025-03-01T12:00:00Z"},
		{"0 0 31 * *", "2026-03-30T00:00:00Z", "2026-01-31T00:00:00Z"},
		{"0 0 29 2 */7", "2128-02-28T00:00:00Z", "2088-02-29T00:00:00Z"},
	} {
		t.Run(c.expr, func(t *testing.T) {
			last, ok := parsed(t, c.expr).Latest(instant(t, c.until))
			if got := last.Format(time.RFC3339Nano); !ok || got != c.want {
				t.Errorf("%q up to %s: %s, want %s", c.expr, c.until, got, c.want)
			}
		})
	}
}

func TestSchedule_ZeroNeverFires(t *testing.T) {
	var zero cron.Schedule
	if next, ok := zero.Next(time.Now()); ok {
		t.Errorf("it fires at %v", next)
	}
	if last, ok := zero.Latest(time.Now()); ok {
		t.Errorf("it fired at %v", last)
	}
}

func TestSchedule_LastYear(t *testing.T) {
	every := parsed(t, "59 23 * * *")
	if next, ok := every.Next(instant(t, "9999-12-31T23:58:00Z")); !ok || next.Year() != 9999 {
		t.Errorf("the last minute: %v, %v", next, ok)
	}
	if next, ok := every.Next(instant(t, "9999-12-31T23:59:00Z")); ok {
		t.Errorf("it fires at %v", next)
	}
}

func TestSchedule_EqualInOtherWords(t *testing.T) {
	if parsed(t, "0,30 * * jan-mar SUN") != parsed(t, "*/30 0-23 * 1,2,3 7") {
		t.Error("they differ")
	}
}
