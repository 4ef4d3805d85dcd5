package assistant

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	signalbox "github.com/signalbox/signalbox/client"
	"github.com/signalbox/signalbox/client/loglevel"
)

const (
	// longestLevel is the longest temporary level of an assistant: a person decides about longer ones.
	longestLevel = 24 * time.Hour
	// runPatience is how long the tool that runs a job waits for the result.
	runPatience = 30 * time.Second
)

// confirmed is the common part of the inputs of writes.
type confirmed struct {
	Confirmation string `json:"confirmation,omitempty" jsonschema:"leave out to see what would happen; then repeat the call with the confirmation of that answer"`
}

func (c confirmed) token() string { return c.Confirmation }

// write is a tool that changes something, in two steps.
type write[In interface{ token() string }] struct {
	name, description string
	// show returns what would happen, and the current state of the resource.
	show func(context.Context, In) (shown document, state string, err error)
	// do writes, unless the resource no longer has this state.
	do func(ctx context.Context, in In, state string) (document, error)
}

func addWrite[In interface{ token() string }](t *tools, server *mcp.Server, w write[In]) {
	tool := &mcp.Tool{Name: w.name, Description: w.description + " Shows what would happen first; repeat the call with the confirmation to do it."}
	mcp.AddTool(server, tool, func(ctx context.Context, _ *mcp.CallToolRequest, in In) (*mcp.CallToolResult, any, error) {
		result, err := w.call(ctx, t.pending, in)
		return nil, result, err
	})
}

// call shows the write, or does it if it is confirmed.
func (w write[In]) call(ctx context.Context, pending *confirmations, in In) (document, error) {
	call, err := callOf(w.name, in)
	if err != nil {
		return nil, err
	}
	if in.token() == "" {
		shown, state, err := w.show(ctx, in)
		if err != nil {
			return nil, err
		}
		token, err := pending.offer(call, state)
		return document{"would_happen": shown, "done": false, "confirmation": token}, err
	}
	state, err := pending.take(in.token(), call)
	if err != nil {
		return nil, err
	}
	result, err := w.do(ctx, in, state)
	return document{"result": result, "done": true}, err
}

func (t *tools) addWrites(server *mcp.Server) {
	addWrite(t, server, write[setLevel]{name: "set_level", show: t.showLevel, do: t.doLevel,
		description: "Set a temporary level of a logger in an environment. The level ends by itself."})
	addWrite(t, server, write[runJob]{name: "run_job", show: t.showRun, do: t.doRun,
		description: "Run a job now, once, beside its schedule, and wait up to 30 s for the result."})
	addWrite(t, server, write[revertChange]{name: "revert_change", show: t.showRevert, do: t.doRevert,
		description: "Revert a change: restore the resource to its state before the change, if nobody changed it since."})
}

// setLevel is the input of the tool that sets a level.
type setLevel struct {
	confirmed

	Logger      string `json:"logger" jsonschema:"the logger's name in any spelling, such as shop.payments"`
	Environment string `json:"environment" jsonschema:"the id of a managed environment"`
	Level       string `json:"level" jsonschema:"TRACE, DEBUG, INFO, WARN, ERROR, FATAL or SILENT"`
	Minutes     int    `json:"minutes" jsonschema:"for how long, 1 to 1440"`
}

func (t *tools) showLevel(ctx context.Context, in setLevel) (document, string, error) {
	before, draft, err := t.levelDraft(ctx, in)
	if err != nil {
		return nil, "", err
	}
	after, err := t.client.Loggers.Replace(ctx, in.Logger, draft, unchanged(before.ETag, signalbox.DryRun())...)
	if err != nil {
		return nil, "", err
	}
	return document{"before": levelIn(before, in.Environment), "after": levelIn(after, in.Environment)}, before.ETag, nil
}

