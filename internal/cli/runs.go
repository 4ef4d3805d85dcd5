package cli

import (
	"context"
	"fmt"
	"iter"
	"math"
	"time"

	"github.com/spf13/cobra"

	signalbox "github.com/signalbox/signalbox/client"
	"github.com/signalbox/signalbox/internal/cli/terminal"
)

func runKind() kind[signalbox.Run] {
	return kind[signalbox.Run]{
		name: "run", noun: "run",
		of: func(r signalbox.Run) signalbox.Resource { return r.Resource },
		get: func(ctx context.Context, c *signalbox.Client, id string) (signalbox.Run, error) {
			return c.Runs.Get(ctx, id)
		},
		all: func(ctx context.Context, c *signalbox.Client) iter.Seq2[signalbox.Run, error] {
			const completed = 50
			return first(completed, c.Runs.All(ctx, signalbox.RunParams{Size: completed}))
		},
		columns: []terminal.Column[signalbox.Run]{
			{Title: "ID", Text: func(r signalbox.Run) string { return r.ID }, Whole: true},
			{Title: "JOB", Text: func(r signalbox.Run) string { return r.Job }, Whole: true},
			{Title: "STATUS", Text: func(r signalbox.Run) string { return string(r.Status) },
				Color: func(r signalbox.Run) terminal.Color { return statusColor(r.Status) }},
			{Title: "RESULT", Text: runResult},
			{Title: "CREATED", Text: func(r signalbox.Run) string { return moment(&r.CreatedAt) }},
			{Title: "TOOK", Text: func(r signalbox.Run) string { return millis(r.RunMillis) }},
			{Title: "TRIGGER", Text: func(r signalbox.Run) string { return string(r.Trigger) }, Wide: true},
			{Title: "ERROR", Text: func(r signalbox.Run) string { return value(r.Error) }, Wide: true},
		},
	}
}

func runStatuses() []string {
	return []string{string(signalbox.RunPending), string(signalbox.RunRunning), string(signalbox.RunSucceeded), string(signalbox.RunFailed), string(signalbox.RunCanceled)}
}

func statusColor(status signalbox.RunStatus) terminal.Color {
	switch status {
	case signalbox.RunSucceeded:
		return terminal.Good
	case signalbox.RunFailed:
		return terminal.Bad
	case signalbox.RunCanceled:
		return terminal.Faint
	default:
		return terminal.Plain
	}
}

// runResult returns the status of the response, or why there is none.
func runResult(r signalbox.Run) string {
	if r.Result != nil {
		return fmt.Sprint(r.Result.Status)
	}
	return string(value(r.FailureReason))
}

func millis(duration *int64) string {
	if duration == nil {
		return ""
	}
	return (time.Duration(*duration) * time.Millisecond).String()
}

func (s *shell) runs() *cobra.Command {
	return terminal.Group("runs", "Executions of jobs", s.listRuns(), runKind().show(s, "signalbox runs get $RUN"), s.watchRun(), s.cancelRun(), s.rerunRun())
}

func (s *shell) listRuns() *cobra.Command {
	var job, status string
	var limit int
	return runKind().list(s, action{
		use: "list", short: "List runs, the newest first", example: "signalbox runs list\nsignalbox runs list --job nightly --status FAILED --limit 10",
		flags: func(cmd *cobra.Command) {
			s.addCompleted(cmd, &job, "job", "list the runs of the job with this `ID`", jobKind().ids)
			terminal.AddChoice(cmd, &status, "status", "", "list runs with one status", runStatuses()...)
			addLimit(cmd, &limit)
		},
		filters: func(ctx context.Context, c *call) error { return jobKind().exists(ctx, c, job) },
	}, func(ctx context.Context, c *call) iter.Seq2[signalbox.Run, error] {
		params := signalbox.RunParams{Job: job, Status: signalbox.RunStatus(status), Size: pageSize(limit)}
		return first(limit, c.client.Runs.All(ctx, params))
	})
}

// addLimit adds --limit, for lists without an upper bound.
func addLimit(cmd *cobra.Command, limit *int) {
	terminal.AddCount(cmd, limit, "limit", 50, 0, math.MaxInt, "list at most this `NUMBER`; 0 lists all")
}

