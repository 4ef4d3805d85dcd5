package cli

import (
	"context"
	"fmt"
	"iter"

	"github.com/spf13/cobra"

	signalbox "github.com/signalbox/signalbox/client"
	"github.com/signalbox/signalbox/internal/cli/terminal"
)

func serviceKind() kind[signalbox.Service] {
	in := func(c *signalbox.Client) service[signalbox.Service, signalbox.ServiceParams] { return c.Services }
	return from(in, kind[signalbox.Service]{
		name: "service", noun: "service",
		of: func(s signalbox.Service) signalbox.Resource { return s.Resource },
		columns: []terminal.Column[signalbox.Service]{
			{Title: "ID", Text: func(s signalbox.Service) string { return s.ID }, Whole: true},
			{Title: "NAME", Text: func(s signalbox.Service) string { return s.Name }},
			{Title: "CREATED", Text: func(s signalbox.Service) string { return moment(&s.CreatedAt) }},
			{Title: "UPDATED", Text: func(s signalbox.Service) string { return moment(&s.UpdatedAt) }, Wide: true},
		},
	})
}

func (s *shell) services() *cobra.Command {
	k := serviceKind()
	return terminal.Group("services", "Programs that report to the account", s.listServices(), k.show(s, "signalbox services get shop"), s.setService(),
		k.delete(s, "signalbox services delete shop --yes", func(_ context.Context, _ *call, service signalbox.Service) (string, error) {
			return fmt.Sprintf("The service %s will be deleted, until it reports itself again.", service.ID), nil
		}))
}

func (s *shell) listServices() *cobra.Command {
	var filter searchFlags
	return serviceKind().list(s, action{
		use: "list", short: "List services", example: "signalbox services list\nsignalbox services list --search shop -o name", flags: filter.addSearch,
	}, func(ctx context.Context, c *call) iter.Seq2[signalbox.Service, error] {
		return c.client.Services.All(ctx, signalbox.ServiceParams{Search: filter.search})
	})
}

func (s *shell) setService() *cobra.Command {
	var name string
	return s.command(action{
		use: "set ID", short: "Rename a service", example: "signalbox services set shop --name 'The shop'",
		writes: true, format: terminal.FormatYAML, completes: []completion{serviceKind().ids},
		flags: func(cmd *cobra.Command) {
			cmd.Flags().StringVar(&name, "name", "", "the `NAME` for people")
			_ = cmd.MarkFlagRequired("name")
		},
		run: func(ctx context.Context, c *call) error {
			written, err := edited(ctx, c, serviceKind(), c.args[0], signalbox.Service.Draft, func(_ signalbox.Service, draft *signalbox.ServiceDraft) error {
				draft.Name = name
				return nil
			}, c.client.Services.Replace)
			return serviceKind().wrote(c, written, err, "The service %s is called %s.", c.args[0], written.Name)
		},
	})
}
