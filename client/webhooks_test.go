package signalbox_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	signalbox "github.com/signalbox/signalbox/client"
	"github.com/signalbox/signalbox/client/internal/servertest"
	"github.com/signalbox/signalbox/client/internal/testenv"
)

// received is a request that the receiver of a webhook got.
type received struct {
	header http.Header
	body   []byte
}

func TestWebhooksAPI_Server(t *testing.T) {
	t.Parallel()
	messages := make(chan received, 10)
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		messages <- received{r.Header, body}
	}))
	t.Cleanup(receiver.Close)
	server := servertest.Start(t, "SIGNALBOX_ALLOW_NETWORKS=127.0.0.0/8")
	api, ctx := server.Client().Webhooks, t.Context()
	made, err := api.Create(ctx, signalbox.WebhookDraft{Name: "Ops", URL: receiver.URL, Events: []string{"change.environment"},
		Headers: []signalbox.JobHeader{{Name: "X-Token", Value: "t"}}, Filter: signalbox.WebhookFilter{IDs: []string{"eu-*"}}})
	if err != nil || made.Secret == "" || made.State != signalbox.WebhookOK || made.Format != signalbox.WebhookStandard || made.ETag == "" {
		t.Fatalf("made %+v, %v", made, err)
	}
	got, err := api.Get(ctx, made.ID)
	if secret := got.Secret; secret != "" {
		t.Error("the secret is shown again")
	}
	got.Secret = made.Secret
	if diff := testenv.Diff(made, got); diff != "" || err != nil {
		t.Error(err, diff)
	}
	if _, err := api.Create(ctx, signalbox.WebhookDraft{}); !signalbox.IsValidation(err) {
		t.Errorf("got %v", err)
	}
	rotated, err := api.RotateSecret(ctx, made.ID)
	if err != nil || rotated.Secret == made.Secret || rotated.Secret == "" {
		t.Errorf("rotated %+v, %v", rotated, err)
	}
	if _, err := server.Client().Environments.Create(ctx, "eu-1", signalbox.EnvironmentDraft{Name: "EU"}); err != nil {
		t.Fatal(err)
	}
	message := <-messages
	for _, secret := range []string{made.Secret, rotated.Secret} {
		event, err := signalbox.VerifyWebhook(secret, message.header, message.body)
		if err != nil || event.Type != "change.environment" || event.Timestamp.IsZero() {
			t.Errorf("%+v, %v", event, err)
		}
	}
	redeliver(t, api, made.ID, messages)
	draft := rotated.Draft()
	draft.Enabled = new(false)
	changed, err := api.Replace(ctx, made.ID, draft, signalbox.IfMatch(rotated.ETag))
	if err != nil || changed.State != signalbox.WebhookDisabled || changed.Headers[0].Value != "t" {
		t.Errorf("changed %+v, %v", changed, err)
	}
	page, err := api.List(ctx, signalbox.WebhookParams{})
	if err != nil || len(page.Items) != 1 || len(collect(t, api.All(ctx, signalbox.WebhookParams{}))) != 1 {
		t.Errorf("listed %+v, %v", page, err)
	}
	if err := api.Delete(ctx, made.ID); err != nil {
		t.Error(err)
	}
}

// redeliver sends a test message, and then the delivered messages again.
func redeliver(t *testing.T, api signalbox.WebhooksAPI, id string, messages <-chan received) {
	t.Helper()
	test, err := api.Test(t.Context(), id)
	if err != nil || test.Type != "webhook.test" {
		t.Errorf("tested %+v, %v", test, err)
	}
	if got := (<-messages).header.Get("webhook-id"); got != test.ID {
		t.Errorf("%s was sent as %s", test.ID, got)
	}
	for delivered := 0; delivered < 2; { // until both deliveries are recorded
		page, err := api.Deliveries(t.Context(), id, signalbox.DeliveryParams{Status: signalbox.DeliveryDelivered, Size: 10})
		if err != nil {
			t.Fatal(err)
		}
		delivered = len(page.Items)
	}
	all := collect(t, api.AllDeliveries(t.Context(), id, signalbox.DeliveryParams{Size: 1}))
	if len(all) != 2 || len(all[0].Attempts) != 1 || *all[0].Attempts[0].Status != 200 {
		t.Fatalf("%+v", all)
	}
	if again, err := api.Redeliver(t.Context(), id, all[0].ID); err != nil || again.ID != all[0].ID {
		t.Errorf("%+v, %v", again, err)
	}
	<-messages
	now := time.Now()
	if again, err := api.RedeliverRange(t.Context(), id, now.Add(-time.Hour), now.Add(time.Hour), false); err != nil || again.Queued != 0 {
		t.Errorf("%+v, %v", again, err)
	}
}
