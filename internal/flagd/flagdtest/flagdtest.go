// Package flagdtest makes random flags and contexts, with which tests compare providers of flagd with the server.
package flagdtest

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"

	"github.com/signalbox/signalbox/client/flageval"
	"github.com/signalbox/signalbox/internal/flagd"
)

// Random makes the same flags and contexts for the same seed.
type Random struct{ *rand.Rand }

// New returns a source of flags and contexts.
func New(seed uint64) Random { return Random{rand.New(rand.NewPCG(seed, 62))} } //nolint:gosec // it is to be the same every time

// object is a rule or a context.
type object = map[string]any

func one[T any](r Random, list ...T) T { return list[r.IntN(len(list))] }

// Flag makes a flag with up to three rules. It has percentages only if percentages is set, because not every provider hashes
// like the server.
func (r Random) Flag(key string, percentages bool) flagd.Flag {
	of := one(r, flageval.Boolean, flageval.String, flageval.Numeric, flageval.JSON)
	made := flagd.Flag{Key: key, Type: of, Default: r.value(of)}
	made.Enabled = r.IntN(12) > 0
	if r.IntN(3) == 0 {
		made.Environment.Default = r.value(of)
	}
	rules := ruler{r, percentages}
	for range r.IntN(4) {
		made.Rules = append(made.Rules, flageval.Rule{Logic: encode(rules.rule(3)), Value: r.value(of)})
	}
	return made
}

func (r Random) value(of flageval.Type) json.RawMessage {
	switch of {
	case flageval.Boolean:
		return encode(one(r, true, false))
	case flageval.String:
		return encode(one(r, "red", "green", "blue", "", "größe", `a "quoted" one`, "<b>", "null", "true"))
	case flageval.Numeric:
		return encode(one[any](r, 0, 1, 2, -3, 0.5, 1e6, 12345678901))
	case flageval.JSON:
	}
	return encode(object{"size": r.IntN(4), "tags": []any{"a", r.IntN(2)}, "deep": object{"on": one(r, true, false)}})
}

// Context makes the attributes of a context. Each is absent or of the type that rules compare it with.
func (r Random) Context() map[string]any {
	made, user, tenant := object{}, object{}, object{}
	if r.IntN(8) > 0 {
		made["targetingKey"] = fmt.Sprint("user-", r.IntN(50))
	}
	for _, attribute := range attributes() {
		switch where := r.IntN(5); {
		case where < 2:
			made[attribute.name] = attribute.value(r)
		case where == 2:
			user[attribute.name] = attribute.value(r)
		}
	}
	if r.IntN(2) == 0 {
		tenant["plan"] = one(r, "free", "pro")
		tenant["seats"] = r.IntN(100)
	}
	if r.IntN(20) == 0 {
		user["key"] = fmt.Sprint("user-", r.IntN(50))
	}
	if len(user) > 0 || r.IntN(3) == 0 {
		made["user"] = user
	}
	if len(tenant) > 0 {
		made["tenant"] = tenant
	}
	return made
}

// attribute is an attribute of the user.
type attribute struct {
	name  string
	value func(Random) any
}

func attributes() []attribute {
	return []attribute{
		{"plan", func(r Random) any { return one(r, "free", "pro", "enterprise", "", "7") }},
		{"country", func(r Random) any { return one(r, "US", "DE", "NO", "Österreich") }},
		{"email", func(r Random) any { return one(r, "ada@example.com", "bob@example.com", "x@example.com.evil.test", "") }},
		{"version", func(r Random) any { return one(r, "1.9.0", "2.0.0", "2.0.1", "2.1.0-beta.1", "10.0.0", "2.0.0+5") }},
		{"age", func(r Random) any { return one(r, 0, 7, 17, 18, 42, 99, -1) }},
		{"score", func(r Random) any { return one(r, 0, 0.5, 1.5, -2.25, 100) }},
		{"beta", func(r Random) any { return one(r, true, false) }},
		{"staff", func(r Random) any { return one(r, true, false) }},
		{"groups", func(r Random) any { return one(r, []any{"staff"}, []any{"beta", "staff"}, []any{}, []any{"sales", ""}) }},
		{"ids", func(r Random) any { return one(r, []any{1, 2}, []any{0}, []any{}, []any{7, 42, 99}) }},
	}
}

// ServerContext returns a context as the server reads it over OFREP.
func ServerContext(sent map[string]any) map[string]any {
	made, user := object{}, object{}
	if key, has := sent["targetingKey"]; has {
		made["targetingKey"], user["key"] = key, key
	}
	for name, value := range sent {
		if nested, is := value.(map[string]any); is {
			made[name] = nested
		} else if name != "targetingKey" {
			user[name] = value
		}
	}
	if given, is := sent["user"].(map[string]any); is {
		maps.Copy(user, given)
	}
	made["user"] = user
	return made
}

func encode(value any) json.RawMessage {
	text, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	return text
}
