package cli

import (
	"context"
	"fmt"
	"iter"
	"strings"
	"time"

	"github.com/spf13/cobra"

	signalbox "github.com/signalbox/signalbox/client"
	"github.com/signalbox/signalbox/internal/cli/terminal"
)

// webhookKind names webhooks by their ids or their names.
func webhookKind() kind[signalbox.Webhook] {
	in := func(c *signalbox.Client) service[signalbox.Webhook, signalbox.WebhookParams] { return c.Webhooks }
	k := from(in, kind[signalbox.Webhook]{
		name: "webhook", noun: "webhook",
		of: func(w signalbox.Webhook) signalbox.Resource { return w.Resource },
		columns: []terminal.Column[signalbox.Webhook]{
			{Title: "ID", Text: func(w signalbox.Webhook) string { return w.ID }, Whole: true},
			{Title: "NAME", Text: func(w signalbox.Webhook) string { return w.Name }},
			{Title: "STATE", Text: func(w signalbox.Webhook) string { return string(w.State) }, Color: webhookColor},
			{Title: "FORMAT", Text: func(w signalbox.Webhook) string { return string(w.Format) }},
			{Title: "EVENTS", Text: func(w signalbox.Webhook) string { return strings.Join(w.Events, ", ") }},
			{Title: "LAST DELIVERY", Text: lastDelivery},
			{Title: "ENVIRONMENTS", Text: func(w signalbox.Webhook) string { return strings.Join(w.Filter.Environments, ", ") }, Wide: true},
			{Title: "IDS", Text: func(w signalbox.Webhook) string { return strings.Join(w.Filter.IDs, ", ") }, Wide: true},
		},
	})
	k.get = findWebhook
	return k
}

// findWebhook returns a webhook by its id or its name. It fails if several webhooks have the name.
func findWebhook(ctx context.Context, client *signalbox.Client, idOrName string) (signalbox.Webhook, error) {
	webhook, err := client.Webhooks.Get(ctx, idOrName)
	if !signalbox.IsNotFound(err) {
		return webhook, err
	}
	var names, ids []string
	for each, listErr := range client.Webhooks.All(ctx, signalbox.WebhookParams{}) {
		if listErr != nil {
			return webhook, listErr
		}
		names = append(names, each.Name)
		if each.Name == idOrName {
			ids = append(ids, each.ID)
		}
	}
	switch len(ids) {
	case 0:
		return webhook, notFoundNear(err, idOrName, names)
	case 1:
		return client.Webhooks.Get(ctx, ids[0]) // with its ETag
	default:
		return webhook, terminal.Usagef("%d webhooks are called %q: name one by its id, which signalbox webhooks list shows", len(ids), idOrName)
	}
}

// webhook returns the id of the webhook that the first argument names.
func (c *call) webhook(ctx context.Context) (string, error) {
	found, err := webhookKind().find(ctx, c, c.args[0])
	return found.ID, err
}

// webhookNames completes the names of webhooks.
func webhookNames(ctx context.Context, client *signalbox.Client, _ ...string) (names []string) {
	for each, err := range client.Webhooks.All(ctx, signalbox.WebhookParams{}) {
		if err == nil {
			names = append(names, each.Name)
		}
	}
	return names
}

func webhookColor(w signalbox.Webhook) terminal.Color {
	switch w.State {
	case signalbox.WebhookFailing:
		return terminal.Bad
	case signalbox.WebhookDisabled:
		return terminal.Faint
	default:
		return terminal.Good
	}
}

func lastDelivery(w signalbox.Webhook) string {
	if w.LastDelivery == nil {
		return ""
	}
	return fmt.Sprintf("%s, %s", w.LastDelivery.Status, moment(&w.LastDelivery.CreatedAt))
}

