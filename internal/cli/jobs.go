package cli

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"strings"

	"github.com/spf13/cobra"

	signalbox "github.com/signalbox/signalbox/client"
	"github.com/signalbox/signalbox/internal/cli/terminal"
)

func jobKind() kind[signalbox.Job] {
	in := func(c *signalbox.Client) service[signalbox.Job, signalbox.JobParams] { return c.Jobs }
	return from(in, kind[signalbox.Job]{
		name: "job", noun: "job",
		of: func(j signalbox.Job) signalbox.Resource { return j.Resource },
		columns: []terminal.Column[signalbox.Job]{
			{Title: "ID", Text: func(j signalbox.Job) string { return j.ID }},
			{Title: "SCHEDULE", Text: func(j signalbox.Job) string { return j.Schedule }},
			{Title: "ENABLED", Text: func(j signalbox.Job) string { return terminal.YesNo(j.Enabled) }},
			{Title: "NEXT RUN", Text: func(j signalbox.Job) string { return moment(j.NextRunAt) }},
			{Title: "LAST RUN", Text: func(j signalbox.Job) string { return string(value(j.LastRun).Status) },
				Colour: func(j signalbox.Job) terminal.Colour { return statusColour(value(j.LastRun).Status) }},
			{Title: "REQUEST", Text: func(j signalbox.Job) string { return j.Configuration.Method + " " + j.Configuration.URL }, Wide: true},
			{Title: "NAME", Text: func(j signalbox.Job) string { return j.Name }, Wide: true},
		},
	})
}

func (s *shell) jobs() *cobra.Command {
	return terminal.Group("jobs", "Scheduled HTTP requests", s.listJobs(), jobKind().show(s, "signalbox jobs get nightly"), s.createJob(), s.runJob(),
		s.enableJob("pause", false), s.enableJob("resume", true), s.nextJob(),
		jobKind().delete(s, "signalbox jobs delete nightly --yes", func(_ context.Context, _ *call, j signalbox.Job) (string, error) {
			return fmt.Sprintf("The job %s will be deleted; its pending runs are canceled and running ones finish. All runs stay in the list of runs.", j.ID), nil
		}))
}

func (s *shell) listJobs() *cobra.Command {
	var filter searchFlags
	var status string
	return jobKind().list(s, action{
		use: "list", short: "List jobs, the newest first", example: "signalbox jobs list\nsignalbox jobs list --last-status FAILED -o wide",
		flags: func(cmd *cobra.Command) {
			filter.addSearch(cmd)
			terminal.AddChoice(cmd, &status, "last-status", "", "list jobs whose newest run has this status", runStatuses()...)
		},
	}, func(ctx context.Context, c *call) iter.Seq2[signalbox.Job, error] {
		return c.client.Jobs.All(ctx, signalbox.JobParams{Search: filter.search, LastStatus: signalbox.RunStatus(status)})
	})
}

// jobFlags are the flags of jobs create.
type jobFlags struct {
	name, description, method, body, success string
	headers                                  []string
	timeout                                  int
	paused                                   bool
}

func (f *jobFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.name, "name", "", "the `NAME` for people (default: the id)")
	cmd.Flags().StringVar(&f.description, "description", "", "what the job is for, as `TEXT`")
	terminal.AddChoice(cmd, &f.method, "method", "POST", "the method of the request", "GET", "POST", "PUT", "PATCH", "DELETE")
	cmd.Flags().StringArrayVar(&f.headers, "header", nil, "a `HEADER` such as 'Accept: text/plain'; 'Authorization: env:TOKEN' takes its value from a variable; may be repeated")
	cmd.Flags().StringVar(&f.body, "body", "", "the `BODY` of the request")
	cmd.Flags().StringVar(&f.success, "success", "", "the `STATUS` of a success, such as 204 (default: 2xx)")
	cmd.Flags().IntVar(&f.timeout, "timeout", 0, "how many `SECONDS` the request may take (default: 30)")
	cmd.Flags().BoolVar(&f.paused, "paused", false, "create the job without enabling it")
}

