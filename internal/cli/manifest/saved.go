package manifest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	signalbox "github.com/signalbox/signalbox/client"
	"github.com/signalbox/signalbox/internal/cli/terminal"
)

// format is the version of plan files.
const format = 1

// Saved is a plan in a file: the account, the attributes to write, and the version of each resource when the plan was made.
// Secrets are references, as in files of resources.
type Saved struct {
	Format   int         `json:"signalbox_plan"`
	Account  string      `json:"account"`
	Owner    string      `json:"owner,omitempty"`
	Prune    bool        `json:"prune,omitempty"`
	TakeOver bool        `json:"take_over,omitempty"`
	Steps    []SavedStep `json:"steps"`
}

// SavedStep is one resource of a saved plan.
type SavedStep struct {
	Action string `json:"action"`
	Kind   string `json:"kind"`
	ID     string `json:"id"`
	Source string `json:"source"`
	// Version is the resource's version when the plan was made; "" if it did not exist.
	Version   string   `json:"version,omitempty"`
	Runtime   []string `json:"runtime,omitempty"`
	MovedFrom string   `json:"moved_from,omitempty"`
	// Attributes are the file's attributes; nil to delete the resource.
	Attributes attributes `json:"attributes"`
}

// name returns the word for an action.
func (a Action) name() string { return [...]string{"keep", "create", "change", "delete", "refuse"}[a] }

// Save returns a plan as a file.
func (p *Plan) Save(ctx context.Context) ([]byte, error) {
	account, err := p.client.Account.Get(ctx)
	if err != nil {
		return nil, err
	}
	saved := Saved{Format: format, Account: account.ID, Owner: p.options.Owner, Prune: p.options.Prune, TakeOver: p.options.TakeOver, Steps: []SavedStep{}}
	for _, step := range p.Steps {
		saved.Steps = append(saved.Steps, SavedStep{step.Action.name(), step.Kind, step.ID, step.Source, step.version, step.Runtime, step.MovedFrom, step.Attributes})
	}
	text, err := json.MarshalIndent(saved, "", "  ")
	return append(text, '\n'), err
}

// ReadSaved reads the file of a plan.
func ReadSaved(text []byte) (saved Saved, err error) {
	if err := json.Unmarshal(text, &saved); err != nil || saved.Format == 0 {
		return saved, errors.New("it is no plan that signalbox apply --plan has written; files of resources are applied with -f")
	}
	if saved.Format != format {
		return saved, fmt.Errorf("the plan has the format %d, and this program reads %d: make the plan again", saved.Format, format)
	}
	return saved, nil
}

// Renew makes the plan again, to be applied. It returns a conflict if a resource was changed since the plan was made.
// Of options, only Variable is used.
func (s Saved) Renew(ctx context.Context, client *signalbox.Client, options Options) (*Plan, error) {
	account, err := client.Account.Get(ctx)
	if err != nil {
		return nil, err
	}
	if account.ID != s.Account {
		return nil, terminal.Conflictf("the plan was made for the account %s, and this key is of the account %s", s.Account, account.ID)
	}
	options.Owner, options.Prune, options.TakeOver = s.Owner, s.Prune, s.TakeOver
	var resources []Resource
	for _, step := range s.Steps {
		if step.Attributes != nil {
			resources = append(resources, Resource{step.Kind, step.ID, step.Attributes, step.Runtime, step.MovedFrom, step.Source})
		}
	}
	plan, err := New(ctx, client, resources, options)
	if plan == nil {
		return nil, err
	}
	if moved := s.compare(plan); moved != nil {
		return nil, moved
	}
	plan.exact = true
	return plan, err
}

// compare returns an error for each resource that was changed after the plan was made.
func (s Saved) compare(now *Plan) error {
	var moved []error
	for _, before := range s.Steps {
		at := slices.IndexFunc(now.Steps, func(step *Step) bool { return step.Kind == before.Kind && step.ID == before.ID })
		version := ""
		if at >= 0 {
			version = now.Steps[at].version
		}
		if version != before.Version {
			moved = append(moved, changed(before.Kind+" "+before.ID, before.Version, version))
		}
	}
	for _, step := range now.Steps {
		if !slices.ContainsFunc(s.Steps, func(before SavedStep) bool { return step.Kind == before.Kind && step.ID == before.ID }) {
			moved = append(moved, terminal.Conflictf("%s came to the owner %s since the plan was made", step.label(), s.Owner))
		}
	}
	return errors.Join(moved...)
}

// changed returns an error about a resource that was changed after the plan was made.
func changed(label, before, now string) error {
	what := "was changed"
	switch {
	case before == "":
		what = "was created"
	case now == "":
		what = "was deleted"
	}
	return terminal.Conflictf("%s %s since the plan was made", label, what)
}

// version identifies the stored definition of a resource, without state that changes by itself. Not every key may read
// secrets, so they are left out; a job has a number that changes with its secrets, and a webhook a time.
func version(kind string, stored attributes) string {
	decided := pick(kind, stored)
	switch kind {
	case "context_type":
		delete(decided, "attributes")
	case "logger", "log_group":
		tidyLevels(kind, decided)
	case "job":
		decided = hidden(decided, nil)
		decided["version"] = stored["version"]
	case "webhook":
		decided = hidden(decided, nil)
		if isChat(decided) {
			decided = hiddenURL(decided, nil)
		}
		decided["updated_at"] = stored["updated_at"]
	}
	sum := sha256.Sum256(raw(decided))
	return hex.EncodeToString(sum[:12])
}