func deliveryKind() kind[signalbox.Delivery] {
	return kind[signalbox.Delivery]{
		name: "webhook_delivery", noun: "delivery",
		of: func(d signalbox.Delivery) signalbox.Resource { return d.Resource },
		columns: []terminal.Column[signalbox.Delivery]{
			{Title: "ID", Text: func(d signalbox.Delivery) string { return d.ID }, Whole: true},
			{Title: "TYPE", Text: func(d signalbox.Delivery) string { return d.Type }},
			{Title: "STATUS", Text: func(d signalbox.Delivery) string { return string(d.Status) }},
			{Title: "ATTEMPTS", Text: func(d signalbox.Delivery) string { return fmt.Sprint(len(d.Attempts)) }},
			{Title: "ANSWER", Text: deliveryAnswer},
			{Title: "CREATED", Text: func(d signalbox.Delivery) string { return moment(&d.CreatedAt) }},
			{Title: "NEXT ATTEMPT", Text: func(d signalbox.Delivery) string { return moment(d.NextAttemptAt) }},
			{Title: "EVENTS", Text: func(d signalbox.Delivery) string { return fmt.Sprint(d.Events) }, Wide: true},
		},
	}
}

// deliveryAnswer returns the status of the last answer, or why there is none.
func deliveryAnswer(d signalbox.Delivery) string {
	switch {
	case len(d.Attempts) > 0:
	case d.Status == signalbox.DeliveryCanceled:
		return "the webhook was disabled"
	default:
		return ""
	}
	last := d.Attempts[len(d.Attempts)-1]
	if last.Status != nil {
		return fmt.Sprint(*last.Status)
	}
	return value(last.Error)
}

func (s *shell) webhooks() *cobra.Command {
	k := webhookKind()
	return terminal.Group("webhooks", "Messages to other systems about changes",
		k.list(s, action{use: "list", short: "List webhooks", example: "signalbox webhooks list"}, nil),
		k.show(s, "signalbox webhooks get $WEBHOOK"), s.createWebhook(), s.setWebhook(),
		k.delete(s, "signalbox webhooks delete $WEBHOOK --yes", func(_ context.Context, _ *call, w signalbox.Webhook) (string, error) {
			return fmt.Sprintf("The webhook %q will get no more messages.", w.Name), nil
		}),
		s.testWebhook(), s.rotateWebhook(), s.listDeliveries(), s.redeliver(), s.listen())
}

// webhookFlags are the flags of webhooks create and set.
type webhookFlags struct {
	name, url, format         string
	events, environments, ids []string
	headers                   []string
	enabled                   bool
}

func (f *webhookFlags) add(s *shell, cmd *cobra.Command) {
	terminal.AddChoice(cmd, &f.format, "format", "", "the form of the messages; standard unless told otherwise", "standard", "slack", "teams", "discord", "pagerduty")
	cmd.Flags().StringSliceVar(&f.events, "events", nil, "the `TYPES` of events to send, such as job.failing,change.*, or *")
	cmd.Flags().StringSliceVarP(&f.environments, "environment", "e", nil, "send only events about the environment with this `ID`; may be repeated")
	_ = cmd.RegisterFlagCompletionFunc("environment", s.completeFlag(environmentKind().ids))
	cmd.Flags().StringSliceVar(&f.ids, "id", nil, "send only events about resources with this `ID`, which may have *; may be repeated")
	cmd.Flags().StringArrayVar(&f.headers, "header", nil, "send this `HEADER`, such as 'Authorization: Bearer t'; may be repeated")
	cmd.Flags().BoolVar(&f.enabled, "enabled", true, "--enabled=false sends nothing")
}

// apply changes a draft by the flags that were given.
func (f *webhookFlags) apply(cmd *cobra.Command, draft *signalbox.WebhookDraft) error {
	given := cmd.Flags().Changed
	if given("format") {
		draft.Format = signalbox.WebhookFormat(f.format)
	}
	if given("events") {
		draft.Events = f.events
	}
	if given("environment") {
		draft.Filter.Environments = f.environments
	}
	if given("id") {
		draft.Filter.IDs = f.ids
	}
	if given("enabled") {
		draft.Enabled = &f.enabled
	}
	if given("header") {
		draft.Headers = nil
	}
	for _, text := range f.headers {
		name, value, found := strings.Cut(text, ":")
		if !found {
			return terminal.Usagef("--header must be a name and a value, such as 'Authorization: Bearer t'")
		}
		draft.Headers = append(draft.Headers, signalbox.JobHeader{Name: strings.TrimSpace(name), Value: strings.TrimSpace(value)})
	}
	return nil
}

