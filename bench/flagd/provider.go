package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/go-logr/logr"
	schema "github.com/open-feature/flagd-schemas/json"
	flagd "github.com/open-feature/go-sdk-contrib/providers/flagd/pkg"
	"github.com/open-feature/go-sdk/openfeature"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// provide is Go's provider: it prints the values of all flags for all contexts, and then each value of the watched flag. The
// programs of the other languages do the same.
func provide(ctx context.Context, arguments []string) error {
	port, err := strconv.ParseUint(arguments[1], 10, 16)
	if err != nil {
		return err
	}
	provider, err := flagd.NewProvider(flagd.FromEnv(), flagd.WithInProcessResolver(), flagd.WithHost(arguments[0]), flagd.WithPort(uint16(port)), flagd.WithSelector(arguments[2]),
		flagd.WithDeadline(60_000), flagd.WithLogger(logr.Discard()))
	if err != nil {
		return err
	}
	if err := openfeature.SetProviderAndWait(provider); err != nil {
		return err
	}
	client := openfeature.NewClient("check")
	text, err := os.ReadFile(arguments[3])
	if err != nil {
		return err
	}
	var asked cases
	if err := json.Unmarshal(text, &asked); err != nil {
		return err
	}
	var all []map[string]any
	for _, given := range asked.Contexts {
		attributes := maps.Clone(given)
		key, _ := attributes["targetingKey"].(string)
		delete(attributes, "targetingKey")
		at, values := openfeature.NewEvaluationContext(key, attributes), map[string]any{}
		for flag, of := range asked.Flags {
			values[flag] = value(ctx, client, strings.TrimSuffix(of, " SPLIT"), flag, at)
		}
		all = append(all, values)
	}
	if err := json.NewEncoder(os.Stdout).Encode(all); err != nil {
		return err
	}
	for last := -1.0; ctx.Err() == nil; time.Sleep(2 * time.Millisecond) {
		if now := client.Float(ctx, clock, -1, openfeature.EvaluationContext{}); now != last {
			last = now
			fmt.Println(int(now))
		}
	}
	return nil
}

func value(ctx context.Context, client *openfeature.Client, of, flag string, at openfeature.EvaluationContext) any {
	switch of {
	case "BOOLEAN":
		return client.Boolean(ctx, flag, false, at)
	case "STRING":
		return client.String(ctx, flag, "?", at)
	case "NUMERIC":
		return client.Float(ctx, flag, -99, at)
	}
	return client.Object(ctx, flag, nil, at)
}

// validate checks a document against the schemas that flagd publishes.
func validate(text []byte) error {
	const base = "https://flagd.dev/schema/v0/"
	compiler := jsonschema.NewCompiler()
	for name, source := range map[string]string{"flagd.json": schema.FlagdSchema, "flags.json": schema.FlagSchema, "targeting.json": schema.TargetingSchema} {
		parsed, err := jsonschema.UnmarshalJSON(strings.NewReader(source))
		if err == nil {
			err = compiler.AddResource(base+name, parsed)
		}
		if err != nil {
			return err
		}
	}
	document, err := jsonschema.UnmarshalJSON(strings.NewReader(string(text)))
	for _, name := range []string{"flagd.json", "flags.json"} {
		compiled, failed := compiler.Compile(base + name)
		if failed == nil {
			failed = compiled.Validate(document)
		}
		err = errors.Join(err, failed)
	}
	return err
}
