package main

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"

	unleash "github.com/Unleash/unleash-go-sdk/v5"
	unleashcontext "github.com/Unleash/unleash-go-sdk/v5/context"
)

// unleashExport is the export from which the server would compute features for SDKs.
type unleashExport struct {
	Features     []map[string]any `json:"features"`
	Strategies   []map[string]any `json:"featureStrategies"`
	Environments []struct {
		Feature string `json:"featureName"`
		Enabled bool   `json:"enabled"`
	} `json:"featureEnvironments"`
	Segments         []map[string]any `json:"segments"`
	StrategySegments []struct {
		Strategy string `json:"featureStrategyId"`
		Segment  any    `json:"segmentId"`
	} `json:"featureStrategySegments"`
	Dependencies []struct {
		Feature      string `json:"feature"`
		Dependencies []any  `json:"dependencies"`
	} `json:"dependencies"`
}

// openUnleash serves the features of an export to Unleash's client.
func openUnleash(_ context.Context, export []byte) (evaluator, error) {
	var file unleashExport
	if err := json.Unmarshal(export, &file); err != nil {
		return nil, err
	}
	file.join()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_ = json.NewEncoder(w).Encode(map[string]any{"version": 2, "features": file.Features, "segments": file.Segments})
	}))
	defer server.Close()
	backup, err := os.MkdirTemp("", "parity")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(backup)
	client, err := unleash.NewClient(unleash.WithAppName("parity"), unleash.WithUrl(server.URL), unleash.WithDisableMetrics(true),
		unleash.WithBackupPath(backup))
	if err != nil {
		return nil, err
	}
	client.WaitForReady()
	return func(user attributes) (map[string]any, error) {
		given := unleashcontext.Context{Properties: map[string]string{}}
		for name, value := range user {
			switch name {
			case "key":
				given.UserId = value.(string)
			case "sessionId":
				given.SessionId = value.(string)
			default:
				given.Properties[name] = value.(string)
			}
		}
		values := map[string]any{}
		for _, feature := range file.Features {
			name := feature["name"].(string)
			values[name] = client.IsEnabled(name, unleash.WithContext(given))
		}
		return values, nil
	}, nil
}

// join puts strategies, segments and dependencies into the features, where exports of the first version have them already.
func (e *unleashExport) join() {
	if len(e.Environments) == 0 {
		return
	}
	for _, feature := range e.Features {
		name := feature["name"]
		strategies := []any{}
		for _, each := range e.Strategies {
			if each["featureName"] == name {
				strategies = append(strategies, e.strategy(each))
			}
		}
		feature["strategies"] = strategies
		for _, each := range e.Environments {
			if each.Feature == name {
				feature["enabled"] = each.Enabled
			}
		}
		for _, each := range e.Dependencies {
			if each.Feature == name {
				feature["dependencies"] = each.Dependencies
			}
		}
	}
}

// strategy returns the members of a strategy that clients get. The other members have types that clients cannot read.
func (e *unleashExport) strategy(from map[string]any) map[string]any {
	name, _ := from["name"].(string)
	old, _ := from["strategyName"].(string)
	segments, _ := from["segments"].([]any)
	for _, each := range e.StrategySegments {
		if each.Strategy == from["id"] {
			segments = append(segments, each.Segment)
		}
	}
	return map[string]any{"name": cmp.Or(name, old), "parameters": from["parameters"], "constraints": from["constraints"], "segments": segments}
}
