package signalbox_test

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	signalbox "github.com/signalbox/signalbox/client"
	"github.com/signalbox/signalbox/client/flageval"
	"github.com/signalbox/signalbox/client/loglevel"
)

// List the flags, and switch one on in staging unless somebody else changes it meanwhile.
func ExampleFlagsAPI() {
	ctx, client := context.Background(), connect() // signalbox.New(url, key)
	for flag, err := range client.Flags.All(ctx, signalbox.FlagParams{Type: flageval.Boolean}) {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(flag.ID, string(flag.Default))
	}
	flag, err := client.Flags.Get(ctx, "checkout-v2")
	if err != nil {
		fmt.Println(err)
		return
	}
	draft := flag.Draft()
	draft.Environments["staging"] = flageval.Environment{Enabled: true, Default: json.RawMessage(`true`)}
	flag, err = client.Flags.Replace(ctx, flag.ID, draft, signalbox.IfMatch(flag.ETag))
	switch {
	case signalbox.IsVersionMismatch(err):
		fmt.Println("somebody has changed the flag; read it again")
	case err != nil:
		fmt.Println(err)
	default:
		fmt.Println("in staging", string(flag.Environments["staging"].Default))
	}
	// Output:
	// checkout-v2 false
	// in staging true
}

// List the loggers of a service, and set one to DEBUG in production for half an hour.
func ExampleLoggersAPI() {
	ctx, client := context.Background(), connect() // signalbox.New(url, key)
	for logger, err := range client.Loggers.All(ctx, signalbox.LoggerParams{Service: "checkout"}) {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(logger.Name, logger.Level)
	}
	logger, err := client.Loggers.Get(ctx, "shop.sql")
	if err != nil {
		fmt.Println(err)
		return
	}
	draft := logger.Draft()
	draft.Environments["production"] = signalbox.LevelSetting{Level: loglevel.Debug, TTL: 30 * time.Minute}
	logger, err = client.Loggers.Replace(ctx, logger.ID, draft, signalbox.IfMatch(logger.ETag))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(logger.Name, logger.Level, "in production", logger.Environments["production"].Level)
	// Output:
	// shop.sql WARN
	// shop.sql WARN in production DEBUG
}

// List the log groups, and create one whose loggers are quiet.
func ExampleLogGroupsAPI() {
	ctx, client := context.Background(), connect() // signalbox.New(url, key)
	for group, err := range client.LogGroups.All(ctx, signalbox.LogGroupParams{}) {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(group.ID, group.Level)
	}
	noisy, err := client.LogGroups.Apply(ctx, "noisy", signalbox.LogGroupDraft{Base: signalbox.LevelSetting{Level: loglevel.Error}})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(noisy.ID, noisy.Level)
	// Output:
	// database INFO
	// noisy ERROR
}

// List the configs, give a service its own, and read what it gets in production.
func ExampleConfigsAPI() {
	ctx, client := context.Background(), connect() // signalbox.New(url, key)
	for config, err := range client.Configs.All(ctx, signalbox.ConfigParams{}) {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(config.ID)
	}
	_, err := client.Configs.Apply(ctx, "checkout", signalbox.ConfigDraft{
		Items: map[string]signalbox.ConfigItem{"timeout_ms": {Value: json.RawMessage(`200`)}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	resolved, err := client.Configs.Resolve(ctx, "checkout", "production")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(string(resolved.Values["timeout_ms"]), "from", resolved.Origins["timeout_ms"].Config)
	// Output:
	// common
	// 200 from checkout
}

// List the jobs that fire, and schedule one for every night.
func ExampleJobsAPI() {
	ctx, client := context.Background(), connect() // signalbox.New(url, key)
	for job, err := range client.Jobs.All(ctx, signalbox.JobParams{Enabled: new(true)}) {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(job.Name, job.Schedule)
	}
	created, err := client.Jobs.Create(ctx, "clean-up", signalbox.JobDraft{
		Name: "Clean up", Schedule: "30 2 * * *", // in UTC
		Configuration: signalbox.JobConfiguration{URL: "https://shop.example/clean-up", Timeout: 60},
	})
	switch {
	case signalbox.IsLimitReached(err):
		fmt.Println("the plan has no more jobs")
	case err != nil:
		fmt.Println(err)
	default:
		fmt.Println(created.Name, created.Schedule)
	}
	// Output:
	// Reports 0 3 * * *
	// Clean up 30 2 * * *
}

// Repeat the runs that failed in the last hour, and wait for them.
func ExampleRunsAPI() {
	ctx, client := context.Background(), connect() // signalbox.New(url, key)
	params := signalbox.RunParams{Status: signalbox.RunFailed, From: time.Now().Add(-time.Hour)}
	for failed, err := range client.Runs.All(ctx, params) {
		if err != nil {
			fmt.Println(err)
			return
		}
		run, err := client.Runs.Rerun(ctx, failed.ID)
		if signalbox.IsJobDeleted(err) {
			continue
		}
		if err == nil {
			run, err = client.Runs.Wait(ctx, run.ID)
		}
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(run.Job, *failed.FailureReason, "and then", run.Status)
	}
	// Output:
	// reports TIMEOUT and then SUCCEEDED
}

// See how much of the plan is left in this month.
func ExampleUsageAPI() {
	ctx, client := context.Background(), connect() // signalbox.New(url, key)
	usage, err := client.Usage.Get(ctx, "")
	if err != nil {
		fmt.Println(err)
		return
	}
	if usage.RunsIncluded != signalbox.Unlimited {
		fmt.Println(usage.RunsIncluded-usage.RunsUsed, "runs are left in", usage.Period)
	}
	// Output:
	// 2880 runs are left in 2030-01
}
