// Package condition reads and writes the conditions of flag rules as people type them: user.plan in pro,team and
// user.age >= 18. For other conditions, the commands also accept JSON Logic.
package condition
