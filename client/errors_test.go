package signalbox

import (
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/signalbox/signalbox/client/internal/testenv"
)

func TestAPIError_AllProblems(t *testing.T) {
	t.Parallel()
	server := newStub(t, reply{status: http.StatusBadRequest, header: map[string]string{"X-Request-Id": "r-42"}, body: `{"errors":[
		{"status":"400","code":"validation_error","title":"Invalid request","detail":"name is required.","source":{"pointer":"/data/attributes/name"},"meta":{}},
		{"status":"400","code":"validation_error","title":"Invalid request","detail":"The body is odd.","source":{"pointer":""},"meta":{"a":1}},
		{"status":"400","code":"invalid_parameter","title":"Invalid parameter","detail":"cascade must be true or false.","source":{"parameter":"cascade"},"meta":{}}]}`})
	client, _ := server.client(t)
	_, err := client.Environments.Create(t.Context(), "x", EnvironmentDraft{})
	refusal, is := errors.AsType[*APIError](fmt.Errorf("wrapped: %w", err))
	if !is {
		t.Fatalf("got %v", err)
	}
	pointer, body := "/data/attributes/name", ""
	want := []ErrorEntry{
		{"400", CodeValidation, "Invalid request", "name is required.", ErrorSource{Pointer: &pointer}, map[string]any{}},
		{"400", CodeValidation, "Invalid request", "The body is odd.", ErrorSource{Pointer: &body}, map[string]any{"a": 1.0}},
		{"400", CodeInvalidParameter, "Invalid parameter", "cascade must be true or false.", ErrorSource{Parameter: "cascade"}, map[string]any{}},
	}
	if diff := testenv.Diff(want, refusal.Errors); diff != "" {
		t.Error(diff)
	}
	if refusal.StatusCode != 400 || refusal.RequestID != "r-42" || !refusal.Has(CodeInvalidParameter) || refusal.Has(CodeNotFound) {
		t.Errorf("got %+v", refusal)
	}
	message := "signalbox: POST /api/v1/environments: 400 validation_error: name is required. The body is odd. cascade must be true or false. (request r-42)"
	if diff := testenv.Diff(message, err.Error()); diff != "" {
		t.Error(diff)
	}
}

func TestAPIError_ForeignResponses(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("ä", 300)
	tests := map[string]struct {
		reply reply
		want  string
	}{
		"a page":        {reply{status: 502, body: "<html>\n  <b>Bad Gateway</b>\n</html>"}, ": 502: <html> <b>Bad Gateway</b> </html>"},
		"nothing":       {reply{status: 504}, ": 504 Gateway Timeout"},
		"other JSON":    {reply{status: 404, body: `{"message":"no route"}`}, `: 404: {"message":"no route"}`},
		"wrong JSON":    {reply{status: 404, body: `{"errors":"no"}`}, `: 404: {"errors":"no"}`},
		"a long text":   {reply{status: 500, body: long}, ": 500: " + strings.Repeat("ä", 200) + "…"},
		"binary":        {reply{status: 500, body: "\xff\x00"}, ": 500 Internal Server Error"},
		"a huge answer": {reply{status: 500, body: strings.Repeat("x", 3<<20)}, ": 500: " + strings.Repeat("x", 200) + "…"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := newStub(t, test.reply)
			client, _ := server.client(t)
			_, err := client.Account.Get(t.Context())
			if err == nil || err.Error() != "signalbox: GET /api/v1/accounts/current"+test.want {
				t.Errorf("got %v", err)
			}
			if IsNotFound(err) {
				t.Error("an answer of something else counts as one of Signalbox's")
			}
		})
	}
}

func TestAPIError_IsFunctions(t *testing.T) {
	t.Parallel()
	tests := map[Code]func(error) bool{
		CodeNotFound: IsNotFound, CodeAlreadyExists: IsAlreadyExists, CodeVersionMismatch: IsVersionMismatch,
		CodeLimitReached: IsLimitReached, CodeValidation: IsValidation, CodeUnauthorized: IsUnauthorized,
		CodeForbidden: IsForbidden, CodeRateLimited: IsRateLimited, CodeEnvironmentUnmanaged: IsEnvironmentUnmanaged,
		CodeEnvironmentProtected: IsEnvironmentProtected, CodeConfigInUse: IsConfigInUse, CodeConfigProtected: IsConfigProtected,
		CodeRunFinished: IsRunFinished, CodeJobDeleted: IsJobDeleted, CodeFlagUnmanaged: IsFlagUnmanaged, CodeFlagDemotion: IsFlagDemotion,
		CodeRowLimitReached: IsRowLimitReached, CodeInvalidParameter: IsInvalidParameter,
	}
	for code := range tests {
		t.Run(string(code), func(t *testing.T) {
			err := fmt.Errorf("wrapped: %w", &APIError{Errors: []ErrorEntry{{Code: "other"}, {Code: code}}})
			for other, is := range tests {
				if is(err) != (other == code) {
					t.Errorf("%s is taken for %s, or not for itself", code, other)
				}
				if is(nil) || is(errors.New(string(other))) {
					t.Errorf("%s is found in what is no APIError", other)
				}
			}
		})
	}
}

func TestCodes_MatchServer(t *testing.T) {
	t.Parallel()
	served := codes(t, "../internal/fault/fault.go")
	if diff := testenv.Diff(served, codes(t, "errors.go")); diff != "" {
		t.Error(diff)
	}
}

// codes returns the sorted values of the constants of type Code in a file.
func codes(t *testing.T, path string) []string {
	t.Helper()
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		testenv.Skip(t, "the server's source is not beside the client's")
	}
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, match := range regexp.MustCompile(`(?m)^\t\w+ +Code = "(.+)"$`).FindAllSubmatch(text, -1) {
		found = append(found, string(match[1]))
	}
	slices.Sort(found)
	return found
}

func TestAPIError_Limit(t *testing.T) {
	t.Parallel()
	server := newStub(t, reply{status: http.StatusPaymentRequired, body: `{"errors":[{"status":"402","code":"entitlement_limit_reached",
		"title":"Subscription limit reached","detail":"No more.","meta":{"limit_key":"platform.managed_environments","current":2,"maximum":2,"plan":"free","product":"platform"}}]}`})
	client, _ := server.client(t)
	_, err := client.Environments.Create(t.Context(), "x", EnvironmentDraft{Name: "X"})
	refusal, _ := errors.AsType[*APIError](err)
	limit, reached := refusal.Limit()
	want := Limit{Key: "platform.managed_environments", Current: 2, Maximum: 2, Plan: "free", Product: "platform"}
	if !IsLimitReached(err) || !reached || limit != want {
		t.Errorf("got %+v, %v", limit, err)
	}
	if limit, reached := (&APIError{Errors: []ErrorEntry{{Code: CodeForbidden}}}).Limit(); reached || limit != (Limit{}) {
		t.Errorf("got %+v", limit)
	}
}

func TestRetryAfter(t *testing.T) {
	t.Parallel()
	now := time.Date(2030, 1, 1, 12, 0, 0, 0, time.UTC)
	for header, want := range map[string]time.Duration{
		"": 0, "0": 0, "1": time.Second, "120": 2 * time.Minute, "-5": 0, "1.5": 0, "99999999999999999999": 0,
		"Tue, 01 Jan 2030 12:00:30 GMT": 30 * time.Second, "Tue, 01 Jan 2030 11:00:00 GMT": 0,
	} {
		t.Run(fmt.Sprintf("%q", header), func(t *testing.T) {
			if got := retryAfter(header, now); got != want {
				t.Errorf("%q is %v, not %v", header, got, want)
			}
		})
	}
}
