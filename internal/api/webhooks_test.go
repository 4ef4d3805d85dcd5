package api_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	signalbox "github.com/signalbox/signalbox/client"
)

// delivered waits until the newest delivery of a webhook is in a state, and returns it.
func (c client) delivered(path, status string) resource {
	c.t.Helper()
	var got []resource
	eventually(c.t, patience, "the delivery of "+path+" is "+status, func() bool {
		got = c.get(path + "/deliveries").want(200).page().Data
		return len(got) > 0 && got[0].Attributes["status"] == status
	})
	return got[0]
}

func TestWebhooks_TellsChanges(t *testing.T) {
	t.Parallel()
	onBoth(t, "pro", func(t *testing.T, owner client) {
		target := newSink(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("thanks")) })
		made := owner.post(webhooksPath, envelope("webhook", "", hook(attributes{"url": target.url(), "events": []string{"change.flag", "change.webhook"},
			"headers": attributes{"X-Token": "t"}}))).want(201)
		path := webhooksPath + "/" + made.data().ID
		target.take(t) // it hears of itself
		flag := owner.makeFlag(unique("flag"), nil)
		got := target.take(t)
		event, err := signalbox.VerifyWebhook(made.text("secret"), got.Header, []byte(got.body))
		if err != nil || event.Type != "change.flag" || got.Header.Get("X-Token") != "t" || got.Header.Get("X-Signalbox-Run") != "" || !strings.HasPrefix(got.Header.Get("User-Agent"), "signalbox/") {
			t.Errorf("%+v, %v, %v", event, err, got.Header)
		}
		if !strings.Contains(got.body, `"summary":[{"text":"Created"`) || !strings.Contains(got.body, `"key":"`+flag[len(flagsPath)+1:]) {
			t.Error(got.body)
		}
		sent := owner.delivered(path, "delivered")
		attempt := sent.Attributes["attempts"].([]any)[0].(map[string]any)
		if sent.ID != event.ID || attempt["answer"] != "thanks" || attempt["status"] != 200.0 {
			t.Errorf("%+v", sent)
		}
		owner.put(flag+"?dry_run=true", envelope("", "", boolean(true, nil))).want(200) // tells nothing
		rotated := owner.post(path+"/actions/rotate_secret", "").want(200)
		got = target.take(t)
		for _, secret := range []string{made.text("secret"), rotated.text("secret")} {
			if event, err = signalbox.VerifyWebhook(secret, got.Header, []byte(got.body)); err != nil || event.Type != "change.webhook" {
				t.Errorf("%+v, %v", event, err)
			}
		}
		if strings.Contains(got.body, secretOf(made)) || strings.Contains(got.body, "X-Token\",\"value\":\"t\"") {
			t.Error(got.body)
		}
		if shown := owner.get(path).want(200); shown.attribute("state") != "ok" || strings.Contains(string(shown.body), "whsec_") || shown.member("last_delivery.type") != "change.webhook" {
			t.Error(string(shown.body))
		}
		again := owner.post(path+"/deliveries/"+sent.ID+"/actions/redeliver", "").want(200)
		if got = target.take(t); got.Header.Get("webhook-id") != again.data().ID || again.data().ID != sent.ID {
			t.Errorf("%s is sent again as %s", sent.ID, got.Header.Get("webhook-id"))
		}
	})
}

func secretOf(made answer) string { return strings.TrimPrefix(made.text("secret"), "whsec_") }

