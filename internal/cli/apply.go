package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"regexp"
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
	save            string // the file to write the plan to; only apply has the flag
}

func (f *planFlags) add(cmd *cobra.Command) {
	addFiles(cmd, &f.files)
	cmd.Flags().StringVar(&f.owner, "owner", "", "record this `NAME`, such as team-shop, as the owner of the resources")
	cmd.Flags().BoolVar(&f.prune, "prune", false, "delete resources of the owner that the files do not have")
	cmd.Flags().BoolVar(&f.takeOver, "take-over", false, "take resources from other owners")
}

// addFiles adds the flag for files of resources.
func addFiles(cmd *cobra.Command, files *[]string) {
	cmd.Flags().StringArrayVarP(files, "file", "f", nil, "a `FILE`, a folder of files, or - for the input; may be repeated")
	_ = cmd.MarkFlagFilename("file", "yaml", "yml", "json")
}

// addPlan adds the flags of apply: the flags of diff, and --plan.
func (f *planFlags) addPlan(cmd *cobra.Command) {
	f.add(cmd)
	cmd.Flags().StringVar(&f.save, "plan", "", "write the plan to this `FILE` and change nothing; apply FILE does it later")
	_ = cmd.MarkFlagFilename("plan", "plan")
}

// check refuses flags that do not belong together.
func (f *planFlags) check(c *call) error {
	switch {
	case len(c.args) == 1 && (f.files != nil || f.save != "" || f.owner != "" || f.prune || f.takeOver):
		return terminal.Usagef("a plan has its files and its owner: -f, --plan, --owner, --prune and --take-over are for making one")
	case len(c.args) == 0 && f.files == nil:
		return terminal.Usagef("%s needs files: add -f, such as -f signalbox/", c.cmd.CommandPath())
	case f.owner == "" && (f.prune || f.takeOver):
		return terminal.Usagef("--prune and --take-over need --owner: they only concern resources that this owner has applied")
	default:
		return nil
	}
}

// plan compares files or a saved plan with the server, and prints the result. It prints errors to the same output, so that the
// summary of a pipeline has them. A readOnly plan is not applied.
func (f *planFlags) plan(ctx context.Context, c *call, readOnly bool) (*manifest.Plan, error) {
	if err := f.check(c); err != nil {
		return nil, err
	}
	plan, err := f.make(ctx, c, manifest.Options{Owner: f.owner, Prune: f.prune, TakeOver: f.takeOver, ReadOnly: readOnly, Variable: c.Variable})
	if c.format.Given() && !c.format.IsText() {
		if failed := c.printReport(plan, err); failed != nil {
			return nil, failed
		}
		return plan, err
	}
	if plan != nil {
		plan.Print(c.Terminal)
		return plan, err
	}
	for _, line := range terminal.Sentences(err) {
		c.Say("%s\n", c.Paint(terminal.Bad, "! "+line))
	}
	if len(c.args) == 1 {
		c.Say("Nothing was changed.\n")
	} else {
		c.Say("There is no plan.\n")
	}
	return nil, err
}

// printReport prints a plan for programs, or why there is none.
func (c *call) printReport(plan *manifest.Plan, err error) error {
	var report manifest.Report
	if plan != nil {
		report = plan.Report()
	} else {
		report = manifest.NoPlan(err)
	}
	if c.format.String() != terminal.FormatName {
		return c.PrintValue(c.format, report)
	}
	for _, step := range report.Steps {
		c.Say("%s:%s\n", step.Kind, step.ID)
	}
	return nil
}

func (f *planFlags) make(ctx context.Context, c *call, options manifest.Options) (*manifest.Plan, error) {
	if len(c.args) == 1 {
		text, err := os.ReadFile(c.args[0])
		if err != nil {
			return nil, terminal.Usage(err)
		}
		saved, err := manifest.ReadSaved(text)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", c.args[0], err)
		}
		return saved.Renew(ctx, c.client, options)
	}
	resources, err := manifest.Read(f.files, c.Input())
	if err != nil {
		return nil, err
	}
	plan, err := manifest.New(ctx, c.client, resources, options)
	if plan == nil {
		return nil, err
	}
	return plan, plan.Verify()
}

// manifestHelp returns the part of help texts about files.
func manifestHelp() string {
	kinds := signalbox.DocumentKinds()
	return fmt.Sprintf(`Files are YAML or JSON, with several resources in each if you like:

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

The kinds are %s and %s;
members are those of the interface.
Two more are for apply: runtime: [enabled, rules] leaves members to people, and moved: {from: checkout-v1} is a former id.
signalbox export prints what there is, and signalbox schema what editors check files with.`,
		strings.Join(kinds[:len(kinds)-1], ", "), kinds[len(kinds)-1])
}

