package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	signalbox "github.com/signalbox/signalbox/client"
	"github.com/signalbox/signalbox/internal/cli/terminal"
)

// anyKind is a kind of resource for commands that take the kind as an argument.
type anyKind struct {
	// name is the kind's name in documents, and words are its names on the command line.
	name   string
	words  []string
	ids    completion
	exists func(context.Context, *call, string) error
	// describe prints everything about a resource.
	describe func(context.Context, *call, string) error
}

func anyKinds() []anyKind {
	return []anyKind{
		anyOf(flagKind(), describeFlag, "flags"),
		anyOf(loggerKind(), describeLogger, "loggers"),
		anyOf(groupKind(), describeGroup, "groups", "group", "log_groups"),
		anyOf(configKind(), describeConfig, "configs"),
		anyOf(environmentKind(), describeEnvironment, "environments"),
		anyOf(jobKind(), describeJob, "jobs"),
		anyOf(webhookKind(), describeWebhook, "webhooks"),
		anyOf(serviceKind(), nil, "services"),
		anyOf(contextTypeKind(), nil, "context_types"),
	}
}

// anyOf returns a kind with its words. sections prints the part of a description that only this kind has.
func anyOf[T any](k kind[T], sections func(context.Context, *call, T) error, words ...string) anyKind {
	return anyKind{name: k.name, words: append(words, k.name), ids: k.ids, exists: k.exists,
		describe: func(ctx context.Context, c *call, id string) error { return k.describe(ctx, c, id, sections) }}
}

// kindNames returns the names of the kinds in documents.
func kindNames() (names []string) {
	for _, each := range anyKinds() {
		names = append(names, each.name)
	}
	return names
}

// findKind returns the kind that somebody named.
func findKind(word string) (anyKind, error) {
	for _, each := range anyKinds() {
		if slices.Contains(each.words, strings.ToLower(word)) {
			return each, nil
		}
	}
	return anyKind{}, notFoundNear(terminal.Usagef("there is no kind %q; the kinds are %s.", word, strings.Join(kindNames(), ", ")), word, kindNames())
}

// idsOfKind completes the ids of the kind in the first argument.
func idsOfKind(ctx context.Context, client *signalbox.Client, given ...string) []string {
	if len(given) == 0 {
		return nil
	}
	found, err := findKind(given[0])
	if err != nil {
		return nil
	}
	return found.ids(ctx, client)
}

// historyKinds returns the kinds that can be used as KIND:ID in the history.
func historyKinds() []string {
	return append(kindNames(), "account", "account_settings", "api_key", "context", "invitation", "link", "run", "user", "user_settings")
}

// resourceNames completes KIND:ID.
func resourceNames(ctx context.Context, client *signalbox.Client, _ ...string) (names []string) {
	for _, each := range anyKinds() {
		for _, id := range each.ids(ctx, client) {
			names = append(names, each.name+":"+id)
		}
	}
	return names
}

// resourceName returns KIND:ID with the kind's name in the history, for any word that names the kind: flags:checkout-v2 is
// flag:checkout-v2.
func resourceName(resource string) string {
	word, id, _ := strings.Cut(resource, ":")
	kind, err := findKind(word)
	if err != nil {
		return resource
	}
	return kind.name + ":" + id
}

// resourceExists returns an error if KIND:ID does not exist. It is called if the history has no changes of KIND:ID; a deleted
// resource has some.
func resourceExists(ctx context.Context, c *call, resource string) error {
	if resource == "" {
		return nil
	}
	word, id, found := strings.Cut(resource, ":")
	if !found || id == "" {
		return terminal.Usagef("%q is not KIND:ID, such as flag:checkout-v2", resource)
	}
	kind, err := findKind(word)
	if err == nil {
		return kind.exists(ctx, c, id)
	}
	if !slices.Contains(historyKinds(), word) {
		return notFoundNear(terminal.Usagef("there is no kind %q in the history.", word), word, historyKinds())
	}
	return fmt.Errorf("there are no changes of %s", resource)
}
