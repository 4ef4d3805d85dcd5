package main

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"maps"
	"os"
	"os/exec"
	"strings"
)

type fliptFlag struct {
	Key      string `json:"key"`
	Type     string `json:"type"`
	Enabled  bool   `json:"enabled"`
	Variants []struct {
		Key     string `json:"key"`
		Default bool   `json:"default"`
	} `json:"variants"`
	Rules []struct {
		Segment       any `json:"segment"`
		Distributions []struct {
			Variant string  `json:"variant"`
			Rollout float64 `json:"rollout"`
		} `json:"distributions"`
	} `json:"rules"`
	Rollouts []struct {
		Segment *struct {
			Key   string `json:"key"`
			Value bool   `json:"value"`
		} `json:"segment"`
		Threshold any `json:"threshold"`
	} `json:"rollouts"`
}

type fliptSegment struct {
	Key         string              `json:"key"`
	MatchType   string              `json:"match_type"`
	Constraints []map[string]string `json:"constraints"`
}

// object is an object in the documents that Flipt's server sends to its clients.
type object = map[string]any

// openFlipt runs Flipt's client in Node.js and gives it the export as if its server had sent it.
func openFlipt(ctx context.Context, export []byte) (evaluator, error) {
	var file struct {
		Flags    []fliptFlag    `json:"flags"`
		Segments []fliptSegment `json:"segments"`
	}
	if err := json.Unmarshal(export, &file); err != nil {
		return nil, err
	}
	segments := object{}
	for _, each := range file.Segments {
		segments[each.Key] = each.sent()
	}
	flags := []object{}
	for _, each := range file.Flags {
		flags = append(flags, each.sent(segments))
	}
	ask, err := startNode(ctx)
	if err != nil {
		return nil, err
	}
	if _, err := ask(object{"namespace": object{"key": "default"}, "flags": flags}); err != nil {
		return nil, err
	}
	return func(user attributes) (map[string]any, error) {
		given := maps.Clone(user)
		delete(given, "key")
		return ask(object{"entityId": user["key"], "context": given})
	}, nil
}

// startNode starts the script, which answers every line with a line.
func startNode(ctx context.Context) (ask func(any) (object, error), err error) {
	command := exec.CommandContext(ctx, "node", "evaluate.mjs")
	command.Dir = "flipt"
	command.Stderr = os.Stderr
	in, err := command.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	lines := bufio.NewReader(out)
	return func(question any) (object, error) {
		if err := json.NewEncoder(in).Encode(question); err != nil {
			return nil, err
		}
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return nil, io.ErrUnexpectedEOF
		}
		var answer object
		return answer, json.Unmarshal(line, &answer)
	}, command.Start()
}

// sent returns a flag as the server sends it, where the names of types differ from those in an export.
func (f fliptFlag) sent(segments object) object {
	made := object{"key": f.Key, "name": f.Key, "type": f.Type, "enabled": f.Enabled}
	for _, each := range f.Variants {
		if each.Default {
			made["defaultVariant"] = object{"id": each.Key, "key": each.Key}
		}
	}
	rules, rollouts := []object{}, []object{}
	for _, each := range f.Rules {
		distributions := []object{}
		for _, share := range each.Distributions {
			distributions = append(distributions, object{"variantKey": share.Variant, "rollout": share.Rollout})
		}
		rule := fliptNamed(each.Segment, segments)
		rule["distributions"] = distributions
		rules = append(rules, rule)
	}
	for _, each := range f.Rollouts {
		if each.Segment == nil {
			rollouts = append(rollouts, object{"threshold": each.Threshold})
			continue
		}
		segment := fliptNamed(each.Segment.Key, segments)
		segment["value"] = each.Segment.Value
		rollouts = append(rollouts, object{"segment": segment})
	}
	made["rules"], made["rollouts"] = rules, rollouts
	return made
}

// fliptNamed returns segments that are named by a key, or by keys and an operator.
func fliptNamed(named any, segments object) object {
	keys, operator := []any{named}, any("OR_SEGMENT_OPERATOR")
	if several, is := named.(object); is {
		keys, operator = several["keys"].([]any), several["operator"]
	}
	list := []any{}
	for _, key := range keys {
		list = append(list, segments[key.(string)])
	}
	return object{"segments": list, "segmentOperator": operator}
}

func (f fliptSegment) sent() object {
	constraints := []object{}
	for _, each := range f.Constraints {
		constraints = append(constraints, object{"type": strings.Replace(each["type"], "_COMPARISON", "_CONSTRAINT_COMPARISON", 1),
			"property": each["property"], "operator": each["operator"], "value": each["value"]})
	}
	return object{"key": f.Key, "matchType": strings.Replace(f.MatchType, "_MATCH", "_SEGMENT_MATCH", 1), "constraints": constraints}
}