func (t *tools) doLevel(ctx context.Context, in setLevel, state string) (document, error) {
	before, draft, err := t.levelDraft(ctx, in)
	if err != nil {
		return nil, err
	}
	if before.ETag != state {
		return nil, errChanged
	}
	after, err := t.client.Loggers.Replace(ctx, in.Logger, draft, unchanged(before.ETag)...)
	if err != nil {
		return nil, err
	}
	return levelIn(after, in.Environment), nil
}

// levelDraft returns a logger, which need not exist, and the draft that changes only its level in one environment.
func (t *tools) levelDraft(ctx context.Context, in setLevel) (signalbox.Logger, signalbox.LoggerDraft, error) {
	life := time.Duration(in.Minutes) * time.Minute
	if life < time.Minute || life > longestLevel {
		return signalbox.Logger{}, signalbox.LoggerDraft{}, fmt.Errorf("minutes must be from 1 to %d", longestLevel/time.Minute)
	}
	level, known := loglevel.Parse(in.Level)
	if !known {
		return signalbox.Logger{}, signalbox.LoggerDraft{}, fmt.Errorf("level must be one of %v", loglevel.Levels())
	}
	logger, err := t.client.Loggers.Get(ctx, in.Logger)
	if err != nil && !signalbox.IsNotFound(err) {
		return signalbox.Logger{}, signalbox.LoggerDraft{}, err
	}
	draft := signalbox.LoggerDraft{Name: logger.Name, Environments: map[string]signalbox.LevelSetting{}}
	if logger.Managed { // the levels of an unmanaged logger were only reported
		draft = logger.Draft()
	}
	draft.Environments[in.Environment] = signalbox.LevelSetting{Level: level, TTL: life}
	return logger, draft, nil
}

// errChanged says that the resource was changed after the write was shown.
var errChanged = errors.New("the resource was changed since it was shown: call without the confirmation to see what would happen now")

// unchanged adds the option that a write fails unless the resource has this ETag. A resource that does not exist has none.
func unchanged(etag string, options ...signalbox.WriteOption) []signalbox.WriteOption {
	if etag == "" {
		return options
	}
	return append(options, signalbox.IfMatch(etag))
}

// runJob is the input of the tool that runs a job.
type runJob struct {
	confirmed

	ID string `json:"id" jsonschema:"the job's id"`
}

func (t *tools) showRun(ctx context.Context, in runJob) (document, string, error) {
	job, err := t.client.Jobs.Get(ctx, in.ID)
	if err != nil {
		return nil, "", err
	}
	shown, err := showJob(job)
	if err != nil {
		return nil, "", err
	}
	return document{"would_send": shown["configuration"], "job": job.ID, "last_run": job.LastRun}, version(job), nil
}

func (t *tools) doRun(ctx context.Context, in runJob, state string) (document, error) {
	job, err := t.client.Jobs.Get(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	if version(job) != state {
		return nil, errChanged
	}
	run, err := t.client.Jobs.Run(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	waiting, cancel := context.WithTimeout(ctx, runPatience)
	defer cancel()
	if ended, err := t.client.Runs.Wait(waiting, run.ID); err == nil {
		run = ended
	}
	return showRun(run)
}

// version identifies a job's request. The ETag would not do: it changes with every run.
func version(job signalbox.Job) string { return fmt.Sprintf("%s %d", job.CreatedAt, job.Version) }

// revertChange is the input of the tool that reverts a change.
type revertChange struct {
	confirmed
	numbered
}

func (t *tools) showRevert(ctx context.Context, in revertChange) (document, string, error) {
	change, err := t.client.Changes.Revert(ctx, in.Number, signalbox.DryRun())
	if err != nil {
		return nil, "", err
	}
	shown, err := without(showChange, "id")(change)
	return shown, "", err
}

// doRevert needs no state: the server refuses to revert if the resource was changed since.
func (t *tools) doRevert(ctx context.Context, in revertChange, _ string) (document, error) {
	change, err := t.client.Changes.Revert(ctx, in.Number)
	if err != nil {
		return nil, err
	}
	return showChange(change)
}
