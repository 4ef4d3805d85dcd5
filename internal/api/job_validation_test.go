package api_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// wrongJob is a body of a job that breaks rules.
type wrongJob struct {
	name       string
	attributes attributes // in addition to a valid job's
	at         []string   // below /data/attributes/
}

// configured returns a valid configuration with more members added or replaced.
func configured(more attributes) attributes {
	configuration := attributes{"url": nowhere}
	maps.Copy(configuration, more)
	return attributes{"configuration": configuration}
}

// withHeader returns a configuration with one header.
func withHeader(name, value any) attributes {
	return configured(attributes{"headers": []attributes{{"name": name, "value": value}}})
}

func manyHeaders(count int) []attributes {
	headers := make([]attributes, count)
	for i := range headers {
		headers[i] = attributes{"name": fmt.Sprintf("X-%d", i), "value": ""}
	}
	return headers
}

// wrongJobs returns jobs whose own attributes break a rule.
func wrongJobs() []wrongJob {
	return []wrongJob{
		{"no name", attributes{"name": nil}, []string{"name"}},
		{"an empty name", attributes{"name": ""}, []string{"name"}},
		{"201 characters of name", attributes{"name": strings.Repeat("ä", 201)}, []string{"name"}},
		{"a name that is no string", attributes{"name": 7}, []string{"name"}},
		{"NUL in the name", attributes{"name": "a\x00b"}, []string{"name"}},
		{"2001 characters of description", attributes{"description": strings.Repeat("x", 2001)}, []string{"description"}},
		{"a description that is no string", attributes{"description": []string{}}, []string{"description"}},
		{"enabled that is no boolean", attributes{"enabled": "true"}, []string{"enabled"}},
		{"another type", attributes{"type": "shell"}, []string{"type"}},
		{"another policy", attributes{"concurrency_policy": "FORBID"}, []string{"concurrency_policy"}},
		{"environments", attributes{"environments": attributes{"production": attributes{"enabled": false}}}, []string{"environments"}},
		{"no environments", attributes{"environments": attributes{}}, []string{"environments"}},
		{"environments that are null", attributes{"environments": jsonNumber("null")}, []string{"environments"}},
		{"no configuration", attributes{"configuration": nil}, []string{"configuration"}},
		{"a configuration that is a list", attributes{"configuration": []int{}}, []string{"configuration"}},

		{"no schedule", attributes{"schedule": nil}, []string{"schedule"}},
		{"an empty schedule", attributes{"schedule": " "}, []string{"schedule"}},
		{"a schedule that is no string", attributes{"schedule": 5}, []string{"schedule"}},
		{"four fields", attributes{"schedule": "* * * *"}, []string{"schedule"}},
		{"six fields", attributes{"schedule": "0 * * * * *"}, []string{"schedule"}},
		{"a nickname", attributes{"schedule": "@daily"}, []string{"schedule"}},
		{"an offset of a day", attributes{"schedule": "2030-01-01T00:00:00+24:00"}, []string{"schedule"}},
		{"a time zone", attributes{"schedule": "TZ=UTC * * * * *"}, []string{"schedule"}},
		{"Quartz", attributes{"schedule": "0 0 L * ?"}, []string{"schedule"}},
		{"30 February", attributes{"schedule": "0 0 30 2 *"}, []string{"schedule"}},
		{"minute 60", attributes{"schedule": "60 * * * *"}, []string{"schedule"}},
		{"a reversed range", attributes{"schedule": "30-10 * * * *"}, []string{"schedule"}},
		{"step 0", attributes{"schedule": "*/0 * * * *"}, []string{"schedule"}},
		{"a date alone", attributes{"schedule": "2030-01-01"}, []string{"schedule"}},
		{"31 June", attributes{"schedule": "2030-06-31T00:00:00Z"}, []string{"schedule"}},
		{"a moment long gone", attributes{"schedule": "2020-01-01T00:00:00Z"}, []string{"schedule"}},
		{"the first moment there is", attributes{"schedule": "0001-01-01T00:00:00Z"}, []string{"schedule"}},
		{"later", attributes{"schedule": "later"}, []string{"schedule"}},

		{"everything at once, with what the plan says", attributes{
			"name": "", "description": 7, "enabled": 1, "type": "x", "schedule": "2020-01-01T00:00:00Z", "concurrency_policy": "x",
			"configuration": attributes{"method": "HEAD", "url": "x", "headers": 7, "success_status": "6xx", "tls_verify": 0, "ca_cert": "x",
				"body": 7, "timeout": 100000, "retries": 1}},
			[]string{"name", "description", "enabled", "type", "schedule", "concurrency_policy", "configuration/method", "configuration/url",
				"configuration/headers", "configuration/success_status", "configuration/tls_verify", "configuration/ca_cert",
				"configuration/body", "configuration/timeout", "configuration/retries"}},
	}
}

