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
			{Title: "ID", Text: func(j signalbox.Job) string { return j.ID }, Whole: true},
			{Title: "SCHEDULE", Text: func(j signalbox.Job) string { return j.Schedule }},
			{Title: "ENABLED", Text: func(j signalbox.Job) string { return terminal.YesNo(j.Enabled) }},
			{Title: "NEXT RUN", Text: func(j signalbox.Job) string { return moment(j.NextRunAt) }},
			{Title: "LAST RUN", Text: func(j signalbox.Job) string { return string(value(j.LastRun).Status) },
				Color: func(j signalbox.Job) terminal.Color { return statusColor(value(j.LastRun).Status) }},
			{Title: "REQUEST", Text: func(j signalbox.Job) string { return j.Configuration.Method + " " + j.Configuration.URL }, Wide: true},
			{Title: "NAME", Text: func(j signalbox.Job) string { return j.Name }, Wide: true},
		},
	})
}

func (s *shell) jobs() *cobra.Command {
	return terminal.Group("jobs", "Scheduled HTTP requests", s.listJobs(), jobKind().show(s, "signalbox jobs get nightly"), s.createJob(), s.setJob(), s.runJob(),
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

// jobFlags are the flags of commands that write a job.
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
	cmd.Flags().IntVar(&f.timeout, "timeout", 0, "how many `SECONDS` it may take (default: 30)")
}

// draft returns the job to create.
func (f *jobFlags) draft(c *call) (signalbox.JobDraft, error) {
	id, schedule, url := c.args[0], c.args[1], c.args[2]
	draft := signalbox.JobDraft{Name: cmp.Or(f.name, id), Schedule: schedule, Enabled: new(!f.paused), Configuration: signalbox.JobConfiguration{
		Method: f.method, URL: url, Headers: []signalbox.JobHeader{}}}
	return draft, f.change(c, &draft)
}

// change writes the flags that were given into a draft.
func (f *jobFlags) change(c *call, draft *signalbox.JobDraft) (err error) {
	request := &draft.Configuration
	set := func(flag string, write func()) {
		if c.changed(flag) {
			write()
		}
	}
	set("name", func() { draft.Name = f.name })
	set("description", func() { draft.Description = &f.description })
	set("method", func() { request.Method = f.method })
	set("body", func() { request.Body = &f.body })
	set("success", func() { request.SuccessStatus = f.success })
	set("timeout", func() { request.Timeout = f.timeout })
	if value(draft.Description) == "" {
		draft.Description = nil
	}
	if c.changed("header") {
		request.Headers, err = f.readHeaders(c)
	}
	return err
}

// readHeaders returns the given headers, with the values of the variables that they name.
func (f *jobFlags) readHeaders(c *call) ([]signalbox.JobHeader, error) {
	headers := []signalbox.JobHeader{}
	for _, header := range f.headers {
		name, text, found := strings.Cut(header, ":")
		if !found {
			return nil, terminal.Usagef("--header %q is not NAME: VALUE", name)
		}
		text = strings.TrimSpace(text)
		if variable, is := strings.CutPrefix(text, "env:"); is {
			if text = c.Variable(variable); text == "" {
				return nil, terminal.Usagef("the variable %s, the value of the header %s, is not set", variable, name)
			}
		}
		headers = append(headers, signalbox.JobHeader{Name: strings.TrimSpace(name), Value: text})
	}
	return headers, nil
}

func (s *shell) createJob() *cobra.Command {
	var flags jobFlags
	return s.command(action{
		use: "create ID SCHEDULE URL", short: "Create a job",
		long: "Create a job: a request to a URL at a date and time, by five cron fields in UTC, or now.",
		example: "signalbox jobs create hourly '0 * * * *' https://hooks.example.com/hourly --method GET\n" +
			"signalbox jobs create once 2030-01-01T12:00:00Z https://hooks.example.com/once --body '{}' --header 'Content-Type: application/json'",
		writes: true, format: terminal.FormatYAML,
		flags: func(cmd *cobra.Command) {
			flags.add(cmd)
			cmd.Flags().BoolVar(&flags.paused, "paused", false, "create it without enabling it")
		},
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

func (s *shell) setJob() *cobra.Command {
	var flags jobFlags
	var schedule, url string
	return s.command(action{
		use: "set ID", short: "Change a job: its schedule, its request, its name; what is not given stays",
		example: "signalbox jobs set nightly --schedule '15 3 * * *'\n" +
			"signalbox jobs set nightly --target https://hooks.example.com/nightly --timeout 20 --header 'Accept: text/plain'",
		writes: true, format: terminal.FormatYAML, completes: []completion{jobKind().ids},
		flags: func(cmd *cobra.Command) {
			cmd.Flags().StringVar(&schedule, "schedule", "", "the `SCHEDULE`: a date and time, five cron fields in UTC, or now")
			cmd.Flags().StringVar(&url, "target", "", "the `URL` to send the request to")
			flags.add(cmd)
			for _, name := range []string{"name", "method", "success", "timeout"} { // omitted values stay, so there is no default
				flag := cmd.Flags().Lookup(name)
				flag.Usage, _, _ = strings.Cut(flag.Usage, " (default: ")
			}
			cmd.Flags().Lookup("method").DefValue = ""
			cmd.MarkFlagsOneRequired("schedule", "target", "name", "description", "method", "header", "body", "success", "timeout")
		},
		run: func(ctx context.Context, c *call) error {
			written, err := edited(ctx, c, jobKind(), c.args[0], signalbox.Job.Draft, func(_ signalbox.Job, draft *signalbox.JobDraft) error {
				draft.Schedule = cmp.Or(schedule, draft.Schedule)
				draft.Configuration.URL = cmp.Or(url, draft.Configuration.URL)
				return flags.change(c, draft)
			}, c.client.Jobs.Replace)
			return jobKind().wrote(c, written, err, "The job %s is changed; its next run: %s.", c.args[0], nextText(written))
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
				return c.watch(ctx, run)
			}
			return terminal.PrintOne(c.Terminal, c.format, runKind().items(), run)
		},
	})
}

func (s *shell) enableJob(use string, enabled bool) *cobra.Command {
	short := "Stop the schedule of jobs"
	if enabled {
		short = "Start the schedule of jobs again"
	}
	return s.command(action{
		use: use + " ID...", short: short, example: "signalbox jobs " + use + " nightly",
		writes: true, each: true, format: terminal.FormatYAML, completes: []completion{jobKind().ids},
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
