// Command parity records what the evaluators of other products answer for the exports in internal/imports/testdata/parity, so
// that our tests can compare an imported flag with these answers and do not need the other products' libraries. It needs Node.js for Flipt,
// whose evaluator is WebAssembly. make parity runs it.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
)

// product is a product with its own evaluator.
type product struct {
	export string // the name of the file, without .json
	// source says which evaluator the answers are from.
	source string
	// texts reports whether the product's contexts can only have texts.
	texts bool
	// open returns an evaluator of the flags of an export.
	open func(ctx context.Context, export []byte) (evaluator, error)
}

// evaluator returns the values of flags for a context. A flag that it cannot evaluate has no value.
type evaluator func(user attributes) (map[string]any, error)

func products() []product {
	return []product{
		{"launchdarkly", "github.com/launchdarkly/go-server-sdk-evaluation/v3 v3.0.1", false, openLaunchDarkly},
		{"unleash", "github.com/Unleash/unleash-go-sdk/v5 v5.0.3", true, openUnleash},
		{"unleash-state", "github.com/Unleash/unleash-go-sdk/v5 v5.0.3", true, openUnleash},
		{"unleash-first", "github.com/Unleash/unleash-go-sdk/v5 v5.0.3", true, openUnleash},
		{"flagd", "github.com/open-feature/flagd/core v0.16.0", false, openFlagd},
		{"growthbook", "github.com/growthbook/growthbook-golang v0.6.0", false, openGrowthBook},
		{"flipt", "@flipt-io/flipt-client-js 0.5.1", true, openFlipt},
	}
}

// recording is the content of a file of answers.
type recording struct {
	Source string   `json:"source"`
	Texts  bool     `json:"texts"`
	Cases  []answer `json:"cases"`
}

// answer has the values of all flags for a context. A flag whose name starts with spread- has several values, of which
// a context with these attributes gets one by its hash.
type answer struct {
	Context attributes       `json:"context"`
	Values  map[string][]any `json:"values"`
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, filepath.Join("..", "..", "internal", "imports", "testdata", "parity"), os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "parity:", err)
		os.Exit(1) //nolint:gocritic // nothing is running any more
	}
}

// run records the answers of all products, or of those that are named.
func run(ctx context.Context, dir string, names []string) error {
	for _, each := range products() {
		if len(names) > 0 && !strings.Contains(" "+strings.Join(names, " ")+" ", " "+each.export+" ") {
			continue
		}
		if err := each.record(ctx, dir); err != nil {
			return fmt.Errorf("%s: %w", each.export, err)
		}
	}
	return nil
}

func (p product) record(ctx context.Context, dir string) error {
	export, err := os.ReadFile(filepath.Join(dir, p.export+".json"))
	if err != nil {
		return err
	}
	evaluate, err := p.open(ctx, export)
	if err != nil {
		return err
	}
	made := recording{Source: p.source, Texts: p.texts}
	for _, user := range contexts(p.texts) {
		values, err := p.ask(evaluate, user)
		if err != nil {
			return err
		}
		made.Cases = append(made.Cases, answer{user, values})
	}
	return os.WriteFile(filepath.Join(dir, p.export+".answers.json"), made.encode(), 0o644) //nolint:gosec // everybody may read it
}

// ask returns the values for a context: one of every flag, and several of a flag that is spread.
func (p product) ask(evaluate evaluator, user attributes) (map[string][]any, error) {
	values := map[string][]any{}
	for _, like := range append([]attributes{user}, user.alike()...) {
		if p.texts {
			like = like.texts()
		}
		got, err := evaluate(like)
		if err != nil {
			return nil, err
		}
		for flag, value := range got {
			if len(values[flag]) == 0 || strings.HasPrefix(flag, "spread-") && !has(values[flag], value) {
				values[flag] = append(values[flag], value)
			}
		}
	}
	return values, nil
}

func has(values []any, value any) bool {
	for _, each := range values {
		if fmt.Sprint(each) == fmt.Sprint(value) {
			return true
		}
	}
	return false
}

// encode writes the recording with one line for each case.
func (r recording) encode() []byte {
	var text bytes.Buffer
	fmt.Fprintf(&text, "{\"source\": %q, \"texts\": %t, \"cases\": [\n", r.Source, r.Texts)
	for i, each := range r.Cases {
		line, err := json.Marshal(each)
		if err != nil {
			panic(err) // a value that was decoded from JSON can be encoded
		}
		text.Write(line)
		if i < len(r.Cases)-1 {
			text.WriteByte(',')
		}
		text.WriteByte('\n')
	}
	text.WriteString("]}\n")
	return text.Bytes()
}
