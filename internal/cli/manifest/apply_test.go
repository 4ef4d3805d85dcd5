package manifest_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	signalbox "github.com/signalbox/signalbox/client"
	"github.com/signalbox/signalbox/internal/cli/manifest"
)

// oneOfEach has a resource of every kind. Each comes before the resources that it refers to.
const oneOfEach = `
- {kind: job, id: j}
- {kind: flag, id: f}
- {kind: config, id: c}
- {kind: logger, id: l}
- {kind: log_group, id: g}
- {kind: context_type, id: t}
- {kind: service, id: s}
- {kind: environment, id: e}
`

func TestApply_OrderOfNeed(t *testing.T) {
	t.Parallel()
	server := newServer(t)
	owned := manifest.Options{Owner: "me", Prune: true}
	server.apply(owned, read(t, oneOfEach)...)
	want := []string{"PUT settings", "POST environment:e", "POST service:s", "POST context_type:t", "POST log_group:g", "PUT logger:l", "POST config:c", "POST flag:f", "POST job:j"}
	if got := server.done(); !slices.Equal(got, want) {
		t.Errorf("it wrote %q", got)
	}
	server.apply(owned, read(t, oneOfEach)...)
	if got := server.done(); got != nil {
		t.Errorf("the second time it wrote %q", got)
	}
	server.apply(owned)
	want = []string{"DELETE job:j", "DELETE flag:f", "DELETE config:c", "PUT logger:l", "DELETE log_group:g", "DELETE context_type:t", "DELETE service:s", "DELETE environment:e", "PUT settings"}
	if got := server.done(); !slices.Equal(got, want) {
		t.Errorf("to prune all it wrote %q", got)
	}
	if released := string(server.encode(server.stored["logger:l"])); !strings.Contains(released, `"managed":false`) {
		t.Errorf("the logger is %s", released)
	}
}

// The server makes every new environment a managed one.
func TestApply_NewEnvironmentUnmanaged(t *testing.T) {
	t.Parallel()
	server := newServer(t)
	server.apply(manifest.Options{}, read(t, "- {kind: environment, id: a}\n- {kind: environment, id: b, managed: false}\n- {kind: environment, id: c, classification: AD_HOC}")...)
	got := server.done()
	slices.Sort(got) // they are written at once
	if want := []string{"POST environment:a", "POST environment:b", "POST environment:c", "PUT environment:b", "PUT environment:c"}; !slices.Equal(got, want) {
		t.Errorf("it wrote %q", got)
	}
}

// Changes of others between the plan and the write do not make an apply fail.
func TestApply_OthersWriteMeanwhile(t *testing.T) {
	t.Parallel()
	server := newServer(t)
	owned := manifest.Options{Owner: "me", Prune: true}
	server.apply(owned, read(t, "{kind: flag, id: old}")...)
	plan := server.plan(owned, read(t, "{kind: flag, id: new, default: 1}")...)
	server.done()
	server.put("flag", "new", `{"default":2}`)
	delete(server.stored, "flag:old")
	if written, err := plan.Apply(t.Context()); err != nil || written != 2 {
		t.Errorf("it wrote %d: %v", written, err)
	}
	if got, want := server.done(), []string{"PUT settings", "PUT flag:new", "PUT settings"}; !slices.Equal(got, want) {
		t.Errorf("it wrote %q", got)
	}
}

// needs makes a server refuse a config until others are there.
func needs(server *server, parents map[string]string) {
	server.refuse = func(asked write) []problem {
		if parent := parents[asked.ID]; parent != "" && server.stored["config:"+parent] == nil {
			return []problem{{signalbox.CodeValidation, "/data/attributes/parent", "there is no " + parent}}
		}
		return nil
	}
}

func TestApply_ConfigsUntilNoneSucceeds(t *testing.T) {
	t.Parallel()
	const text = "- {kind: config, id: c}\n- {kind: config, id: b}\n- {kind: config, id: a}\n- {kind: flag, id: f}"
	t.Run("in the end", func(t *testing.T) {
		t.Parallel()
		server := newServer(t)
		needs(server, map[string]string{"c": "b", "b": "a"})
		plan := server.plan(manifest.Options{}, read(t, text)...)
		if late := []bool{plan.Steps[0].Late, plan.Steps[1].Late, plan.Steps[2].Late}; !slices.Equal(late, []bool{true, true, false}) {
			t.Errorf("late are %v", late)
		}
		if shown := printed(plan); !strings.Contains(shown, "+ config c  (checked after the resources that it refers to are written)\n    + parent: \"common\"\n") {
			t.Errorf("it shows %s", shown)
		}
		if written, err := plan.Apply(t.Context()); err != nil || written != 4 {
			t.Errorf("it wrote %d: %v", written, err)
		}
	})
	t.Run("not all", func(t *testing.T) {
		t.Parallel()
		server := newServer(t)
		needs(server, map[string]string{"c": "b", "b": "nowhere"})
		written, err := server.plan(manifest.Options{}, read(t, text)...).Apply(t.Context())
		if written != 1 || err == nil || !strings.Contains(err.Error(), "the input:1: config c: ") || !strings.Contains(err.Error(), "there is no nowhere") {
			t.Errorf("it wrote %d: %v", written, err)
		}
		if got := server.done(); !slices.Equal(got, []string{"POST config:a"}) {
			t.Errorf("it wrote %q", got) // not the flag, which comes after them
		}
	})
}

// A plan after an interrupted one has only the steps that were not written.
func TestApply_Interrupted(t *testing.T) {
	t.Parallel()
	server := newServer(t)
	ctx, cancel := context.WithCancel(t.Context())
	server.refuse = func(asked write) []problem {
		if !asked.DryRun && asked.Kind == "logger" {
			cancel()
		}
		return nil
	}
	written, err := server.plan(manifest.Options{}, read(t, oneOfEach)...).Apply(ctx)
	if err == nil || err.Error() != "interrupted" || written != 5 { // the started write of the logger is completed
		t.Errorf("it wrote %d: %v", written, err)
	}
	server.refuse = nil
	rest := server.plan(manifest.Options{}, read(t, oneOfEach)...)
	if rest.Count(manifest.Keep) != 5 || rest.Count(manifest.Create) != 3 {
		t.Errorf("%d are the same and %d are to create", rest.Count(manifest.Keep), rest.Count(manifest.Create))
	}
}

// What was not started is one error, however many resources it is, and what was started is counted.
func TestApply_InterruptedStage(t *testing.T) {
	t.Parallel()
	server := newServer(t)
	ctx, cancel := context.WithCancel(t.Context())
	var text strings.Builder
	for i := range 40 {
		fmt.Fprintf(&text, "- {kind: flag, id: f%d}\n", i)
	}
	stored := 0
	server.refuse = func(asked write) []problem {
		if !asked.DryRun {
			if stored++; stored == 10 {
				cancel()
			}
		}
		return nil
	}
	written, err := server.plan(manifest.Options{}, read(t, text.String())...).Apply(ctx)
	if err == nil || err.Error() != "interrupted" || written < 10 || written == 40 {
		t.Errorf("it wrote %d: %v", written, err)
	}
	if written != stored {
		t.Errorf("it says %d of %d writes", written, stored)
	}
	if plan, err := manifest.New(ctx, server.client, nil, manifest.Options{}); plan != nil || err == nil {
		t.Errorf("an interrupted plan: %v", err)
	}
}
