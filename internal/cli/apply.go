package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	signalbox "github.com/signalbox/signalbox/client"
	"github.com/signalbox/signalbox/internal/cli/manifest"
	"github.com/signalbox/signalbox/internal/cli/terminal"
)

// planFlags are the flags of apply and diff.
type planFlags struct {
	files           []string
	owner           string
	prune, takeOver bool
}

func (f *planFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringArrayVarP(&f.files, "file", "f", nil, "a `FILE`, a folder of files, or - for the input; may be repeated")
	cmd.Flags().StringVar(&f.owner, "owner", "", "record the owner of the resources as this `NAME`, such as team-shop")
	cmd.Flags().BoolVar(&f.prune, "prune", false, "delete resources of the owner that are not in the files")
	cmd.Flags().BoolVar(&f.takeOver, "take-over", false, "take resources from other owners")
	_ = cmd.MarkFlagRequired("file")
	_ = cmd.MarkFlagFilename("file", "yaml", "yml", "json")
}

// plan reads the files and compares them with the server.
func (f *planFlags) plan(ctx context.Context, c *call) (*manifest.Plan, error) {
	if f.owner == "" && (f.prune || f.takeOver) {
		return nil, terminal.Usagef("--prune and --take-over need --owner: without it the resources have no owner")
	}
	resources, err := manifest.Read(f.files, c.In)
	if err != nil {
		return nil, terminal.Usage(err)
	}
	plan, err := manifest.New(ctx, c.client, resources,
		manifest.Options{Owner: f.owner, Prune: f.prune, TakeOver: f.takeOver, Variable: c.Variable})
	if owned, is := errors.AsType[*manifest.OwnedError](err); is {
		c.Fail(owned)
		return nil, terminal.Silent(terminal.ExitConflict)
	}
	return plan, err
}

const manifestHelp = `Files are YAML or JSON, with several resources in each if you like:

    kind: flag
    id: checkout-v2
    type: BOOLEAN
    default: false
    ---
    kind: job
    id: nightly
    name: Nightly
    schedule: 30 2 * * *
    configuration:
      url: https://hooks.example.com/nightly
      headers:
        - {name: Authorization, valueFrom: env:HOOK_TOKEN}

The kinds are environment, service, context_type, log_group, logger, config, flag and job. Their members are the attributes
of the API. signalbox export prints the resources of the server.`

func (s *shell) apply() *cobra.Command {
	var flags planFlags
	return s.command(action{
		use: "apply", short: "Create and change resources as files declare them",
		long: `Create and change resources as files declare them. Every resource is sent as a dry run first: if one is refused, nothing is
		written. Then the differences are shown and written; a resource comes after the resources that it refers to. Applying the same
		files again changes nothing, or continues an interrupted apply. Nothing is deleted without --prune.

` + manifestHelp,
		example: "signalbox apply -f signalbox/\nsignalbox apply -f signalbox/ --owner team-shop --prune --yes",
		writes:  true, destroys: true, flags: flags.add,
		run: func(ctx context.Context, c *call) error {
			plan, err := flags.plan(ctx, c)
			if err != nil {
				return err
			}
			plan.Print(c.Out, c.Paint)
			if c.dryRun || !plan.Different() {
				return nil
			}
			if count := plan.Count(manifest.Delete); count > 0 {
				if err := c.Confirm(c.yes, fmt.Sprintf("%d %s of the owner %s will be deleted.", count, plural(count, "resource"), flags.owner)); err != nil {
					return err
				}
			}
			written, err := plan.Apply(ctx)
			if err != nil {
				c.Note("%d of %d written; apply again to continue", written, len(plan.Steps)-plan.Count(manifest.Keep))
				return err
			}
			c.Say("Applied.\n")
			return nil
		},
	})
}

func (s *shell) diff() *cobra.Command {
	var flags planFlags
	return s.command(action{
		use: "diff", short: "Show what apply would change; the exit code is 1 if anything differs",
		long:    "Show what apply would change, and change nothing. The exit code is 0 if nothing differs, and 1 if anything does.\n\n" + manifestHelp,
		example: "signalbox diff -f signalbox/", flags: flags.add,
		run: func(ctx context.Context, c *call) error {
			plan, err := flags.plan(ctx, c)
			if err != nil {
				return err
			}
			plan.Print(c.Out, c.Paint)
			if plan.Count(manifest.Keep) != len(plan.Steps) {
				return terminal.Silent(terminal.ExitFailed)
			}
			return nil
		},
	})
}

func (s *shell) export() *cobra.Command {
	var kinds []string
	var secrets bool
	return s.command(action{
		use: "export", short: "Print the resources of the server, as files for apply",
		long: `Print the resources of the server, as files for apply. Resources that services only reported and temporary levels are left
		out. Without --secrets, the value of a job's header is written as valueFrom: stored, with which apply keeps the value on the
		server. Bodies and URLs of jobs are written as they are.`,
		example: "signalbox export\nsignalbox export --kind flag,config -o json",
		format:  terminal.FormatYAML,
		flags: func(cmd *cobra.Command) {
			cmd.Flags().StringSliceVar(&kinds, "kind", nil, "print this `KIND` only; may be repeated")
			_ = cmd.RegisterFlagCompletionFunc("kind", cobra.FixedCompletions(signalbox.DocumentKinds(), cobra.ShellCompDirectiveNoFileComp))
			cmd.Flags().BoolVar(&secrets, "secrets", false, "print the values of headers of jobs")
		},
		run: func(ctx context.Context, c *call) error {
			for _, kind := range kinds {
				if !slices.Contains(signalbox.DocumentKinds(), kind) {
					return terminal.Usagef("there is no kind %q; the kinds are %s", kind, strings.Join(signalbox.DocumentKinds(), ", "))
				}
			}
			if kinds == nil {
				kinds = signalbox.DocumentKinds()
			}
			objects, err := manifest.Export(ctx, c.client, kinds, secrets)
			if err != nil {
				return err
			}
			return c.printObjects(objects)
		},
	})
}

// printObjects prints one YAML document for each resource, or all of them in another format.
func (c *call) printObjects(objects []json.RawMessage) error {
	if c.format.String() != terminal.FormatYAML {
		return c.PrintValue(c.format, objects)
	}
	return c.PrintYAML(objects)
}