func (s *shell) createWebhook() *cobra.Command {
	var flags webhookFlags
	return s.command(action{
		use: "create NAME URL", short: "Create a webhook and print its secret, once",
		example: "signalbox webhooks create Ops https://ops.example/hook --events job.failing,job.recovered\n" +
			"signalbox webhooks create Chat https://hooks.slack.com/services/T0/B0/x --format slack --events 'change.*' -e production",
		writes: true, format: terminal.FormatYAML, flags: func(cmd *cobra.Command) { flags.add(s, cmd) },
		run: func(ctx context.Context, c *call) error {
			draft := signalbox.WebhookDraft{Name: c.args[0], URL: c.args[1], Events: []string{"*"}}
			if err := flags.apply(c.cmd, &draft); err != nil {
				return err
			}
			created, err := c.client.Webhooks.Create(ctx, draft, c.options()...)
			return webhookKind().wrote(c, created, err, "The webhook %q (%s) signs its messages with this secret, which is shown only now:\n\n    %s\n", created.Name, created.ID, c.webhookSecret(created))
		},
	})
}

// webhookSecret returns the secret of a new webhook. The secret of a dry run does not work, so it is not shown.
func (c *call) webhookSecret(w signalbox.Webhook) string {
	if c.dryRun {
		return "whsec_…"
	}
	return w.Secret
}

func (s *shell) setWebhook() *cobra.Command {
	var flags webhookFlags
	return s.command(action{
		use: "set WEBHOOK", short: "Change a webhook",
		example: "signalbox webhooks set $WEBHOOK --events '*' --enabled\nsignalbox webhooks set $WEBHOOK --name Operations --target https://ops.example/other",
		writes:  true, format: terminal.FormatYAML, completes: []completion{webhookNames},
		flags: func(cmd *cobra.Command) {
			flags.add(s, cmd)
			cmd.Flags().StringVar(&flags.name, "name", "", "the new `NAME`")
			cmd.Flags().StringVar(&flags.url, "target", "", "where messages are sent, as a `URL`")
		},
		run: func(ctx context.Context, c *call) error {
			change := func(_ signalbox.Webhook, draft *signalbox.WebhookDraft) error {
				if flags.name != "" {
					draft.Name = flags.name
				}
				if flags.url != "" {
					draft.URL = flags.url
				}
				return flags.apply(c.cmd, draft)
			}
			changed, err := edited(ctx, c, webhookKind(), c.args[0], signalbox.Webhook.Draft, change, c.client.Webhooks.Replace)
			return webhookKind().wrote(c, changed, err, "The webhook %q is %s.", changed.Name, changed.State)
		},
	})
}

func (s *shell) testWebhook() *cobra.Command {
	return s.command(action{
		use: "test WEBHOOK", short: "Send a test to a webhook and wait for the answer; the exit code is 1 unless it succeeds",
		example: "signalbox webhooks test $WEBHOOK", format: terminal.FormatYAML, completes: []completion{webhookNames},
		run: func(ctx context.Context, c *call) error {
			id, err := c.webhook(ctx)
			if err != nil {
				return err
			}
			sent, err := c.client.Webhooks.Test(ctx, id)
			if err == nil {
				sent, err = c.attempted(ctx, sent)
			}
			if err != nil {
				return err
			}
			if err := deliveryKind().wrote(c, sent, nil, "The test is %s: %s.", sent.Status, deliveryAnswer(sent)); err != nil || sent.Status == signalbox.DeliveryDelivered {
				return err
			}
			return terminal.Silent(1)
		},
	})
}