// wrongConfigurations returns configurations that break a rule of jobs.
func wrongConfigurations() []wrongJob {
	wrong := []wrongJob{
		{"an unknown member", configured(attributes{"retry": true, "a/b": 1}), []string{"configuration/retry", "configuration/a~1b"}},
		{"NUL in a header value", withHeader("X-A", "a\x00b"), []string{"configuration/headers/0/value"}},
		{"headers that are a string", configured(attributes{"headers": "X: y"}), []string{"configuration/headers"}},
		{"a header that is a string", configured(attributes{"headers": []any{"X: y", attributes{"name": "", "value": "v"}}}),
			[]string{"configuration/headers/0", "configuration/headers/1/name"}},
		{"an unknown member of a header", configured(attributes{"headers": []attributes{{"name": "A", "value": "b", "secret": true}}}),
			[]string{"configuration/headers/0/secret"}},
		{"no name and no value", configured(attributes{"headers": []attributes{{}}}), []string{"configuration/headers/0/name", "configuration/headers/0/value"}},
		{"a header value that is a number, by name", configured(attributes{"headers": attributes{"X-A": 7}}), []string{"configuration/headers/X-A"}},
		{"a wrong header by name", configured(attributes{"headers": attributes{"a/b": "x", "Connection": "close"}}),
			[]string{"configuration/headers/a~1b", "configuration/headers/Connection"}},
		{"101 headers", configured(attributes{"headers": manyHeaders(101)}), []string{"configuration/headers"}},
		{"two hosts", configured(attributes{"headers": []attributes{{"name": "Host", "value": "a"}, {"name": "host", "value": "b"}}}),
			[]string{"configuration/headers/1/value"}},
		{"a body that is an object", configured(attributes{"body": attributes{}}), []string{"configuration/body"}},
		{"a body of a mebibyte and a byte", configured(attributes{"body": strings.Repeat("x", 1<<20+1)}), []string{"configuration/body"}},
		{"a body whose characters are few and bytes many", configured(attributes{"body": strings.Repeat("ä", 1<<19) + "x"}), []string{"configuration/body"}},
		{"a certificate too long", configured(attributes{"ca_cert": strings.Repeat("x", 65537)}), []string{"configuration/ca_cert"}},
		{"PEM without a certificate", configured(attributes{"ca_cert": "-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n"}), []string{"configuration/ca_cert"}},
		{"a damaged certificate", configured(attributes{"ca_cert": "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"}), []string{"configuration/ca_cert"}},
		{"an empty certificate", configured(attributes{"ca_cert": ""}), []string{"configuration/ca_cert"}},
		{"tls_verify that is no boolean", configured(attributes{"tls_verify": "no"}), []string{"configuration/tls_verify"}},
	}
	for member, values := range map[string][]any{
		"method":         {"HEAD", "OPTIONS", "", "TRACE", 7, "GET "},
		"success_status": {"", "2x", "6xx", "0xx", "099", "600", "2xxx", "200,201", 200},
		"timeout":        {0, -1, 1.5, "30", 901, 1e300, true},
		"url": {"", nil, 7, "example.com", "//example.com/", "ftp://example.com/", "http:/example.com", "http://", "http:///path", "http:example.com",
			"http://:80/", "http://a b/", "http://example.com/a b", "http://example.com:0/", "http://example.com:65536/", "http://example.com:http/",
			"http://[::1/", "http://exam\nple.com/", "http://%ff/", "http://" + strings.Repeat("a", 254) + "/", "http://" + strings.Repeat("é", 2000) + "/",
			"http://example.com/" + strings.Repeat("x", 2030), "javascript:alert(1)", "/path"},
	} {
		for _, value := range values {
			wrong = append(wrong, wrongJob{fmt.Sprintf("%s %.30v", member, value), configured(attributes{member: value}), []string{"configuration/" + member}})
		}
	}
	for _, name := range []any{"", "a b", "a:b", "ä", "a\nb", "Connection", "keep-alive", "TE", "Trailer", "Transfer-Encoding", "upgrade",
		"Proxy-Connection", "proxy-authorization", "Content-Length", strings.Repeat("a", 201), 7, nil} {
		wrong = append(wrong, wrongJob{fmt.Sprintf("header name %.20v", name), withHeader(name, "v"), []string{"configuration/headers/0/name"}})
	}
	for _, value := range []any{"a\rb", "a\nb", "a\x7fb", "a\x01b", strings.Repeat("ä", 8193), 7, nil} {
		wrong = append(wrong, wrongJob{fmt.Sprintf("header value %.20v", value), withHeader("X-A", value), []string{"configuration/headers/0/value"}})
	}
	for _, host := range []string{"", "a b", "a/b", "user@a"} {
		wrong = append(wrong, wrongJob{"host " + host, withHeader("Host", host), []string{"configuration/headers/0/value"}})
	}
	return wrong
}

