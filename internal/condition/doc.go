// Package condition reads and writes the conditions of flag rules as people type them: user.plan in pro,team and
// user.age >= 18. What it cannot express is JSON Logic, which the commands take as well.
package condition
