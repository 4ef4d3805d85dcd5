package demo

import (
	"context"
	"net/http"
	"strings"
	"time"
)

// program is one of the three programs of the demo.
type program struct {
	name, environment string
}

func programs() []program {
	return []program{{"checkout", "production"}, {"catalogue", "production"}, {"mailer", "staging"}}
}

// loggersOf returns the names of a program's loggers.
func loggersOf(program string) (names []string) {
	text, err := data.ReadFile("data/" + program + ".txt")
	if err != nil {
		panic(err) // it is embedded
	}
	return strings.Fields(string(text))
}

// report tells the server what programs reported that do not run here: the same services in other environments, with the
// contexts that they met.
func (v *visitor) report(ctx context.Context, now time.Time) error {
	v.clock.set(now.Add(-month))
	var loggers []map[string]any
	for _, program := range programs() {
		for _, environment := range []string{"development", "staging", "production"} {
			for _, name := range loggersOf(program.name) {
				loggers = append(loggers, map[string]any{"id": name, "level": "INFO", "service": program.name, "environment": environment})
			}
		}
	}
	if _, err := v.send(ctx, http.MethodPost, "loggers/bulk", map[string]any{"loggers": loggers}); err != nil {
		return err
	}
	contexts := make([]map[string]any, len(customers()))
	for i, each := range customers() {
		contexts[i] = map[string]any{"type": "user", "key": each.key, "attributes": map[string]any{"plan": each.plan, "country": each.country}}
	}
	_, err := v.send(ctx, http.MethodPost, "contexts/bulk", map[string]any{"contexts": contexts})
	return err
}

// customer is somebody whom the programs serve.
type customer struct{ key, plan, country string }

func customers() []customer {
	return []customer{
		{"alice", "pro", "SE"}, {"bob", "free", "DE"}, {"carol", "team", "US"}, {"dmitri", "free", "EE"},
		{"emily", "pro", "GB"}, {"farid", "team", "FR"}, {"grace", "free", "US"}, {"hiro", "pro", "JP"},
	}
}