func TestWebhooks_BadTargetsDelayNothing(t *testing.T) {
	t.Parallel()
	onBoth(t, "pro", func(t *testing.T, owner client) {
		bad := newSink(t, func(w http.ResponseWriter, r *http.Request) {
			switch r.URL.Path {
			case "/redirect":
				http.Redirect(w, r, "/elsewhere", http.StatusFound)
			case "/gone":
				w.WriteHeader(http.StatusGone)
			case "/cut": // it promises more than it sends
				w.Header().Set("Content-Length", "100")
				_, _ = w.Write([]byte("half"))
			case "/stream":
				for r.Context().Err() == nil {
					if _, err := w.Write(make([]byte, 1<<10)); err != nil {
						return
					}
					w.(http.Flusher).Flush()
				}
			}
		})
		paths := map[string]string{}
		for _, name := range []string{"hold", "redirect", "gone", "cut", "stream"} {
			paths[name] = owner.makeWebhook(attributes{"name": name, "url": bad.url() + name, "events": []string{"change.flag"}})
		}
		internal := owner.makeWebhook(attributes{"url": nowhere, "events": []string{"change.flag"}})
		good := newSink(t)
		path := owner.makeWebhook(attributes{"url": good.url(), "events": []string{"change.flag"}})
		aFlag(owner)
		good.take(t)
		owner.delivered(path, "delivered")
		owner.ran(aJob(owner))
		if got := owner.delivered(paths["redirect"], "pending"); got.Attributes["next_attempt_at"] == nil {
			t.Errorf("%+v", got)
		}
		owner.delivered(paths["cut"], "delivered")    // the status counts
		owner.delivered(paths["stream"], "delivered") // a success, of which the beginning was read
		owner.delivered(paths["gone"], "failed")
		if got := owner.get(paths["gone"]).want(200); got.attribute("state") != "disabled" || got.attribute("enabled") != false {
			t.Error(string(got.body))
		}
		owner.put(paths["gone"], envelope("", "", hook(attributes{"enabled": true}))).want(200)
		if got := owner.get(paths["gone"]).want(200); got.attribute("state") != "ok" {
			t.Error(string(got.body))
		}
		eventually(t, patience, "the internal address is refused", func() bool {
			got := owner.get(internal + "/deliveries").want(200)
			return strings.Contains(string(got.body), "not public") || strings.Contains(string(got.body), "10.0.0.1")
		})
		if got := owner.get(internal).want(200); got.attribute("state") != "failing" {
			t.Error(string(got.body))
		}
	})
}

// TestWebhooks_FloodOfOneHostDelaysNoOther: two webhooks lead to one host. One of them hangs, with many messages waiting.
func TestWebhooks_FloodOfOneHostDelaysNoOther(t *testing.T) {
	t.Parallel()
	onBoth(t, "pro", func(t *testing.T, owner client) {
		target := newSink(t)
		hung := owner.makeWebhook(attributes{"url": target.url() + "hold", "events": []string{"change.flag"}})
		quick := owner.makeWebhook(attributes{"url": target.url(), "events": []string{"change.flag"}})
		const events = 80
		for range events {
			aFlag(owner)
		}
		eventually(t, patience, "the other webhook is told everything", func() bool {
			return len(owner.get(quick+"/deliveries?filter[status]=delivered&page[size]=100").want(200).page().Data) == events
		})
		attempted := 0
		for _, delivery := range owner.get(hung + "/deliveries?page[size]=100").want(200).page().Data {
			if len(delivery.Attributes["attempts"].([]any)) > 0 {
				attempted++
			}
		}
		// A slow machine ends some attempts that hang. If messages had to wait for those before them, it would have been nearly all.
		if attempted > events/2 {
			t.Errorf("the other webhook had to wait for the one that hangs: %d of its messages were tried before", attempted)
		}
	})
}

func TestWebhooks_JobsTell(t *testing.T) {
	t.Parallel()
	owner := newOwner(t, "pro")
	target := newSink(t)
	path := owner.makeWebhook(attributes{"url": target.url(), "events": []string{"job.*", "run.failed"}})
	owner.ran(owner.makeJob(unique("job"), nil)) // SSRF_BLOCKED
	bodies := target.take(t).body + target.take(t).body
	if !strings.Contains(bodies, `"type":"job.failing"`) || !strings.Contains(bodies, `"type":"run.failed"`) || !strings.Contains(bodies, `"failure_reason":"SSRF_BLOCKED"`) || !strings.Contains(bodies, `"final":true`) {
		t.Error(bodies)
	}
	owner.delivered(path, "delivered")
}

