package assistant

import (
	"context"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	signalbox "github.com/signalbox/signalbox/client"
	"github.com/signalbox/signalbox/internal/hosts"
)

// listRuns is the input of the tool that lists runs.
type listRuns struct {
	Job    string `json:"job,omitempty" jsonschema:"only runs of the job with this id"`
	Status string `json:"status,omitempty" jsonschema:"PENDING, RUNNING, SUCCEEDED, FAILED or CANCELED"`
	After  string `json:"after,omitempty" jsonschema:"the value of next in the previous answer, for older runs"`
}

// schedule is the input of the tool that explains a schedule.
type schedule struct {
	Schedule string `json:"schedule" jsonschema:"five cron fields in UTC such as 30 2 * * *, a date and time, or now"`
}

func (t *tools) addJobs(server *mcp.Server) {
	addRead(server, "list_jobs", "List scheduled HTTP jobs: when they fire next and how their last run ended.",
		func(ctx context.Context, in page) (document, error) {
			listed, err := t.client.Jobs.List(ctx, signalbox.JobParams{Paging: in.paging(), Search: in.Search})
			return listOf(listed, err, without(showJob, "configuration"))
		})
	addGet(server, "get_job", "Read a job with the request that it sends. Values of headers and user names and passwords of URLs are never shown.", t.client.Jobs.Get, showJob)
	addRead(server, "list_runs", "List runs of jobs, newest first.",
		func(ctx context.Context, in listRuns) (document, error) {
			params := signalbox.RunParams{Job: in.Job, Status: signalbox.RunStatus(in.Status), Size: pageSize, After: in.After}
			listed, err := t.client.Runs.List(ctx, params)
			return recentOf(listed, err, without(showRun, "request", "result"))
		})
	addGet(server, "get_run", "Read a run: its request, its response, how long each phase took, and why it failed.", t.client.Runs.Get, showRun)
	addRead(server, "explain_schedule", "List the next times at which a schedule fires.",
		func(ctx context.Context, in schedule) (document, error) {
			const instants = 5
			preview, err := t.client.Jobs.PreviewSchedule(ctx, in.Schedule, instants)
			if err != nil {
				return nil, err
			}
			return documentOf(preview.Resource, preview)
		})
}

// showJob shows a job without the values of its headers and the user information of its URL, even if the key may read them:
// they are often credentials.
func showJob(job signalbox.Job) (document, error) {
	headers := make([]signalbox.JobHeader, len(job.Configuration.Headers))
	for i, header := range job.Configuration.Headers {
		headers[i] = signalbox.JobHeader{Name: header.Name, Value: hosts.Redacted}
	}
	job.Configuration.Headers, job.Configuration.URL = headers, hosts.RedactUser(job.Configuration.URL)
	return documentOf(job.Resource, job)
}

func showRun(run signalbox.Run) (document, error) { return documentOf(run.Resource, run) }