// pageSize returns the size of the pages to read for a limit.
func pageSize(limit int) int {
	const largest = 1000
	if limit <= 0 {
		return largest
	}
	return min(limit, largest)
}

func (s *shell) watchRun() *cobra.Command {
	return s.command(action{
		use: "watch ID", short: "Wait for the end of a run; the exit code is 1 unless it succeeded",
		example: "signalbox runs watch $RUN", format: terminal.FormatTable, completes: []completion{runKind().ids},
		run: func(ctx context.Context, c *call) error {
			return c.watch(ctx, signalbox.Run{Resource: signalbox.Resource{ID: c.args[0]}})
		},
	})
}

// watch waits for a run and prints it. The command fails if the run did not succeed.
func (c *call) watch(ctx context.Context, known signalbox.Run) error {
	run, err := c.await(ctx, known)
	if err != nil {
		return err
	}
	if err := terminal.PrintOne(c.Terminal, c.format, runKind().items(), run); err != nil {
		return err
	}
	if run.Status == signalbox.RunSucceeded {
		return nil
	}
	if text := value(run.Error); text != "" {
		c.Note("%s", text)
	}
	return terminal.Silent(terminal.ExitFailed)
}

// await waits for the end of a run and prints its progress. known needs only the id. The first pauses are short, because most
// runs are short.
func (c *call) await(ctx context.Context, known signalbox.Run) (signalbox.Run, error) {
	const first, longest, reminder = 50 * time.Millisecond, 2 * time.Second, 15 * time.Second
	id, status, began, said := known.ID, known.Status, time.Now(), time.Now()
	if status != "" {
		c.Note("the run %s of %s is %s", id, known.Job, status)
	}
	for pause := first; ; pause = min(2*pause, longest) {
		run, err := c.client.Runs.Get(ctx, id)
		switch {
		case ctx.Err() != nil:
			return run, fmt.Errorf("interrupted: the run goes on; signalbox runs watch %s waits for it, signalbox runs cancel %s ends it", id, id)
		case err != nil:
			return run, runKind().suggest(ctx, c, id, err)
		case run.Status.Final():
			return run, nil
		case run.Status != status:
			c.Note("the run %s of %s is %s", id, run.Job, run.Status)
			said, status = time.Now(), run.Status
		case time.Since(said) > reminder:
			c.Note("the run %s of %s is still %s after %s", id, run.Job, run.Status, time.Since(began).Round(time.Second))
			said = time.Now()
		}
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
	}
}

func (s *shell) cancelRun() *cobra.Command {
	return s.command(action{
		use: "cancel ID...", short: "Cancel runs: a pending one never starts, the request of a running one is aborted",
		example: "signalbox runs cancel $PENDING", format: terminal.FormatTable, each: true, completes: []completion{runKind().ids},
		run: func(ctx context.Context, c *call) error {
			run, err := c.client.Runs.Cancel(ctx, c.args[0])
			err = runKind().suggest(ctx, c, c.args[0], err)
			return runKind().wrote(c, run, err, "The run %s is canceled.", c.args[0])
		},
	})
}

func (s *shell) rerunRun() *cobra.Command {
	var wait bool
	return s.command(action{
		use: "rerun ID", short: "Run the job of a run again", example: "signalbox runs rerun $RUN",
		format: terminal.FormatTable, completes: []completion{runKind().ids},
		flags: func(cmd *cobra.Command) { cmd.Flags().BoolVar(&wait, "wait", false, "wait for the result") },
		run: func(ctx context.Context, c *call) error {
			run, err := c.client.Runs.Rerun(ctx, c.args[0])
			if err != nil {
				return runKind().suggest(ctx, c, c.args[0], err)
			}
			if wait {
				return c.watch(ctx, run)
			}
			return terminal.PrintOne(c.Terminal, c.format, runKind().items(), run)
		},
	})
}

// healthColor returns the color of a state of health.
func healthColor(state signalbox.JobHealthState) terminal.Color {
	switch state {
	case signalbox.HealthOK:
		return terminal.Good
	case signalbox.HealthFailing, signalbox.HealthLate:
		return terminal.Bad
	case signalbox.HealthPaused:
		return terminal.Faint
	default:
		return terminal.Plain
	}
}
