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
// Names are allowed in any case wherever a number is, except as a step. A range runs upwards: SAT-SUN is refused,
// because SUN is 0; write 6-7.
//
// If either day field starts with *, a day must match both; otherwise one of them is enough. Only the start decides, as
// it always has in cron: in "0 0 */2 * MON" both must match although */2 restricts, and in "0 0 1,* * MON" one is enough.
//
// What cron ignores (text after a number, more fields) is an error here, and so are @daily, ?, L, W, #, time zones, and
// an expression that never fires, such as one for the 30th of February.
package cron
