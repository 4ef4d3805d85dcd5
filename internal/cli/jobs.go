package cli

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"strings"
	"time"

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
			{Title: "HEALTH", Text: func(j signalbox.Job) string { return string(j.Health.State) }, Color: func(j signalbox.Job) terminal.Color { return healthColor(j.Health.State) }},
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
	var status, health string
	return jobKind().list(s, action{
		use: "list", short: "List jobs, the newest first", example: "signalbox jobs list\nsignalbox jobs list --health failing -o wide",
		flags: func(cmd *cobra.Command) {
			filter.addSearch(cmd)
			terminal.AddChoice(cmd, &status, "last-status", "", "list jobs whose newest run has this status", runStatuses()...)
			terminal.AddChoice(cmd, &health, "health", "", "list jobs in this state of health", healthStates()...)
		},
	}, func(ctx context.Context, c *call) iter.Seq2[signalbox.Job, error] {
		return c.client.Jobs.All(ctx, signalbox.JobParams{Search: filter.search, LastStatus: signalbox.RunStatus(status), Health: signalbox.JobHealthState(health)})
	})
}

func healthStates() []string {
	return []string{string(signalbox.HealthNew), string(signalbox.HealthOK), string(signalbox.HealthFailing), string(signalbox.HealthLate), string(signalbox.HealthPaused)}
}

// jobFlags are the flags of commands that write a job.
type jobFlags struct {
	name, description, method, body, success string
	headers                                  []string
	timeout, retry, alertAfter, lateAfter    int
	timezone, overlap                        string
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
	cmd.Flags().StringVar(&f.timezone, "tz", "", "the IANA time `ZONE` of the schedule, such as Europe/Berlin (default: UTC)")
	cmd.Flags().IntVar(&f.retry, "retry", 0, "attempt a failed run again until this `NUMBER` of attempts, 2 to 10; 1 for no further attempt")
	terminal.AddChoice(cmd, &f.overlap, "overlap", "", "what happens while an earlier run has not ended", "allow", "skip", "wait")
	cmd.Flags().IntVar(&f.alertAfter, "alert-after", 0, "the `NUMBER` of final failures in a row after which the job is failing (default: 1)")
	cmd.Flags().IntVar(&f.lateAfter, "late-after", 0, "how many `SECONDS` after its time a run may start before the job is late; 0 for any")
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
	f.changePolicies(set, draft)
	if value(draft.Description) == "" {
		draft.Description = nil
	}
	if c.changed("header") {
		request.Headers, err = f.readHeaders(c)
	}
	return err
}

func (f *jobFlags) changePolicies(set func(string, func()), draft *signalbox.JobDraft) {
	set("tz", func() {
		if draft.Timezone = nil; f.timezone != "" {
			draft.Timezone = &f.timezone
		}
	})
	set("overlap", func() { draft.Overlap = signalbox.JobOverlap(f.overlap) })
	set("retry", func() {
		retry := value(draft.Retry) // the other members stay
		retry.MaxAttempts = f.retry
		if draft.Retry = &retry; f.retry == 1 {
			draft.Retry = nil
		}
	})
	alert := func(change func(*signalbox.JobAlerts)) func() {
		return func() {
			alerts := value(draft.Alerts)
			change(&alerts)
			draft.Alerts, draft.NoAlerts = &alerts, false
		}
	}
	set("alert-after", alert(func(alerts *signalbox.JobAlerts) { alerts.AfterFailures = f.alertAfter }))
	set("late-after", alert(func(alerts *signalbox.JobAlerts) {
		if alerts.LateAfterSeconds = nil; f.lateAfter != 0 {
			alerts.LateAfterSeconds = &f.lateAfter
		}
	}))
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
		long: "Create a job: a request to a URL at a date and time, by five cron fields, or now. Without --tz the schedule is in UTC; without --retry a run is attempted at most once.",
		example: "signalbox jobs create hourly '0 * * * *' https://hooks.example.com/hourly --method GET\n" +
			"signalbox jobs create morning '30 6 * * *' https://hooks.example.com/morning --tz Europe/Berlin --retry 3 --overlap skip --alert-after 2\n" +
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
		use: "set ID", short: "Change the schedule, the request or the name of a job",
		example: "signalbox jobs set nightly --schedule '15 3 * * *'\n" +
			"signalbox jobs set nightly --target https://hooks.example.com/nightly --timeout 20 --header 'Accept: text/plain'",
		writes: true, format: terminal.FormatYAML, completes: []completion{jobKind().ids},
		flags: func(cmd *cobra.Command) {
			cmd.Flags().StringVar(&schedule, "schedule", "", "the `SCHEDULE`: a date and time, five cron fields, or now")
			cmd.Flags().StringVar(&url, "target", "", "the `URL` to send the request to")
			flags.add(cmd)
			for _, name := range []string{"name", "method", "success", "timeout", "tz", "alert-after"} { // omitted values stay, so there is no default
				flag := cmd.Flags().Lookup(name)
				flag.Usage, _, _ = strings.Cut(flag.Usage, " (default: ")
			}
			cmd.Flags().Lookup("method").DefValue = ""
			cmd.MarkFlagsOneRequired("schedule", "target", "name", "description", "method", "header", "body", "success", "timeout",
				"tz", "retry", "overlap", "alert-after", "late-after")
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
		use: "run ID...", short: "Run jobs now, outside their schedules",
		long:    "Run jobs now, outside their schedules. With --wait the results are shown, and the exit code is 1 unless all runs succeeded.",
		example: "signalbox jobs run nightly",
		each:    true, format: terminal.FormatTable, completes: []completion{jobKind().ids},
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
	var timezone string
	return s.command(action{
		use: "next SCHEDULE", short: "Show when a schedule, or the job with this id, fires next",
		example: "signalbox jobs next '30 2 * * *' --count 3\nsignalbox jobs next nightly",
		format:  terminal.FormatTable, completes: []completion{jobKind().ids},
		flags: func(cmd *cobra.Command) {
			cmd.Flags().IntVar(&count, "count", 0, "how many times, 1 to 100 (default: 5)")
			cmd.Flags().StringVar(&timezone, "tz", "", "the IANA time `ZONE` of the schedule (default: the job's, or UTC)")
		},
		run: func(ctx context.Context, c *call) error {
			schedule, paused := c.args[0], false
			if job, err := c.client.Jobs.Get(ctx, schedule); err == nil && !strings.Contains(schedule, " ") {
				schedule, timezone = job.Schedule, cmp.Or(timezone, value(job.Timezone))
				paused = !job.Enabled
			}
			preview, err := c.client.Jobs.PreviewScheduleIn(ctx, schedule, timezone, count)
			if err != nil {
				return err
			}
			if !c.format.IsText() {
				return c.PrintValue(c.format, preview)
			}
			for _, at := range preview.NextLocal {
				c.Say("%s\n", fireTime(at))
			}
			if paused && len(preview.NextLocal) > 0 {
				c.Note("the job %s is paused; it fires at these times after signalbox jobs resume %[1]s", c.args[0])
			}
			return nil
		},
	})
}

// fireTime returns a time at which a job fires, in UTC and on the clock of its time zone.
func fireTime(local time.Time) terminal.Shown {
	if _, offset := local.Zone(); offset == 0 {
		return terminal.Sprintf("%s  %s", moment(&local), local.UTC().Weekday())
	}
	return terminal.Sprintf("%s  %s", moment(&local), local.Format("Monday 15:04 -07:00"))
}