func TestJob_Invalid(t *testing.T) {
	t.Parallel()
	owner := newOwner(t, "pro")
	path := owner.makeJob("right", nil)
	before, seq := owner.get(path).want(200), owner.seq()
	for _, c := range append(wrongJobs(), wrongConfigurations()...) {
		var problems []problem
		for _, at := range c.at {
			problems = append(problems, invalid("/data/attributes/"+at))
		}
		t.Run(c.name, func(t *testing.T) {
			owner := owner.in(t)
			owner.post(jobsPath, envelope("job", "wrong", job(c.attributes))).refused(400, problems...)
			owner.put(path, envelope("job", "right", job(c.attributes))).refused(400, problems...)
		})
	}
	owner.get(jobsPath + "/wrong").want(404)
	if difference := cmp.Diff(before.data(), owner.get(path).data()); difference != "" || owner.seq() != seq {
		t.Errorf("what was refused changed something:\n%s", difference)
	}
}

func TestJob_IDs(t *testing.T) {
	t.Parallel()
	owner := newOwner(t, "pro")
	for _, id := range []string{"a", "A", "0", "nightly.report_v2-x", strings.Repeat("x", 200)} {
		t.Run(fmt.Sprintf("%.40q", id), func(t *testing.T) {
			owner := owner.in(t)
			if got := owner.post(jobsPath, envelope("job", id, job(nil))).want(201).data(); got.ID != id || got.Type != "job" {
				t.Errorf("got %+v", got)
			}
			owner.get(jobsPath + "/" + id).want(200)
		})
	}
	for _, id := range []string{"-a", ".a", "_a", "a b", "a/b", "ä", "a\n", strings.Repeat("x", 201)} {
		t.Run(fmt.Sprintf("%.40q", id), func(t *testing.T) {
			owner.in(t).post(jobsPath, envelope("job", id, job(nil))).refused(400, invalid("/data/id"))
		})
	}
	for name, c := range map[string]struct {
		body string
		want problem
	}{
		"no id":        {envelope("job", "", job(nil)), invalid("/data/id")},
		"null":         {strings.Replace(envelope("job", "x", job(nil)), `"x"`, "null", 1), invalid("/data/id")},
		"a number":     {strings.Replace(envelope("job", "x", job(nil)), `"x"`, "7", 1), invalid("/data/id")},
		"another type": {envelope("task", "x", job(nil)), invalid("/data/type")},
	} {
		t.Run(name, func(t *testing.T) {
			owner.in(t).post(jobsPath, c.body).refused(400, c.want)
		})
	}
	owner.post(jobsPath, envelope("", "a", job(nil))).refused(409, problem{code: "already_exists", source: "pointer /data/id"})
	owner.put(jobsPath+"/a", envelope("job", "b", job(nil))).refused(400, invalid("/data/id"))
	owner.put(jobsPath+"/a", `{"data":{"id":null,`+envelope("job", "", job(nil))[len(`{"data":{`):]).want(200)
	owner.put(jobsPath+"/missing", envelope("job", "", job(nil))).refused(404, problem{code: "not_found"})
	for _, path := range []string{"/missing", "/MISSING", "/x%2Fy", "/%00"} {
		t.Run(path, func(t *testing.T) {
			owner := owner.in(t)
			owner.get(jobsPath+path).refused(404, problem{code: "not_found"})
			owner.delete(jobsPath+path).refused(404, problem{code: "not_found"})
			owner.post(jobsPath+path+"/actions/run", "").refused(404, problem{code: "not_found"})
		})
	}
}