// attempted waits until a delivery was attempted, or will never be.
func (c *call) attempted(ctx context.Context, sent signalbox.Delivery) (signalbox.Delivery, error) {
	const pause = 100 * time.Millisecond
	for {
		for each, err := range c.client.Webhooks.AllDeliveries(ctx, sent.Webhook, signalbox.DeliveryParams{Size: 100}) {
			if err != nil {
				return sent, err
			}
			if each.ID <= sent.ID { // the newest come first, and others may have come since
				if each.ID == sent.ID {
					sent = each
				}
				break
			}
		}
		if len(sent.Attempts) > 0 || sent.Status == signalbox.DeliveryCanceled {
			return sent, nil
		}
		select {
		case <-ctx.Done():
			return sent, ctx.Err()
		case <-time.After(pause):
		}
	}
}

func (s *shell) rotateWebhook() *cobra.Command {
	return s.command(action{
		use: "rotate-secret WEBHOOK", short: "Give a webhook a new secret; for a day, the old one signs too",
		example: "signalbox webhooks rotate-secret $WEBHOOK", format: terminal.FormatYAML, completes: []completion{webhookNames},
		run: func(ctx context.Context, c *call) error {
			id, err := c.webhook(ctx)
			if err != nil {
				return err
			}
			rotated, err := c.client.Webhooks.RotateSecret(ctx, id)
			return webhookKind().wrote(c, rotated, err, "The new secret of the webhook %q is shown only now:\n\n    %s\n", rotated.Name, rotated.Secret)
		},
	})
}

func (s *shell) listDeliveries() *cobra.Command {
	var status string
	var limit int
	a := action{
		use: "deliveries WEBHOOK", short: "List the deliveries of a webhook, the newest first", example: "signalbox webhooks deliveries $WEBHOOK --status failed",
		completes: []completion{webhookNames},
		flags: func(cmd *cobra.Command) {
			terminal.AddChoice(cmd, &status, "status", "", "list deliveries with one status", "pending", "sending", "delivered", "failed", "canceled")
			addLimit(cmd, &limit)
		},
	}
	return deliveryKind().list(s, a, func(ctx context.Context, c *call) iter.Seq2[signalbox.Delivery, error] {
		id, err := c.webhook(ctx)
		if err != nil {
			return func(yield func(signalbox.Delivery, error) bool) { yield(signalbox.Delivery{}, err) }
		}
		return first(limit, c.client.Webhooks.AllDeliveries(ctx, id, signalbox.DeliveryParams{Status: signalbox.DeliveryStatus(status), Size: pageSize(limit)}))
	})
}

func (s *shell) redeliver() *cobra.Command {
	var since, until time.Duration
	var delivered bool
	return s.command(action{
		use: "redeliver WEBHOOK [DELIVERY]", short: "Send a delivery again, or all failed ones of a period",
		long: `Send a delivery again. Without one, all deliveries of the last --since that failed or were canceled are sent again. The messages keep
their ids, so that a receiver can ignore repeated ones.`,
		example: "signalbox webhooks redeliver $WEBHOOK $DELIVERY\nsignalbox webhooks redeliver $WEBHOOK --since 24h",
		format:  terminal.FormatYAML, completes: []completion{webhookNames},
		flags: func(cmd *cobra.Command) {
			terminal.AddDuration(cmd, &since, "since", 24*time.Hour, "how long ago the first event was, as a `DURATION` such as 24h")
			terminal.AddDuration(cmd, &until, "until", 0, "how long ago the last event was, as a `DURATION`")
			cmd.Flags().BoolVar(&delivered, "delivered", false, "send delivered ones again too")
		},
		run: func(ctx context.Context, c *call) error {
			id, err := c.webhook(ctx)
			if err != nil {
				return err
			}
			if len(c.args) > 1 {
				again, err := c.client.Webhooks.Redeliver(ctx, id, c.args[1])
				return deliveryKind().wrote(c, again, err, "The delivery %s is %s.", again.ID, again.Status)
			}
			now := time.Now().UTC()
			again, err := c.client.Webhooks.RedeliverRange(ctx, id, now.Add(-since), now.Add(time.Second-until), delivered)
			if err != nil {
				return err
			}
			c.Say("%d %s will be sent again.\n", again.Queued, plural(again.Queued, "delivery"))
			return nil
		},
	})
}
