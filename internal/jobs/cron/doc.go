// Package cron parses cron expressions as Debian's cron does and computes when they fire. All instants are UTC.
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
// # Time zones
//
// Schedule.In reads the fields as local times of a zone. Changes of the clock are treated by Debian cron's rule:
//
//   - If neither the minute nor the hour field starts with *, the schedule is of the wall clock. Each local time fires once: a
//     repeated one at its first occurrence, and a skipped one at the first instant after the jump. In other words, a local time
//     fires when the clock first shows it or a later time (FirstAt). Local times in the same jump fire together, once.
//   - Any other schedule follows elapsed time. It fires at every instant whose local time matches: in both passes of a repeated
//     hour, and never in a skipped one.
//
// testdata/zones.tsv has fire times around changes of the clock from an independent model.
//
// # Errors
//
// Text after a number and extra fields, which cron ignores, are errors here. So are @daily, ?, L, W, #, zones within an expression, and
// expressions that never fire, such as one for February 30.
package cron
