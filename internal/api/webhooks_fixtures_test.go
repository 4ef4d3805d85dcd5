package api_test

import "maps"

// lastYear is the body of a redelivery of a time without deliveries.
const lastYear = `{"from":"2001-01-01T00:00:00Z","to":"2002-01-01T00:00:00Z"}`

// hook is what a webhook is made of that reaches nothing and hears of nothing, and more.
func hook(more attributes) attributes {
	wanted := attributes{"name": "A webhook", "url": nowhere, "events": []string{"service.silent"}}
	maps.Copy(wanted, more)
	return wanted
}

// makeWebhook creates a webhook and returns its path.
func (c client) makeWebhook(more attributes) string {
	c.t.Helper()
	return webhooksPath + "/" + c.post(webhooksPath, envelope("webhook", "", hook(more))).want(201).data().ID
}

func aWebhook(owner client) string { return owner.makeWebhook(nil) }

// aRedelivery is the action that sends a test again.
func aRedelivery(owner client) string {
	path := aWebhook(owner)
	return path + "/deliveries/" + owner.post(path+"/actions/test", "").want(200).data().ID + "/actions/redeliver"
}
