package signalbox_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	signalbox "github.com/signalbox/signalbox/client"
	"github.com/signalbox/signalbox/client/internal/servertest"
	"github.com/signalbox/signalbox/client/internal/testenv"
)

// newReceiver returns a server for jobs to call. It echoes the request. It answers /hold only after the caller has
// disconnected.
func newReceiver(t *testing.T) *httptest.Server {
	t.Helper()
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if r.URL.Path == "/hold" {
			<-r.Context().Done()
			return
		}
		_, _ = io.WriteString(w, r.Method+" "+r.Header.Get("X-Greeting")+" "+string(body))
	}))
	t.Cleanup(receiver.Close)
	return receiver
}

func TestJobsAPI_Server(t *testing.T) {
	t.Parallel()
	server := servertest.Start(t)
	api, ctx := server.Client().Jobs, t.Context()
	made, err := api.Create(ctx, "nightly", signalbox.JobDraft{Name: "Nightly", Schedule: "0 3 * * *", Configuration: signalbox.JobConfiguration{
		URL: "http://10.0.0.1/", Headers: []signalbox.JobHeader{{Name: "Authorization", Value: "Bearer secret"}}}})
	if err != nil {
		t.Fatal(err)
	}
	if made.ID != "nightly" || made.ETag == "" || !made.Enabled || made.Version != 1 || made.NextRunAt == nil || made.Configuration.Method != "POST" ||
		made.Configuration.Timeout != 30 || !*made.Configuration.TLSVerify || made.Configuration.Headers[0].Value != "Bearer secret" {
		t.Errorf("made %+v", made)
	}
	got, err := api.Get(ctx, made.ID)
	if diff := testenv.Diff(made, got); diff != "" || err != nil {
		t.Error(err, diff)
	}
	if _, err := api.Create(ctx, made.ID, made.Draft()); !signalbox.IsAlreadyExists(err) {
		t.Errorf("got %v", err)
	}
	if _, err := api.Create(ctx, "bad", signalbox.JobDraft{}); !signalbox.IsValidation(err) {
		t.Errorf("got %v", err)
	}

	draft := made.Draft()
	draft.Enabled, draft.Description = new(false), new("At night")
	changed, err := api.Replace(ctx, made.ID, draft, signalbox.IfMatch(made.ETag))
	if err != nil || changed.Enabled || changed.NextRunAt != nil || changed.Version != 2 || *changed.Description != "At night" {
		t.Errorf("changed %+v, %v", changed, err)
	}
	if diff := testenv.Diff(made.Configuration, changed.Configuration); diff != "" {
		t.Error(diff)
	}
	if _, err := api.Replace(ctx, made.ID, draft, signalbox.IfMatch(made.ETag)); !signalbox.IsVersionMismatch(err) {
		t.Errorf("got %v", err)
	}
	if page, err := api.List(ctx, signalbox.JobParams{Enabled: new(false), Search: "NIGHT"}); err != nil || len(page.Items) != 1 || page.Items[0].ID != made.ID {
		t.Errorf("listed %+v, %v", page, err)
	}
	for job, err := range api.All(ctx, signalbox.JobParams{Enabled: new(true)}) {
		t.Errorf("listed %+v, %v", job, err)
	}
	if err := api.Delete(ctx, made.ID, signalbox.IfMatch(changed.ETag)); err != nil {
		t.Error(err)
	}
	if _, err := api.Get(ctx, made.ID); !signalbox.IsNotFound(err) {
		t.Errorf("got %v", err)
	}
}

func TestJobsAPI_PreviewSchedule(t *testing.T) {
	t.Parallel()
	api, ctx := servertest.Start(t).Client().Jobs, t.Context()
	got, err := api.PreviewSchedule(ctx, "30 2 * * *", 3)
	if err != nil || got.ID != "30 2 * * *" || got.Kind != signalbox.ScheduleKindCron || len(got.Next) != 3 || got.Next[0].Format("15:04") != "02:30" {
		t.Errorf("got %+v, %v", got, err)
	}
	if got, err := api.PreviewSchedule(ctx, signalbox.ScheduleNow, 0); err != nil || got.Kind != signalbox.ScheduleKindNow || len(got.Next) != 1 {
		t.Errorf("got %+v, %v", got, err)
	}
	if _, err := api.PreviewSchedule(ctx, "@daily", 0); !signalbox.IsInvalidParameter(err) {
		t.Errorf("got %v", err)
	}
}