func (s *shell) apply() *cobra.Command {
	var flags planFlags
	cmd := s.command(action{
		use: "apply [PLAN]", short: "Write the resources in files to the server",
		long: `Write the resources in files to the server. Every resource is tried as a dry run first: if one is refused, nothing is written. Then the
differences are shown and written, each resource after those that it refers to. A second apply changes nothing; after an
interruption it continues. Nothing is deleted without --prune, except the former ids of moved resources.

With --plan the differences are written to a file instead. apply PLAN writes them, and is refused (exit code 4) if one of the
resources was changed since.

` + manifestHelp(),
		example: "signalbox apply -f signalbox/\nsignalbox apply -f signalbox/ --owner team-shop --prune --yes\n" +
			"signalbox apply -f signalbox/ --plan release.plan\nsignalbox apply release.plan",
		writes: true, destroys: true, flags: flags.addPlan,
		run: func(ctx context.Context, c *call) error {
			plan, err := flags.plan(ctx, c, c.dryRun || flags.save != "")
			switch {
			case err != nil:
				return err
			case flags.save != "":
				return c.savePlan(ctx, plan, flags.save)
			case c.dryRun || !plan.Different():
				return nil
			default:
				return c.applyPlan(ctx, plan)
			}
		},
	})
	cmd.ValidArgsFunction = cobra.FixedCompletions([]string{"plan"}, cobra.ShellCompDirectiveFilterFileExt)
	return cmd
}

// savePlan writes a plan to a file that only its owner may read, because it may have confidential values.
func (c *call) savePlan(ctx context.Context, plan *manifest.Plan, file string) error {
	text, err := plan.Save(ctx)
	if err != nil {
		return err
	}
	if err := os.WriteFile(file, text, 0o600); err != nil {
		return err
	}
	c.Say("Nothing was changed. signalbox apply %s does it.\n", quoted(file))
	return nil
}

// quoted returns a word as a shell reads it.
func quoted(word string) string {
	if regexp.MustCompile(`^[\w./:@%+=,-]+$`).MatchString(word) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

func (c *call) applyPlan(ctx context.Context, plan *manifest.Plan) error {
	if count := plan.Count(manifest.Delete); count > 0 {
		if err := c.Confirm(c.yes, fmt.Sprintf("%d %s of the owner %s will be deleted.", count, plural(count, "resource"), plan.Owner())); err != nil {
			return err
		}
	}
	written, err := plan.Apply(ctx)
	if err != nil {
		next := "apply again to go on"
		if len(c.args) == 1 {
			next = "make a new plan to go on"
		}
		c.Note("%d of %d written; %s", written, len(plan.Steps)-plan.Count(manifest.Keep), next)
		return err
	}
	c.Say("Applied.\n")
	return nil
}

func (s *shell) diff() *cobra.Command {
	var flags planFlags
	return s.command(action{
		use: "diff", short: "Show what apply would change; the exit code is 10 if something differs",
		long: `Show what apply would change, and change nothing. The exit code is 0 when all is the same, 10 when something differs, and
another one when that is not known. A key with the role VIEWER is enough: resources that it may not write are compared without
the server's rules. -o json prints the plan for programs, and -o name the kinds and ids of its resources.

` + manifestHelp(),
		example: "signalbox diff -f signalbox/\nsignalbox diff -f signalbox/ -o json", format: terminal.FormatTable, flags: flags.add,
		run: func(ctx context.Context, c *call) error {
			plan, err := flags.plan(ctx, c, true)
			if err == nil && plan.Different() {
				err = terminal.Silent(terminal.ExitDiffers)
			}
			return err
		},
	})
}

func (s *shell) export() *cobra.Command {
	var kinds []string
	var secrets bool
	var definitions flagdExport
	return s.command(action{
		use: "export", short: "Print the resources of the server, as files for apply",
		long: `Print the resources of the server, as files for apply. Resources that services only reported and temporary levels are left
out. Without --secrets, the value of a header of a job or a webhook, and the URL of a chat, is written as valueFrom: stored, with
which apply keeps the value on the server. Bodies and other URLs are written as they are.

With --format flagd, print the flags of an environment as a definition of flagd instead: the file that flagd and its providers
read when there is no server. What flagd cannot express is left out and listed on stderr.`,
		example: "signalbox export\nsignalbox export --kind flag,config -o json\nsignalbox export --format flagd -e production",
		format:  terminal.FormatYAML,
		flags: func(cmd *cobra.Command) {
			cmd.Flags().StringSliceVar(&kinds, "kind", nil, "print this `KIND` only; may be repeated")
			_ = cmd.RegisterFlagCompletionFunc("kind", cobra.FixedCompletions(signalbox.DocumentKinds(), cobra.ShellCompDirectiveNoFileComp))
			cmd.Flags().BoolVar(&secrets, "secrets", false, "print the values of headers and the URLs of chats")
			definitions.addFlags(s, cmd)
		},
		run: func(ctx context.Context, c *call) error {
			if definitions.format != "" {
				return definitions.run(ctx, c)
			}
			if err := c.format.NeedDocument(); err != nil {
				return err
			}
			for _, kind := range kinds {
				if !slices.Contains(signalbox.DocumentKinds(), kind) {
					return terminal.Usagef("there is no kind %q; the kinds are %s", kind, strings.Join(signalbox.DocumentKinds(), ", "))
				}
			}
			all := kinds == nil
			if all {
				kinds = signalbox.DocumentKinds()
			}
			objects, err := manifest.Export(ctx, c.client, kinds, secrets)
			if all && signalbox.IsForbidden(err) { // webhooks are the last kind
				c.Note("webhooks are left out: this key may not read them")
				err = nil
			}
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
