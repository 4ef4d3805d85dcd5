package signalbox

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// webhookTolerance is how far the clocks of the sender and the receiver may differ.
const webhookTolerance = 5 * time.Minute

// ErrWebhookSignature means that a message was not signed with the secret, is too old, or was changed.
var ErrWebhookSignature = errors.New("signalbox: the message of the webhook is not genuine")

// WebhookEvent is a verified message of a webhook with the format standard.
type WebhookEvent struct {
	// ID is the same for every attempt to deliver the message. A receiver that has seen it can ignore the message.
	ID string `json:"-"`
	// Type is the type of the event, such as job.failing or change.flag.
	Type string `json:"type"`
	// Timestamp is when it happened.
	Timestamp time.Time `json:"timestamp"`
	// Data is the content, as JSON. Its members kind and key name the resource.
	Data json.RawMessage `json:"data"`
}

// VerifyWebhook checks that a message was signed with the secret of a webhook (whsec_…) and is at most five minutes old,
// and returns the event. body is the body of the request as it came, and header has the request's headers. While a secret
// is rotated, either of the two secrets is accepted. The error is [ErrWebhookSignature] if the message is not genuine.
func VerifyWebhook(secret string, header http.Header, body []byte) (WebhookEvent, error) {
	return verifyWebhook(secret, header, body, time.Now())
}

func verifyWebhook(secret string, header http.Header, body []byte, now time.Time) (WebhookEvent, error) {
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
	if err != nil || len(key) == 0 {
		return WebhookEvent{}, errors.New("signalbox: the secret of a webhook begins with whsec_ and continues in base64")
	}
	id, sent := header.Get("webhook-id"), header.Get("webhook-timestamp")
	seconds, err := strconv.ParseInt(sent, 10, 64)
	if id == "" || err != nil {
		return WebhookEvent{}, fmt.Errorf("%w: the headers webhook-id and webhook-timestamp are missing", ErrWebhookSignature)
	}
	if age := now.Sub(time.Unix(seconds, 0)); age.Abs() > webhookTolerance {
		return WebhookEvent{}, fmt.Errorf("%w: its timestamp differs by %s", ErrWebhookSignature, age.Abs().Round(time.Second))
	}
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(id + "." + sent + "."))
	mac.Write(body)
	want := mac.Sum(nil)
	for each := range strings.FieldsSeq(header.Get("webhook-signature")) {
		encoded, is := strings.CutPrefix(each, "v1,")
		signature, err := base64.StdEncoding.DecodeString(encoded)
		if is && err == nil && hmac.Equal(signature, want) {
			return readWebhook(id, body)
		}
	}
	return WebhookEvent{}, fmt.Errorf("%w: no signature is of this secret", ErrWebhookSignature)
}

func readWebhook(id string, body []byte) (WebhookEvent, error) {
	event := WebhookEvent{ID: id}
	if err := json.Unmarshal(body, &event); err != nil {
		return WebhookEvent{}, fmt.Errorf("signalbox: reading the message of a webhook: %w", err)
	}
	return event, nil
}
