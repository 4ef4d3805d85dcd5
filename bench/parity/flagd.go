package main

import (
	"context"
	"encoding/json"

	flagd "github.com/open-feature/flagd/core/pkg/evaluator"
	"github.com/open-feature/flagd/core/pkg/logger"
	"github.com/open-feature/flagd/core/pkg/model"
	"github.com/open-feature/flagd/core/pkg/store"
	"github.com/open-feature/flagd/core/pkg/sync"
	"go.uber.org/zap"
)

func openFlagd(ctx context.Context, export []byte) (evaluator, error) {
	quiet := logger.NewLogger(zap.NewNop(), false)
	flags, err := store.NewStore(quiet, []string{"export"})
	if err != nil {
		return nil, err
	}
	resolver := flagd.NewJSON(quiet, flags)
	if err := resolver.SetState(sync.DataSync{FlagData: string(export), Source: "export"}); err != nil {
		return nil, err
	}
	var file struct{ Flags map[string]any }
	if err := json.Unmarshal(export, &file); err != nil {
		return nil, err
	}
	return func(user attributes) (map[string]any, error) {
		values, given := map[string]any{}, plain(user).(map[string]any)
		given["targetingKey"] = given["key"]
		delete(given, "key")
		for key := range file.Flags {
			if got := resolver.ResolveAsAnyValue(ctx, "", key, given); got.Error == nil && got.Reason != model.DisabledReason {
				values[key] = got.Value
			}
		}
		return values, nil
	}, nil
}
