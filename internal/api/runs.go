package api

import (
	"net/http"

	"github.com/signalbox/signalbox/internal/jobs"
	"github.com/signalbox/signalbox/internal/jsonapi"
)

func runResource() resource[jobs.Run, none, jobs.RunFilter] {
	return describe(jobs.KindRun, func(run jobs.Run) (string, any) { return run.ID, run.Attributes() }, runFilter, noDraft)
}

func runFilter(c *call) jobs.RunFilter {
	filter := jobs.RunFilter{
		Job:     c.query.Filter("job").Or(""),
		Status:  runStatus(c, "status"),
		Trigger: oneOf(c, "trigger", jobs.OnSchedule, jobs.Manual, jobs.Rerun),
	}
	filter.From, filter.To = c.query.FilterRange("created_at")
	return filter
}

// runStatus reads a filter by the status of a run.
func runStatus(c *call, name string) jobs.Status {
	return oneOf(c, name, jobs.Pending, jobs.Running, jobs.Succeeded, jobs.Failed, jobs.Canceled)
}

// shownUsage is an account's usage of its plan and the size of its history.
type shownUsage struct {
	jobs.Usage

	HistoryBytes      int64 `json:"history_bytes"`
	HistoryBytesLimit int64 `json:"history_bytes_limit"`
}

func (a *API) usage(c *call) (reply, error) {
	period := c.query.Filter("period").Or(current)
	if err := c.query.Err(); err != nil {
		return reply{}, err
	}
	usage, err := a.Jobs.Usage(c.ctx(), c.caller, period)
	if err != nil {
		return reply{}, err
	}
	bytes, limit, err := a.History.Bytes(c.ctx(), c.caller.Account)
	return one(http.StatusOK, jsonapi.Resource{ID: current, Type: jobs.KindUsage, Attributes: shownUsage{usage, bytes, limit}}, err)
}
