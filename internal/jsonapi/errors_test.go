package jsonapi_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/signalbox/signalbox/internal/fault"
	"github.com/signalbox/signalbox/internal/jsonapi"
)

func TestErrors_StatusOfEachCode(t *testing.T) {
	t.Parallel()
	for code, want := range map[fault.Code]struct {
		status int
		title  string
	}{
		fault.Validation:           {400, "Invalid request"},
		fault.InvalidParameter:     {400, "Invalid parameter"},
		fault.EnvironmentUnmanaged: {400, "Environment is not managed"},
		fault.GroupNesting:         {400, "Groups cannot be nested"},
		fault.Unauthorized:         {401, "Unauthorized"},
		fault.LimitReached:         {402, "Subscription limit reached"},
		fault.Forbidden:            {403, "Forbidden"},
		fault.NotFound:             {404, "Not found"},
		fault.MethodNotAllowed:     {405, "Method not allowed"},
		fault.AlreadyExists:        {409, "Already exists"},
		fault.RunFinished:          {409, "Run has finished"},
		fault.AlreadyRunning:       {409, "Already running"},
		fault.JobDeleted:           {409, "Job was deleted"},
		fault.EnvironmentProtected: {409, "Environment is protected"},
		fault.VersionMismatch:      {412, "Version mismatch"},
		fault.PayloadTooLarge:      {413, "Payload too large"},
		fault.UnsupportedMediaType: {415, "Unsupported media type"},
		fault.RateLimited:          {429, "Too many requests"},
		fault.Internal:             {500, "Internal error"},
		fault.Unavailable:          {503, "Service unavailable"},
		"something new":            {500, "Internal error"},
	} {
		t.Run(string(code), func(t *testing.T) {
			status, document := jsonapi.Errors(fault.New(code, "Because."), "r-1")
			got := document.Errors[0]
			if status != want.status || got.Status != fmt.Sprint(want.status) || got.Title != want.title || got.Code != code || got.Detail != "Because." {
				t.Errorf("%s: got %d %+v", code, status, got)
			}
		})
	}
}

func TestErrors_Documents(t *testing.T) {
	t.Parallel()
	var several fault.Problems
	several.Attribute("scopes/environments", "must be short")
	several.Add(fault.New(fault.Validation, "id is required.").At(fault.Pointer("/data/id")))
	for name, c := range map[string]struct {
		err    error
		status int
		want   string
	}{
		"the whole body": {
			fault.New(fault.Validation, "Not JSON.").At(fault.Pointer("")), 400,
			`[{"status":"400","code":"validation_error","title":"Invalid request","detail":"Not JSON.","source":{"pointer":""},"meta":{}}]`,
		},
		"a parameter": {
			fault.New(fault.InvalidParameter, "Bad.").At(fault.Parameter("page[size]")), 400,
			`[{"status":"400","code":"invalid_parameter","title":"Invalid parameter","detail":"Bad.","source":{"parameter":"page[size]"},"meta":{}}]`,
		},
		"a parameter without a name": {
			fault.New(fault.InvalidParameter, "Bad.").At(fault.Parameter("")), 400,
			`[{"status":"400","code":"invalid_parameter","title":"Invalid parameter","detail":"Bad.","source":{"parameter":""},"meta":{}}]`,
		},
		"several": {
			fmt.Errorf("writing: %w", several.Err()), 400,
			`[{"status":"400","code":"validation_error","title":"Invalid request","detail":"scopes/environments must be short.",` +
				`"source":{"pointer":"/data/attributes/scopes/environments"},"meta":{}},` +
				`{"status":"400","code":"validation_error","title":"Invalid request","detail":"id is required.","source":{"pointer":"/data/id"},"meta":{}}]`,
		},
		"facts for programs": {
			fault.New(fault.LimitReached, "Full.").With("maximum", 2).With("plan", "free"), 402,
			`[{"status":"402","code":"entitlement_limit_reached","title":"Subscription limit reached","detail":"Full.","meta":{"maximum":2,"plan":"free"}}]`,
		},
		"a defect, without its text": {
			errors.New("SELECT secret FROM accounts"), 500,
			`[{"status":"500","code":"internal_error","title":"Internal error",` +
				`"detail":"The server failed. Its log has the cause under the request id.","meta":{"request_id":"r-1"}}]`,
		},
		"an outage, without its cause": {
			fault.New(fault.Unavailable, "Later.").With("host", "db-1").Because(errors.New("dial tcp 10.0.0.1")), 503,
			`[{"status":"503","code":"unavailable","title":"Service unavailable","detail":"Later.","meta":{"request_id":"r-1"}}]`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			status, document := jsonapi.Errors(c.err, "r-1")
			text, err := json.Marshal(document.Errors)
			if err != nil {
				t.Fatal(err)
			}
			if status != c.status {
				t.Errorf("got %d, want %d", status, c.status)
			}
			if difference := cmp.Diff(c.want, string(text)); difference != "" {
				t.Errorf("want (-), got (+):\n%s", difference)
			}
		})
	}
}
