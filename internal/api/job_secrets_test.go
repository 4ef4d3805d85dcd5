package api_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// headersIn returns the headers of a job, and its URL.
func headersIn(attributes map[string]any) []any {
	configuration, _ := attributes["configuration"].(map[string]any)
	return []any{configuration["headers"], configuration["url"]}
}

// TestJob_HeadersShown: callers who may replace a job see the values of its headers; others see
// only their names.
func TestJob_HeadersShown(t *testing.T) {
	t.Parallel()
	owner := newOwner(t, "pro")
	path := owner.makeJob("job", sendingTo("http://user:pass@10.0.0.1/", attributes{"headers": []attributes{{"name": "Authorization", "value": "Bearer s"}}}))
	plain := []any{[]any{map[string]any{"name": "Authorization", "value": "Bearer s"}}, "http://user:pass@10.0.0.1/"}
	redacted := []any{[]any{map[string]any{"name": "Authorization", "value": "<redacted>"}}, "http://<redacted>@10.0.0.1/"}
	scopes := attributes{"environments": []string{"staging"}}
	tag := owner.get(path).want(200).header.Get("Etag")
	for name, reader := range map[string]struct {
		client
		want []any
	}{
		"OWNER":        {owner, plain},
		"ADMIN":        {owner.withRole("ADMIN"), plain},
		"MEMBER":       {owner.withRole("MEMBER"), plain},
		"VIEWER":       {owner.withRole("VIEWER"), redacted},
		"scoped OWNER": {owner.as(owner.makeKey(attributes{"role": "OWNER", "scopes": scopes}).secret), redacted},
	} {
		t.Run(name, func(t *testing.T) {
			one := reader.in(t).get(path).want(200)
			listed := reader.in(t).get(jobsPath).want(200).page().Data[0]
			for way, shown := range map[string]map[string]any{"one": one.data().Attributes, "listed": listed.Attributes} {
				if difference := cmp.Diff(reader.want, headersIn(shown)); difference != "" {
					t.Errorf("%s, %s: want (-), got (+):\n%s", name, way, difference)
				}
			}
			if got := one.header.Get("Etag"); got != tag {
				t.Errorf("%s reads the tag %s, others %s", name, got, tag)
			}
		})
	}
}

// TestJob_TagOfViewer: the ETag that a VIEWER has read is good for the write of a
// MEMBER, and ends with a change of a value that the VIEWER did not see.
func TestJob_TagOfViewer(t *testing.T) {
	t.Parallel()
	owner := newOwner(t, "pro")
	secret := func(value string) string {
		return envelope("", "", sendingTo(nowhere, attributes{"headers": attributes{"X-Token": value}}))
	}
	path := owner.makeJob("job", nil)
	viewer, member := owner.withRole("VIEWER"), owner.withRole("MEMBER")
	tag := viewer.get(path).header.Get("Etag")
	member.put(path, secret("one"), with("If-Match", tag)).want(200)
	tag = viewer.get(path).header.Get("Etag")
	member.put(path, secret("two")).want(200)
	member.put(path, secret("three"), with("If-Match", tag)).refused(412, problem{code: "version_mismatch"})
}

// TestJob_RedactedIsNoValue: the redacted document that a VIEWER reads cannot be written back.
func TestJob_RedactedIsNoValue(t *testing.T) {
	t.Parallel()
	owner := newOwner(t, "pro")
	path := owner.makeJob("job", sendingTo(nowhere, attributes{"headers": attributes{"X-Token": "s"}}))
	before := owner.get(path)
	for pointer, headers := range map[string]any{
		"0/value": []attributes{{"name": "X-Token", "value": "<redacted>"}}, "X-Token": attributes{"X-Token": "<redacted>"},
	} {
		t.Run(pointer, func(t *testing.T) {
			owner.in(t).put(path, envelope("", "", sendingTo(nowhere, attributes{"headers": headers}))).
				refused(400, invalid("/data/attributes/configuration/headers/"+pointer))
		})
	}
	if difference := cmp.Diff(before.data(), owner.get(path).data()); difference != "" {
		t.Errorf("a refused write changed the job:\n%s", difference)
	}
}