func TestJob_Defaults(t *testing.T) {
	t.Parallel()
	owner := newOwner(t, "pro")
	nothing := job(attributes{"description": nil, "enabled": nil, "type": nil, "concurrency_policy": nil, "next_run_at": "read-only", "version": 17,
		"deleted_at": "x", "unknown": []int{1}, "configuration": attributes{"url": nowhere, "method": nil, "headers": nil, "success_status": nil,
			"tls_verify": nil, "ca_cert": nil, "body": nil, "timeout": nil}})
	for id, sent := range map[string]attributes{"least": job(nil), "nulls": nothing} {
		t.Run(id, func(t *testing.T) {
			got := owner.in(t).post(jobsPath, envelope("job", id, sent)).want(201)
			want := map[string]any{
				"name": "A job", "description": nil, "enabled": true, "type": "http", "schedule": far, "concurrency_policy": "ALLOW",
				"deleted_at": nil, "version": 1.0, "last_run": nil, "skipped_at": nil, "timezone": nil, "overlap": "allow", "retry": nil,
				"alerts": map[string]any{"after_failures": 1.0, "recover_after": 1.0, "late_after_seconds": nil, "no_success_for_seconds": nil, "remind_every_seconds": nil},
				"configuration": map[string]any{"method": "POST", "url": nowhere, "headers": []any{},
					"success_status": "2xx", "tls_verify": true, "ca_cert": nil, "body": nil, "timeout": 30.0},
			}
			shown := got.data().Attributes
			if health := shown["health"].(map[string]any); health["state"] != "new" || health["failures"] != 0.0 || health["last_success_at"] != nil {
				t.Errorf("its health is %v", health)
			}
			delete(shown, "health")
			for _, at := range []string{"next_run_at", "created_at", "updated_at"} {
				if text, _ := shown[at].(string); !strings.HasSuffix(text, "Z") {
					t.Errorf("%s is %v", at, shown[at])
				}
				delete(shown, at)
			}
			if difference := cmp.Diff(want, shown); difference != "" {
				t.Errorf("want (-), got (+):\n%s", difference)
			}
		})
	}
}

