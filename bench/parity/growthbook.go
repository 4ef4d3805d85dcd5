package main

import (
	"context"
	"encoding/json"
	"log/slog"

	"github.com/growthbook/growthbook-golang"
)

func openGrowthBook(ctx context.Context, export []byte) (evaluator, error) {
	var file struct{ Features json.RawMessage }
	if err := json.Unmarshal(export, &file); err != nil {
		return nil, err
	}
	var features map[string]any
	if err := json.Unmarshal(file.Features, &features); err != nil {
		return nil, err
	}
	client, err := growthbook.NewClient(ctx, growthbook.WithJsonFeatures(string(file.Features)), growthbook.WithLogger(slog.New(slog.DiscardHandler)))
	if err != nil {
		return nil, err
	}
	return func(user attributes) (map[string]any, error) {
		given := plain(user).(map[string]any)
		given["id"] = given["key"]
		delete(given, "key")
		own, err := client.WithAttributes(given)
		if err != nil {
			return nil, err
		}
		values := map[string]any{}
		for key := range features {
			values[key] = own.EvalFeature(ctx, key).Value
		}
		return values, nil
	}, nil
}