// draft returns the job to create.
func (f *jobFlags) draft(c *call) (signalbox.JobDraft, error) {
	id, schedule, url := c.args[0], c.args[1], c.args[2]
	draft := signalbox.JobDraft{Name: cmp.Or(f.name, id), Schedule: schedule, Enabled: new(!f.paused), Configuration: signalbox.JobConfiguration{
		Method: f.method, URL: url, Headers: []signalbox.JobHeader{}, SuccessStatus: f.success, Timeout: f.timeout}}
	if f.description != "" {
		draft.Description = &f.description
	}
	if c.changed("body") {
		draft.Configuration.Body = &f.body
	}
	for _, header := range f.headers {
		name, text, found := strings.Cut(header, ":")
		if !found {
			return draft, terminal.Usagef("--header %q is not NAME: VALUE", name)
		}
		text = strings.TrimSpace(text)
		if variable, is := strings.CutPrefix(text, "env:"); is {
			if text = c.Variable(variable); text == "" {
				return draft, terminal.Usagef("the variable %s, the value of the header %s, is not set", variable, name)
			}
		}
		draft.Configuration.Headers = append(draft.Configuration.Headers, signalbox.JobHeader{Name: strings.TrimSpace(name), Value: text})
	}
	return draft, nil
}

func (s *shell) createJob() *cobra.Command {
	var flags jobFlags
	return s.command(action{
		use: "create ID SCHEDULE URL", short: "Create a job",
		long: "Create a job: a request to a URL at a date and time, by five cron fields in UTC, or now.",
		example: "signalbox jobs create hourly '0 * * * *' https://hooks.example.com/hourly --method GET\n" +
			"signalbox jobs create once 2030-01-01T12:00:00Z https://hooks.example.com/once --body '{}' --header 'Content-Type: application/json'",
		writes: true, format: terminal.FormatYAML, flags: flags.add,
		run: func(ctx context.Context, c *call) error {
			draft, err := flags.draft(c)
			if err != nil {
				return err
			}
			created, err := c.client.Jobs.Create(ctx, c.args[0], draft, c.options()...)
			return jobKind().wrote(c, created, err, "The job %s is created; its next run: %s.", c.args[0], nextText(created))
		},
	})
}

func nextText(j signalbox.Job) string {
	if j.NextRunAt == nil {
		return "none"
	}
	return moment(j.NextRunAt)
}

func (s *shell) runJob() *cobra.Command {
	var wait bool
	return s.command(action{
		use: "run ID", short: "Run a job now, outside its schedule",
		long:    "Run a job now, outside its schedule. With --wait the result is shown, and the exit code is 1 unless the run succeeded.",
		example: "signalbox jobs run nightly",
		format:  terminal.FormatTable, completes: []completion{jobKind().ids},
		flags: func(cmd *cobra.Command) { cmd.Flags().BoolVar(&wait, "wait", false, "wait for the result") },
		run: func(ctx context.Context, c *call) error {
			run, err := c.client.Jobs.Run(ctx, c.args[0])
			if err != nil {
				return jobKind().suggest(ctx, c, c.args[0], err)
			}
			if wait {
				return c.watch(ctx, run.ID)
			}
			return terminal.PrintOne(c.Terminal, c.format, runKind().items(), run)
		},
	})
}

func (s *shell) enableJob(use string, enabled bool) *cobra.Command {
	short := "Stop the schedule of a job"
	if enabled {
		short = "Start the schedule of a job again"
	}
	return s.command(action{
		use: use + " ID", short: short, example: "signalbox jobs " + use + " nightly",
		writes: true, format: terminal.FormatYAML, completes: []completion{jobKind().ids},
		run: func(ctx context.Context, c *call) error {
			written, err := edited(ctx, c, jobKind(), c.args[0], signalbox.Job.Draft, func(_ signalbox.Job, draft *signalbox.JobDraft) error {
				draft.Enabled = &enabled
				return nil
			}, c.client.Jobs.Replace)
			return jobKind().wrote(c, written, err, "The job %s is %sd; its next run: %s.", c.args[0], use, nextText(written))
		},
	})
}

func (s *shell) nextJob() *cobra.Command {
	var count int
	return s.command(action{
		use: "next SCHEDULE", short: "Show when a schedule, or the job with this id, fires next",
		example: "signalbox jobs next '30 2 * * *' --count 3\nsignalbox jobs next nightly",
		format:  terminal.FormatTable, completes: []completion{jobKind().ids},
		flags: func(cmd *cobra.Command) {
			cmd.Flags().IntVar(&count, "count", 0, "how many times, 1 to 100 (default: 5)")
		},
		run: func(ctx context.Context, c *call) error {
			schedule := c.args[0]
			if job, err := c.client.Jobs.Get(ctx, schedule); err == nil && !strings.Contains(schedule, " ") {
				schedule = job.Schedule
			}
			preview, err := c.client.Jobs.PreviewSchedule(ctx, schedule, count)
			if err != nil {
				return err
			}
			if !c.format.IsText() {
				return c.PrintValue(c.format, preview)
			}
			for _, at := range preview.Next {
				c.Say("%s  %s\n", moment(&at), at.UTC().Weekday())
			}
			return nil
		},
	})
}