func TestJob_LargestValid(t *testing.T) {
	t.Parallel()
	owner := newOwner(t, "pro")
	certificate := pemOf(t, newTLSSink(t))
	headers := manyHeaders(100)
	headers[0] = attributes{"name": strings.Repeat("n", 200), "value": strings.Repeat("ä", 8192)}
	headers[1] = attributes{"name": "Host", "value": "example.com:8080"}
	headers[2] = attributes{"name": "X-2", "value": "tab\tand ünïcödé \"quoted\" {}"}
	body := strings.Repeat("\x00\u2028ä\"\\<&>", 100)
	for name, sent := range map[string]attributes{
		"texts":            {"name": strings.Repeat("ä", 200), "description": strings.Repeat("\U0001F600", 2000)},
		"headers":          configured(attributes{"headers": headers}),
		"url":              configured(attributes{"url": "HTTPS://" + strings.Repeat("a", 253) + ":65535/" + strings.Repeat("x", 2048-253-15)}),
		"address":          configured(attributes{"url": "http://[2001:db8::1]:1/?q=%20#fragment", "method": "DELETE", "success_status": "599", "timeout": 900}),
		"body":             configured(attributes{"body": body, "method": "PATCH", "success_status": "1xx", "timeout": 1}),
		"full body":        configured(attributes{"body": strings.Repeat("x", 1<<20), "method": "GET"}),
		"certificates":     configured(attributes{"ca_cert": strings.Repeat(" ", 60000-2*len(certificate)) + certificate + certificate, "tls_verify": false, "method": "PUT"}),
		"user information": configured(attributes{"url": "http://user:p%40ss@example.com/"}),
	} {
		t.Run(name, func(t *testing.T) {
			owner := owner.in(t)
			want := job(sent)
			got := owner.post(jobsPath, envelope("job", unique("boundary"), want)).want(201)
			text, err := json.Marshal(want)
			if err != nil {
				t.Fatal(err)
			}
			var sentBack map[string]any
			if err := json.Unmarshal(text, &sentBack); err != nil {
				t.Fatal(err)
			}
			requireContains(t, name, got.data().Attributes, sentBack)
			requireContains(t, name+", read", owner.get(jobsPath+"/"+got.data().ID).want(200).data().Attributes, sentBack)
		})
	}
}

// requireContains checks that all members of want are in got.
func requireContains(t *testing.T, what string, got, want map[string]any) {
	t.Helper()
	for name, value := range want {
		if inner, isObject := value.(map[string]any); isObject {
			shown, _ := got[name].(map[string]any)
			requireContains(t, what+"."+name, shown, inner)
			continue
		}
		if difference := cmp.Diff(value, got[name]); difference != "" {
			t.Errorf("%s.%s: want (-), got (+):\n%.2000s", what, name, difference)
		}
	}
}

func TestJob_HeaderForms(t *testing.T) {
	t.Parallel()
	owner := newOwner(t, "pro")
	got := owner.post(jobsPath, `{"data":{"id":"object","attributes":{"name":"n","schedule":"`+far+`","configuration":{"url":"`+nowhere+
		`","method":"get","success_status":"2XX","headers":{"X-B":"2","Authorization":"Bearer s","X-A":""}}}}}`).want(201)
	want := []any{map[string]any{"name": "X-B", "value": "2"}, map[string]any{"name": "Authorization", "value": "Bearer s"},
		map[string]any{"name": "X-A", "value": ""}}
	if difference := cmp.Diff(want, got.member("configuration.headers")); difference != "" {
		t.Errorf("want (-), got (+):\n%s", difference)
	}
	if got.member("configuration.method") != "GET" || got.member("configuration.success_status") != "2xx" {
		t.Errorf("got %s", got.body)
	}
	for _, headers := range []any{nil, []any{}, attributes{}} {
		t.Run(fmt.Sprint(headers), func(t *testing.T) {
			got := owner.in(t).put(jobsPath+"/object", envelope("", "", job(configured(attributes{"headers": headers})))).want(200)
			if !got.contains(`"headers":[]`) {
				t.Errorf("got %s", got.body)
			}
		})
	}
}

func TestJob_BodyOfEscapes(t *testing.T) {
	t.Parallel()
	owner := newOwner(t, "pro")
	sink := newSink(t)
	escaped := strings.Repeat(`\u0041`, 1<<20) // six MiB of text, one of body
	body := strings.Replace(envelope("job", "escaped", job(configured(attributes{"url": sink.url(), "body": "BODY"}))), "BODY", escaped, 1)
	got := owner.post(jobsPath, body).want(201)
	if text, _ := got.member("configuration.body").(string); text != strings.Repeat("A", 1<<20) {
		t.Errorf("the body has %d bytes", len(text))
	}
	if owner.ran(jobsPath+"/escaped").text("status") != "SUCCEEDED" || len(sink.take(t).body) != 1<<20 {
		t.Error("the body did not arrive whole")
	}
	owner.post(jobsPath, strings.Repeat(" ", 8<<20)+body).refused(413, problem{code: "payload_too_large"})
}