func TestRunsAPI_Server(t *testing.T) {
	t.Parallel()
	receiver := newReceiver(t)
	client, ctx := servertest.Start(t, "SIGNALBOX_ALLOW_NETWORKS=127.0.0.0/8").Client(), t.Context()
	for id, path := range map[string]string{"greet": "/", "hold": "/hold"} {
		if _, err := client.Jobs.Create(ctx, id, signalbox.JobDraft{Name: id, Schedule: "0 3 * * *", Enabled: new(false), Configuration: signalbox.JobConfiguration{
			Method: "PUT", URL: receiver.URL + path, Body: new("world"), Headers: []signalbox.JobHeader{{Name: "X-Greeting", Value: "hello"}}}}); err != nil {
			t.Fatal(err)
		}
	}
	queued, err := client.Jobs.Run(ctx, "greet")
	if err != nil || queued.Trigger != signalbox.RunTriggerManual || queued.Job != "greet" {
		t.Fatalf("queued %+v, %v", queued, err)
	}
	run, err := client.Runs.Wait(ctx, queued.ID)
	if err != nil || run.Status != signalbox.RunSucceeded || run.Result == nil || run.Result.Body != "PUT hello world" || run.Result.Timings == nil ||
		*run.JobVersion != 1 || run.Request.Headers[0].Value != "<redacted>" || *run.TotalMillis < *run.RunMillis {
		t.Fatalf("got %+v, %v", run, err)
	}
	if _, err := client.Runs.Cancel(ctx, run.ID); !signalbox.IsRunFinished(err) {
		t.Errorf("got %v", err)
	}
	again, err := client.Runs.Rerun(ctx, run.ID)
	if err != nil || again.Trigger != signalbox.RunTriggerRerun || *again.RerunOf != run.ID {
		t.Errorf("got %+v, %v", again, err)
	}
	held, err := client.Jobs.Run(ctx, "hold")
	if err != nil {
		t.Fatal(err)
	}
	canceled, err := client.Runs.Cancel(ctx, held.ID)
	if err != nil || canceled.Status != signalbox.RunCanceled || !canceled.Status.Final() {
		t.Errorf("got %+v, %v", canceled, err)
	}
	if _, err := client.Runs.Wait(ctx, again.ID); err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, run := range collect(t, client.Runs.All(ctx, signalbox.RunParams{Job: "greet", Size: 1, Status: signalbox.RunSucceeded})) {
		ids = append(ids, run.ID)
	}
	if diff := testenv.Diff([]string{again.ID, run.ID}, ids); diff != "" {
		t.Error(diff)
	}
	usage, err := client.Usage.Get(ctx, "")
	if err != nil || usage.RunsUsed < 2 || usage.RunsIncluded != signalbox.Unlimited || usage.ActiveJobs != 0 {
		t.Errorf("used %+v, %v", usage, err)
	}
	if _, err := client.Usage.Get(ctx, "yesterday"); !signalbox.IsInvalidParameter(err) {
		t.Errorf("yesterday is a month: %v", err)
	}
	job, err := client.Jobs.Get(ctx, "greet")
	if err != nil || job.LastRun == nil || job.LastRun.ID != again.ID || job.LastRun.Status != signalbox.RunSucceeded || job.LastRun.RunMillis == nil {
		t.Errorf("got %+v, %v", job.LastRun, err)
	}
	if page, err := client.Jobs.List(ctx, signalbox.JobParams{LastStatus: signalbox.RunCanceled}); err != nil || len(page.Items) != 1 || page.Items[0].ID != "hold" {
		t.Errorf("listed %+v, %v", page.Items, err)
	}
	stats, err := client.Jobs.Stats(ctx, "greet", 2)
	if err != nil || stats.ID != "greet" || len(stats.Days) != 2 || stats.Days[0].Succeeded+stats.Days[1].Succeeded != 2 {
		t.Errorf("got %+v, %v", stats, err)
	}
	all, err := client.Runs.Stats(ctx, 2)
	if err != nil || len(all.Hours) != 2 || !all.Complete || all.Hours[0].Succeeded+all.Hours[1].Succeeded < 2 {
		t.Errorf("got %+v, %v", all, err)
	}
	if err := client.Jobs.Delete(ctx, "greet"); err != nil {
		t.Fatal(err)
	}
	if _, err := client.Runs.Rerun(ctx, run.ID); !signalbox.IsJobDeleted(err) {
		t.Errorf("got %v", err)
	}
}