func TestWebhooks_Refusals(t *testing.T) {
	t.Parallel()
	owner := newOwner(t, "pro")
	path := aWebhook(owner)
	pointer := func(path string) problem { return invalid("/data/attributes/" + path) }
	for name, test := range map[string]struct {
		more attributes
		want problem
	}{
		"url":         {attributes{"url": "nowhere"}, pointer("url")},
		"format":      {attributes{"format": "irc"}, pointer("format")},
		"event":       {attributes{"events": []string{"job.exploded"}}, pointer("events/0")},
		"no events":   {attributes{"events": []string{}}, pointer("events")},
		"filter":      {attributes{"filter": attributes{"environment": "production"}}, pointer("filter/environment")},
		"header":      {attributes{"headers": attributes{"Webhook-Id": "x"}}, pointer("headers/Webhook-Id")},
		"redacted":    {attributes{"headers": []attributes{{"name": "A", "value": "<redacted>"}}}, pointer("headers/0/value")},
		"routing key": {attributes{"format": "pagerduty"}, pointer("headers")},
	} {
		t.Run(name, func(t *testing.T) {
			owner.in(t).post(webhooksPath, envelope("", "", hook(test.more)), offContract).refused(400, test.want)
			owner.in(t).put(path, envelope("", "", hook(test.more)), offContract).refused(400, test.want)
		})
	}
	const id = "01928c3e-7b1a-4c55-b2a4-9a3a4f6d2f10"
	owner.post(webhooksPath, envelope("webhook", "mine", hook(nil)), offContract).refused(400, invalid("/data/id"))
	owner.post(webhooksPath, envelope("webhook", strings.ToUpper(id), hook(nil))).want(201)
	owner.get(webhooksPath + "/" + id).want(200)
	for _, caller := range []client{owner, newOwner(t, "pro")} {
		caller.post(webhooksPath, envelope("webhook", id, hook(nil))).refused(409, problem{code: "already_exists", source: "pointer /data/id"})
	}
	owner.delete(webhooksPath + "/" + id).want(204)
	for range 20 { // the problems always come in the same order
		got := owner.post(path+"/actions/redeliver", `{}`, offContract)
		if got.refused(400, invalid("/from"), invalid("/to")); strings.Index(string(got.body), `"/from"`) > strings.Index(string(got.body), `"/to"`) {
			t.Errorf("got %s", got.body)
		}
	}
	owner.post(path+"/actions/redeliver", `{"from":"2026-05-02T00:00:00Z","to":"2026-05-01T00:00:00Z"}`).refused(400, invalid("/to"))
	owner.post(path+"/deliveries/none/actions/redeliver", "").want(404)
	owner.get(path+"/deliveries?filter[status]=lost", offContract).refused(400, wrongParameter("filter[status]"))
	for range 49 {
		owner.makeWebhook(nil)
	}
	owner.post(webhooksPath, envelope("", "", hook(nil))).refused(409, problem{code: "row_limit_reached", meta: map[string]any{"limit_key": "platform.webhook_rows", "maximum": 50.0}})
}

// TestWebhooks_HistoryHasNoSecrets: the history shows only the host of a webhook's URL.
func TestWebhooks_HistoryHasNoSecrets(t *testing.T) {
	t.Parallel()
	owner := newOwner(t, "pro")
	path := owner.makeWebhook(attributes{"url": "https://hooks.example.com/services/TOKEN", "headers": attributes{"X-Token": "HUSH"}})
	id := path[len(webhooksPath)+1:]
	owner.put(path, envelope("", "", hook(attributes{"url": "https://hooks.example.com/services/OTHER", "headers": attributes{"X-Token": "HUSH2"}}))).want(200)
	owner.post(path+"/actions/rotate_secret", "").want(200)
	history := owner.get(changesPath + "?filter[resource]=webhook:" + id).want(200)
	if got := len(history.page().Data); got != 3 {
		t.Errorf("%d changes", got)
	}
	for _, secret := range []string{"TOKEN", "OTHER", "HUSH", "whsec_"} {
		if strings.Contains(strings.ReplaceAll(string(history.body), "X-Token", ""), secret) {
			t.Errorf("the history has %s", secret)
		}
	}
	change := history.page().Data[2].ID
	owner.post(fmt.Sprintf("%s/%s/actions/revert", changesPath, change), "").refused(409, problem{code: "not_revertible"})
}

// TestWebhooks_JoinChat: a chat gets several events in one message, after a while.
func TestWebhooks_JoinChat(t *testing.T) {
	t.Parallel()
	owner := newOwner(t, "pro")
	path := owner.makeWebhook(attributes{"format": "slack", "events": []string{"change.flag"}})
	for range 3 {
		aFlag(owner)
	}
	got := owner.get(path + "/deliveries").want(200).page().Data
	if len(got) != 1 || got[0].Attributes["events"] != 3.0 || got[0].Attributes["status"] != "pending" {
		t.Errorf("%+v", got)
	}
}
