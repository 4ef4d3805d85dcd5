// Package cron parses cron expressions as Debian's cron does and computes when they fire. All instants are UTC and
// whole minutes.
//
//	schedule, err := cron.Parse("*/15 8-17 * * MON-FRI")
//	next, ok := schedule.Next(now)
//
// # The grammar
//
// An expression is minute (0–59), hour (0–23), day of month (1–31), month (1–12 or JAN–DEC) and day of week (0–7 or
// SUN–SAT; 0 and 7 are Sunday), separated by spaces or tabs. A field is a list, separated by commas, of
//
//	a, a-b, *        a value, a range, every value
//	a-b/n, */n, a/n  every nth of a range, of all values, and from a on
//
// A name in any case may replace a number, except a step. A range runs upward: SAT-SUN is refused, because SUN is 0;
// write 6-7.
//
// If either day field starts with *, a day must match both fields; otherwise one of them is enough. As in cron, only the
// first character decides: in "0 0 */2 * MON" both must match although */2 restricts; in "0 0 1,* * MON" one is enough.
//
// Text after a number and extra fields, which cron ignores, are errors here. So are @daily, ?, L, W, #, time zones, and
// expressions that never fire, such as one for February 30.
package cron
