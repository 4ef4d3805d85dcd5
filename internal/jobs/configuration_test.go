package jobs

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func to(url string) Configuration { return NewConfiguration(Plain{URL: url}) }

func TestConfiguration_Host(t *testing.T) {
	t.Parallel()
	for url, want := range map[string]string{
		"http://example.com":            "example.com:80",
		"https://Example.COM/path?q":    "example.com:443",
		"HTTPS://example.com":           "example.com:443",
		"http://example.com:8080/":      "example.com:8080",
		"http://user:pass@example.com/": "example.com:80",
		"http://[2001:DB8::1]/":         "[2001:db8::1]:80",
		"https://[2001:db8::1]:444":     "[2001:db8::1]:444",
		"http://10.0.0.1":               "10.0.0.1:80",
		"http://EXAMPLE.com./":          "example.com:80",
		"http://example.com:0080":       "example.com:80",
		"http://BÜCHER.example":         "xn--bcher-kva.example:80",
		"http://xn--bcher-kva.example.": "xn--bcher-kva.example:80",
		"http://a_b.example":            "a_b.example:80",
		"http://127.0.0.1":              "127.0.0.1:80",
		"http://127.1":                  "127.0.0.1:80",
		"http://127.0.0.1.":             "127.0.0.1:80",
		"http://2130706433":             "127.0.0.1:80",
		"http://0x7F.1":                 "127.0.0.1:80",
		"http://0177.0.0.01":            "127.0.0.1:80",
		"http://[::ffff:127.0.0.1]":     "127.0.0.1:80",
		"http://[0:0::1]":               "[::1]:80",
		"http://1.2.3.4.5":              "1.2.3.4.5:80",
		"http://127.0.0.256":            "127.0.0.256:80",
		"http://:bad url":               "",
	} {
		t.Run(url, func(t *testing.T) {
			if got := to(url).Host(); got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
	if lane := (Job{Account: "account", Configuration: to("http://h/")}).Lane(); lane != "account:h:80" {
		t.Errorf("the lane is %s", lane)
	}
}

func TestConfiguration_Succeeds(t *testing.T) {
	t.Parallel()
	for wanted, statuses := range map[string]map[int]bool{
		"2xx": {200: true, 204: true, 299: true, 199: false, 300: false, 500: false},
		"1xx": {101: true, 200: false}, "3xx": {304: true}, "4xx": {404: true}, "5xx": {599: true, 200: false},
		"200": {200: true, 201: false}, "404": {404: true, 400: false}, "599": {599: true}, "100": {100: true},
	} {
		t.Run(wanted, func(t *testing.T) {
			for status, want := range statuses {
				if got := NewConfiguration(Plain{SuccessStatus: wanted}).Succeeds(status); got != want {
					t.Errorf("%s, %d: got %t", wanted, status, got)
				}
			}
		})
	}
}

func TestConfiguration_SnapshotHidesUserInformation(t *testing.T) {
	t.Parallel()
	for url, want := range map[string]string{
		"http://example.com/a@b":                 "http://example.com/a@b",
		"http://user@example.com":                "http://<redacted>@example.com",
		"http://user:hush@example.com/p?q=a@b#c": "http://<redacted>@example.com/p?q=a@b#c",
		"http://user:hu%40sh@example.com:81/":    "http://<redacted>@example.com:81/",
		"http://user:hu@sh@example.com/":         "http://<redacted>@example.com/",
		"http://user:hush@example.com?q":         "http://<redacted>@example.com?q",
		"http://:hush@[::1]:80/":                 "http://<redacted>@[::1]:80/",
	} {
		t.Run(url, func(t *testing.T) {
			if got := to(url).Snapshot().URL; got != want {
				t.Errorf("got %s, want %s", got, want)
			}
		})
	}
}

// secretive returns a configuration in which every secret contains the same word.
func secretive() Configuration {
	return NewConfiguration(Plain{Method: "POST", URL: "https://user:hush@example.com/?token=hush&hush#hush", SuccessStatus: "2xx", TLSVerify: true, Timeout: 5,
		Headers: []Header{{"Authorization", "Bearer hush"}, {"X-Plain", "hush"}}, Body: new("hush")})
}

func TestConfiguration_JSONHasNoSecrets(t *testing.T) {
	t.Parallel()
	for _, value := range []any{secretive(), new(secretive()), Job{Configuration: secretive()}, []Job{{Configuration: secretive()}},
		map[string]any{"configuration": secretive()}} {
		t.Run(fmt.Sprintf("%T", value), func(t *testing.T) {
			text, err := json.Marshal(value)
			if err != nil || strings.Contains(string(text), "hush") {
				t.Errorf("%v in %s", err, text)
			}
		})
	}
	var got map[string]any
	text, err := json.Marshal(secretive())
	if err != nil || json.Unmarshal(text, &got) != nil {
		t.Fatal(err, string(text))
	}
	want := map[string]any{"method": "POST", "url": "https://<redacted>@example.com/?token=<redacted>&<redacted>#<redacted>", "success_status": "2xx", "tls_verify": true, "ca_cert": nil,
		"timeout": 5.0, "body_bytes": 4.0,
		"headers": []any{map[string]any{"name": "Authorization", "value": Redacted}, map[string]any{"name": "X-Plain", "value": Redacted}}}
	if difference := cmp.Diff(want, got); difference != "" {
		t.Errorf("want (-), got (+):\n%s", difference)
	}
}

func TestJob_ShowHasSecrets(t *testing.T) {
	t.Parallel()
	job := Job{Key: "job", Name: "Job", Configuration: secretive(), NextRunAt: new(time.Unix(1, 0)), Version: 3}
	// The definition keeps what everybody sees: the body, and three of the URL.
	for shown, secrets := range map[any]int{new(job.Show()): 7, new(job.Show().Definition()): 4} {
		t.Run(fmt.Sprintf("%T", shown), func(t *testing.T) {
			text, err := json.Marshal(shown)
			if err != nil || strings.Count(string(text), "hush") != secrets || strings.Count(string(text), `"configuration"`) != 1 {
				t.Errorf("%v in %s", err, text)
			}
		})
	}
	moved := job
	moved.NextRunAt = nil
	first, _ := json.Marshal(job.Show().Definition())
	second, _ := json.Marshal(moved.Show().Definition())
	if string(first) != string(second) {
		t.Error("the definition moves with the next run")
	}
	if text, _ := json.Marshal(Job{}.Show()); !strings.Contains(string(text), `"headers":[]`) {
		t.Errorf("no headers are not an empty array: %s", text)
	}
}

func TestConfiguration_Equal(t *testing.T) {
	t.Parallel()
	if !secretive().Equal(secretive()) || !to("http://a").Equal(NewConfiguration(Plain{URL: "http://a", Headers: []Header{}})) {
		t.Error("the same is different")
	}
	for name, change := range map[string]func(*Plain){
		"url": func(p *Plain) { p.URL += "x" }, "a header's value": func(p *Plain) { p.Headers = []Header{{"Authorization", "Bearer hush"}, {"X-Plain", "hus"}} },
		"no body": func(p *Plain) { p.Body = nil }, "an empty body": func(p *Plain) { p.Body = new("") }, "timeout": func(p *Plain) { p.Timeout++ },
		"tls_verify": func(p *Plain) { p.TLSVerify = false }, "ca_cert": func(p *Plain) { p.CACert = new("x") },
	} {
		t.Run(name, func(t *testing.T) {
			plain := secretive().Plain()
			if change(&plain); secretive().Equal(NewConfiguration(plain)) {
				t.Errorf("another %s is the same", name)
			}
		})
	}
}

func TestRecordedBody(t *testing.T) {
	t.Parallel()
	full := strings.Repeat("x", maxRecordedBody)
	for name, c := range map[string]struct {
		body      string
		truncated bool
		want      string
		cut       bool
	}{
		"nothing":                            {"", false, "", false},
		"text":                               {"grüße", false, "grüße", false},
		"no text":                            {"a\xffb", false, "a\uFFFDb", false},
		"half a character at its own end":    {"a\xc3", false, "a\uFFFD", false},
		"half a character where it was cut":  {"a\xf0\x9f\x98", true, "a", true},
		"a whole character where it was cut": {"a\u00e4", true, "a\u00e4", true},
		"no text where it was cut":           {"a\x80\x80\x80\x80\x80", true, "a\uFFFD", true},
		"full":                               {full, false, full, false},
		"longer once replaced":               {full[1:] + "\xff", false, full[1:], true},
		"a character cut once replaced":      {"\xff" + strings.Repeat("ä", maxRecordedBody/2-1), false, "\uFFFD" + strings.Repeat("ä", maxRecordedBody/2-2), true},
	} {
		t.Run(name, func(t *testing.T) {
			if got, cut := RecordedBody(c.body, c.truncated); got != c.want || cut != c.cut {
				t.Errorf("got %d bytes %.20q, cut %t; want %d bytes %.20q", len(got), got, cut, len(c.want), c.want)
			}
		})
	}
}

func TestRun_Durations(t *testing.T) {
	t.Parallel()
	created := at(t, "2030-01-01T00:00:00Z")
	started, finished := created.Add(1999*time.Microsecond), created.Add(3*time.Second)
	for name, c := range map[string]struct {
		run                  Run
		pending, took, total *int64
	}{
		"pending":       {Run{CreatedAt: created}, nil, nil, nil},
		"running":       {Run{CreatedAt: created, StartedAt: &started}, new(int64(1)), nil, nil},
		"finished":      {Run{CreatedAt: created, StartedAt: &started, FinishedAt: &finished}, new(int64(1)), new(int64(2998)), new(int64(3000))},
		"never started": {Run{CreatedAt: created, FinishedAt: &finished}, new(int64(3000)), nil, new(int64(3000))},
		"clocks that disagree": {Run{CreatedAt: finished, StartedAt: &created, FinishedAt: &started},
			new(int64(0)), new(int64(1)), new(int64(0))},
		"for ages": {Run{CreatedAt: created, FinishedAt: new(created.AddDate(1, 0, 0))}, new(int64(1<<31 - 1)), nil, new(int64(1<<31 - 1))},
	} {
		t.Run(name, func(t *testing.T) {
			shown := c.run.Attributes()
			got := []*int64{shown.PendingDuration, shown.RunDuration, shown.TotalDuration}
			if difference := cmp.Diff([]*int64{c.pending, c.took, c.total}, got); difference != "" {
				t.Errorf("want (-), got (+):\n%s", difference)
			}
		})
	}
}
