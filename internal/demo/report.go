package demo

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"strings"
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

// discover reports what the three programs have in every environment, with the contexts that they met.
func (v *visitor) discover(ctx context.Context) error {
	if err := v.report(ctx, func(string, string) string { return "INFO" }); err != nil {
		return err
	}
	contexts := make([]map[string]any, len(customers()))
	for i, each := range customers() {
		contexts[i] = map[string]any{"type": "user", "key": each.key, "attributes": map[string]any{"plan": each.plan, "country": each.country}}
	}
	_, err := v.request(ctx, http.MethodPost, "contexts/bulk", map[string]any{"contexts": contexts})
	return err
}

// confirm reports that programs use the levels that they were told to.
func (v *visitor) confirm(ctx context.Context) error {
	response, err := v.request(ctx, http.MethodGet, "loggers?page[size]=1000", nil)
	if err != nil {
		return err
	}
	var found struct {
		Data []struct {
			ID         string `json:"id"`
			Attributes struct {
				Resolved map[string]struct {
					Level string `json:"level"`
				} `json:"resolved"`
			} `json:"attributes"`
		} `json:"data"`
	}
	if err := json.NewDecoder(response.Body).Decode(&found); err != nil {
		return err
	}
	levels := map[string]string{}
	for _, logger := range found.Data {
		for environment, resolved := range logger.Attributes.Resolved {
			levels[logger.ID+" "+environment] = resolved.Level
		}
	}
	return v.report(ctx, func(logger, environment string) string { return cmp.Or(levels[logger+" "+environment], "INFO") })
}

// report reports every logger of every program with the level that it uses.
func (v *visitor) report(ctx context.Context, level func(logger, environment string) string) error {
	var loggers []map[string]any
	for _, program := range programs() {
		for _, environment := range []string{"development", "staging", "production"} {
			for _, name := range loggersOf(program.name) {
				loggers = append(loggers, map[string]any{"id": name, "level": nil, "resolved_level": level(name, environment),
					"service": program.name, "environment": environment})
			}
		}
	}
	_, err := v.request(ctx, http.MethodPost, "loggers/bulk", map[string]any{"loggers": loggers})
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
