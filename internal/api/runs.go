package api

import (
	"context"
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/signalbox/signalbox/internal/accounts"
	"github.com/signalbox/signalbox/internal/jobs"
	"github.com/signalbox/signalbox/internal/jsonapi"
)

func runResource(run jobs.Run) jsonapi.Resource {
	return jsonapi.Resource{ID: run.ID, Type: jobs.KindRun, Attributes: run.Attributes()}
}

func (a *API) runs(c *call) (reply, error) {
	cursor := c.query.Cursor("-created_at")
	filter := c.runFilter()
	if cursor.After != "" {
		id, err := uuid.Parse(cursor.After)
		if err != nil || !strings.EqualFold(id.String(), cursor.After) {
			c.query.RefuseParameter("page[after]", "must be the id of a run")
		}
		cursor.After = id.String()
	}
	if err := c.query.Err(); err != nil {
		return failed(err)
	}
	tail, err := a.Jobs.Runs(c.ctx(), c.caller, filter, cursor)
	if err != nil {
		return failed(err)
	}
	var next *string
	if tail.More {
		next = a.nextPage(c, tail.Items[len(tail.Items)-1].ID, cursor.Size)
	}
	return ok(jsonapi.NewStream(tail.Items, cursor.Size, next, runResource))
}

func (c *call) runFilter() jobs.RunFilter {
	filter := jobs.RunFilter{
		Job: c.query.Filter("job").Or(""),
		Status: jobs.Status(c.oneOf("status",
			string(jobs.Pending), string(jobs.Running), string(jobs.Succeeded), string(jobs.Failed), string(jobs.Canceled))),
		Trigger: jobs.Trigger(c.oneOf("trigger", string(jobs.OnSchedule), string(jobs.Manual), string(jobs.Rerun))),
	}
	filter.From, filter.To = c.query.FilterRange("created_at")
	return filter
}

// oneOf reads a filter that is one of a few words, in any case.
func (c *call) oneOf(name string, words ...string) string {
	text, sent := c.query.Filter(name).Get()
	if !sent {
		return ""
	}
	text = strings.ToUpper(text)
	if !slices.Contains(words, text) {
		c.query.Refuse(name, "must be one of "+strings.Join(words, ", "))
	}
	return text
}

func (a *API) run(c *call) (reply, error) {
	id, err := c.id("id")
	if err != nil {
		return failed(err)
	}
	run, err := a.Jobs.Run(c.ctx(), c.caller, id)
	return read(run, err, runResource)
}

func (a *API) runJob(c *call) (reply, error) { return a.runAction(c, a.Jobs.RunNow) }

func (a *API) cancelRun(c *call) (reply, error) { return a.runAction(c, a.Jobs.Cancel) }

func (a *API) rerun(c *call) (reply, error) { return a.runAction(c, a.Jobs.Rerun) }

// runActor is an action on a job or a run that gives a run.
type runActor func(ctx context.Context, caller accounts.Caller, id string) (jobs.Run, error)

// runAction does to the resource of the path what makes, or changes, a run.
func (a *API) runAction(c *call, act runActor) (reply, error) {
	id, err := c.id("id")
	if err != nil {
		return failed(err)
	}
	if _, err := c.objectOrNothing(); err != nil {
		return failed(err)
	}
	run, err := act(c.ctx(), c.caller, id)
	return read(run, err, runResource)
}

func (a *API) usage(c *call) (reply, error) {
	period := c.query.Filter("period").Or("current")
	if err := c.query.Err(); err != nil {
		return failed(err)
	}
	usage, err := a.Jobs.Usage(c.ctx(), c.caller, period)
	return read(usage, err, func(usage jobs.Usage) jsonapi.Resource {
		return jsonapi.Resource{ID: "current", Type: jobs.KindUsage, Attributes: usage}
	})
}
