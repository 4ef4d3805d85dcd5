package signalbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"testing"
	"time"
)

// webhookVector is a message that other libraries of Standard Webhooks accept, or not. scripts/webhook-vectors writes them.
type webhookVector struct {
	Name      string `json:"name"`
	Secret    string `json:"secret"`
	ID        string `json:"id"`
	Timestamp int64  `json:"timestamp"`
	Signature string `json:"signature"`
	Body      string `json:"body"`
	Valid     bool   `json:"valid"`
}

func TestVerifyWebhook_Vectors(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("testdata/webhooks.json")
	if err != nil {
		t.Fatal(err)
	}
	var vectors []webhookVector
	if err := json.Unmarshal(text, &vectors); err != nil || len(vectors) < 8 {
		t.Fatal(len(vectors), err)
	}
	for _, vector := range vectors {
		t.Run(vector.Name, func(t *testing.T) {
			t.Parallel()
			header := http.Header{}
			header.Set("webhook-id", vector.ID)
			header.Set("webhook-timestamp", strconv.FormatInt(vector.Timestamp, 10))
			header.Set("webhook-signature", vector.Signature)
			event, err := verifyWebhook(vector.Secret, header, []byte(vector.Body), time.Unix(vector.Timestamp+60, 0))
			if (err == nil) != vector.Valid || !vector.Valid && !errors.Is(err, ErrWebhookSignature) {
				t.Fatalf("%v", err)
			}
			if vector.Valid && (event.ID != vector.ID || event.Type == "" || event.Timestamp.IsZero()) {
				t.Errorf("%+v", event)
			}
		})
	}
}

func TestVerifyWebhook_Refuses(t *testing.T) {
	t.Parallel()
	secret, now := "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", time.Unix(1_800_000_000, 0)
	for name, header := range map[string]http.Header{
		"no headers":   {},
		"no timestamp": {"Webhook-Id": {"a"}},
		"old":          {"Webhook-Id": {"a"}, "Webhook-Timestamp": {"1799999699"}},
		"of tomorrow":  {"Webhook-Id": {"a"}, "Webhook-Timestamp": {"1800000301"}},
		"no signature": {"Webhook-Id": {"a"}, "Webhook-Timestamp": {"1800000000"}},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := verifyWebhook(secret, header, nil, now); !errors.Is(err, ErrWebhookSignature) {
				t.Errorf("%s: %v", name, err)
			}
		})
	}
	for _, broken := range []string{"", "whsec_", "whsec_%"} {
		t.Run(fmt.Sprintf("%q", broken), func(t *testing.T) {
			if _, err := VerifyWebhook(broken, nil, nil); err == nil || errors.Is(err, ErrWebhookSignature) {
				t.Error(err)
			}
		})
	}
}
