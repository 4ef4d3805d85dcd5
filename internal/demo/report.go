package demo

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"github.com/signalbox/signalbox/client/flageval"
)

// program is one of the three programs of the demo.
type program struct {
	name, environment string
}

func programs() []program {
	return []program{{"checkout", "production"}, {"catalog", "production"}, {"mailer", "staging"}}
}

const (
	// silent is a service that has not reported for silentFor.
	silent    = "warehouse-sync"
	silentFor = age(9 * day)
)

// environmentsOf returns the environments in which a service runs.
func environmentsOf(service string) []string {
	if service == silent {
		return []string{"production"}
	}
	return []string{"development", "staging", "production"}
}

// loggersOf returns the names of a service's loggers.
func loggersOf(service string) (names []string) {
	text, err := data.ReadFile("data/" + service + ".txt")
	if err != nil {
		panic(err) // the file is embedded, so this is a programming error
	}
	return strings.Fields(string(text))
}

// declaration is a flag that the code of a service declares.
type declaration struct {
	ID      string          `json:"id"`
	Type    flageval.Type   `json:"type"`
	Default json.RawMessage `json:"default"`
	Service string          `json:"service"`
	// Since is when the service first declared the flag. Evaluated is when it last evaluated the flag.
	Since     age `json:"since"`
	Evaluated age `json:"evaluated"`
	// Always marks flags that the running program evaluates for every customer.
	Always bool `json:"always"`
}

// declarations returns the flags that all services declare.
func declarations() []declaration { return read[[]declaration]("declarations.json") }

// reports returns the reports of the services as events.
func (h *history) reports() []event {
	running := make([]string, len(programs()))
	for i, each := range programs() {
		running[i] = each.name
	}
	atInfo := func(string, string) string { return "INFO" }
	events := []event{
		{age(88 * day), h.introduce},
		{age(88 * day), func(ctx context.Context) error { return h.report(ctx, append(running, silent), atInfo) }},
		{silentFor, func(ctx context.Context) error { return h.report(ctx, []string{silent}, atInfo) }},
		{age(time.Minute), func(ctx context.Context) error { return h.confirm(ctx, running) }},
	}
	for _, each := range declarations() {
		events = append(events,
			event{each.Since, func(ctx context.Context) error { return h.declare(ctx, each) }},
			event{each.Evaluated, func(ctx context.Context) error { return h.evaluate(ctx, each) }})
	}
	return events
}

// introduce reports the services and their contexts.
func (h *history) introduce(ctx context.Context) error {
	contexts := []map[string]any{{"type": "service", "key": silent}}
	for _, each := range programs() {
		contexts = append(contexts, map[string]any{"type": "service", "key": each.name})
	}
	for _, each := range customers() {
		contexts = append(contexts, map[string]any{"type": "user", "key": each.key, "attributes": map[string]any{"plan": each.plan, "country": each.country}})
	}
	_, err := h.keys["services"].request(ctx, http.MethodPost, "contexts/bulk", map[string]any{"contexts": contexts})
	return err
}

// confirm reports that services use the levels that Signalbox set.
func (h *history) confirm(ctx context.Context, services []string) error {
	response, err := h.keys["services"].request(ctx, http.MethodGet, "loggers?page[size]=1000", nil)
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
	return h.report(ctx, services, func(logger, environment string) string { return cmp.Or(levels[logger+" "+environment], "INFO") })
}

// report reports every logger of services with its current level.
func (h *history) report(ctx context.Context, services []string, level func(logger, environment string) string) error {
	var loggers []map[string]any
	for _, service := range services {
		for _, environment := range environmentsOf(service) {
			for _, name := range loggersOf(service) {
				loggers = append(loggers, map[string]any{"id": name, "level": nil, "resolved_level": level(name, environment),
					"service": service, "environment": environment})
			}
		}
	}
	_, err := h.keys["services"].request(ctx, http.MethodPost, "loggers/bulk", map[string]any{"loggers": loggers})
	return err
}

// declare reports that a service declares a flag.
func (h *history) declare(ctx context.Context, d declaration) error {
	var flags []map[string]any
	for _, environment := range environmentsOf(d.Service) {
		flags = append(flags, map[string]any{"id": d.ID, "type": d.Type, "default": d.Default, "service": d.Service, "environment": environment})
	}
	_, err := h.keys["services"].request(ctx, http.MethodPost, "flags/bulk", map[string]any{"flags": flags})
	return err
}

// evaluate reports that a service evaluated a flag, as client/live does every minute.
func (h *history) evaluate(ctx context.Context, d declaration) error {
	if err := h.declare(ctx, d); err != nil {
		return err
	}
	counted := map[string]any{"name": "flags.evaluations", "unit": "evaluations", "value": 1 + h.chance.IntN(200), "period_seconds": 60,
		"recorded_at": h.clock.Now(),
		"dimensions":  map[string]string{"flag": d.ID, "value": strings.Trim(string(d.Default), `"`), "environment": "production"}}
	metric := map[string]any{"type": "metric", "attributes": counted}
	_, err := h.keys["services"].request(ctx, http.MethodPost, "metrics/bulk", map[string]any{"data": []any{metric}})
	return err
}

// customer is an imaginary customer of the programs.
type customer struct{ key, plan, country string }

func customers() []customer {
	return []customer{
		{"alice", "pro", "SE"}, {"bob", "free", "DE"}, {"carol", "team", "US"}, {"dmitri", "free", "EE"},
		{"emily", "pro", "GB"}, {"farid", "team", "FR"}, {"grace", "free", "US"}, {"hiro", "pro", "JP"},
	}
}
