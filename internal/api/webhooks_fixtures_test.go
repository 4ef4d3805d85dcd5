package api_test

import (
	"maps"
	"strings"
)

// lastYear is the body of a redelivery of a time without deliveries.
const lastYear = `{"from":"2001-01-01T00:00:00Z","to":"2002-01-01T00:00:00Z"}`

// hook returns the attributes of a webhook that reaches nothing and gets no events, and further
// attributes.
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

// aWebhook creates a webhook and deletes earlier webhooks of the same test, because an account may
// have 50.
func aWebhook(owner client) string {
	owner.t.Helper()
	name := strings.ToValidUTF8(owner.t.Name(), "")
	name = name[:min(len(name), 200)]
	for _, before := range owner.get(webhooksPath).want(200).page().Data {
		if before.Attributes["name"] == name {
			owner.delete(webhooksPath + "/" + before.ID).want(204)
		}
	}
	return owner.makeWebhook(attributes{"name": name})
}

// aRedelivery returns the action that sends a test again.
func aRedelivery(owner client) string {
	path := aWebhook(owner)
	return path + "/deliveries/" + owner.post(path+"/actions/test", "").want(200).data().ID + "/actions/redeliver"
}
