package webhooks

import (
	"crypto/sha256"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"

	"github.com/signalbox/signalbox/internal/hosts"
)

// DeliveryStatus is the state of a delivery. The package documentation has the transitions.
type DeliveryStatus string

// The states.
const (
	Waiting   DeliveryStatus = "waiting" // until it is due
	Pending   DeliveryStatus = "pending" // due, for any node to claim
	Sending   DeliveryStatus = "sending" // a node has claimed it
	Delivered DeliveryStatus = "delivered"
	Failed    DeliveryStatus = "failed"
	Canceled  DeliveryStatus = "canceled" // the webhook was disabled
	// Joined marks an event that is part of another delivery's message. It is never listed.
	Joined DeliveryStatus = "joined"
)

// Shown returns the state for callers, who need not know whether a delivery waits in the queue or
// for its next attempt.
func (s DeliveryStatus) Shown() DeliveryStatus {
	if s == Waiting {
		return Pending
	}
	return s
}

// Timings of deliveries.
const (
	// Timeout is how long a target may take to answer.
	Timeout = 15 * time.Second
	// disableAfter is how long a webhook may fail, without any success, before it is disabled.
	disableAfter = 5 * 24 * time.Hour
	// maxRetryAfter bounds how long a target may ask to wait.
	maxRetryAfter = 24 * time.Hour
	// joinFor is how long the first event of a message waits for others.
	joinFor = 30 * time.Second
	// keptAnswer is how many bytes of an answer are kept.
	keptAnswer = 1 << 10
)

// schedule returns the delays before the attempts.
func schedule() []time.Duration {
	return []time.Duration{0, 5 * time.Second, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 5 * time.Hour, 10 * time.Hour, 10 * time.Hour}
}

// Delivery is the message to a webhook about one event, or about several joined events.
type Delivery struct {
	ID        string         `json:"-"`
	Account   string         `json:"-"`
	Webhook   string         `json:"webhook"`
	Type      string         `json:"type"`
	Status    DeliveryStatus `json:"status"`
	Events    int            `json:"events"` // how many events its message has
	CreatedAt time.Time      `json:"created_at"`
	DueAt     *time.Time     `json:"next_attempt_at"` // nil when it is over
	Attempts  []Attempt      `json:"attempts"`        // the last ones, oldest first
}

// Attempt is one request of a delivery.
type Attempt struct {
	At         time.Time `json:"at"`
	Status     *int      `json:"status"` // of the answer; nil for none
	DurationMS int64     `json:"duration_ms"`
	Error      *string   `json:"error"`  // why there was no answer
	Answer     *string   `json:"answer"` // the beginning of its body
}

// Answer returns the part of an answer's body that is kept. It has no NUL, which PostgreSQL cannot store: one NUL would
// prevent the whole batch of outcomes from being stored.
func Answer(body string) *string {
	if body == "" {
		return nil
	}
	kept := strings.ReplaceAll(trimmed(strings.ToValidUTF8(body, string(utf8.RuneError)), keptAnswer), "\x00", string(utf8.RuneError))
	kept = trimmed(kept, keptAnswer)
	return &kept
}

// DeliveryID returns the id of the delivery of an event to a webhook. It is a function of both and begins with the time
// of the event, as a UUIDv7 does, so that ids sort by time.
func DeliveryID(webhook, event string, at time.Time) string {
	return stableID(at, webhook+"\n"+event)
}

// stableID returns a UUIDv7 with a hash in place of random bits.
func stableID(at time.Time, text string) string {
	sum := sha256.Sum256([]byte(text))
	id := uuid.UUID(sum[:16])
	millis := at.UnixMilli()
	for i := range 6 {
		id[i] = byte(millis >> (8 * (5 - i)))
	}
	id[6], id[8] = id[6]&0x0f|0x70, id[8]&0x3f|0x80
	return id.String()
}

// Outcome is the result of one attempt.
type Outcome struct {
	Attempt    int // 1 for the first of the schedule
	Status     int // of the answer; 0 for none
	RetryAfter string
	At         time.Time
	// FailingSince is the first failure of the webhook since its last success; nil for none.
	FailingSince *time.Time
}

// Verdict is the decision after an attempt.
type Verdict struct {
	Status DeliveryStatus // Delivered, Failed, or Waiting for another attempt
	Next   time.Time      // of the next attempt
	// Disable says why the webhook is to be disabled; "" is not.
	Disable string
}

// Judge returns the verdict on an attempt. random is from 0 to 1.
func (o Outcome) Judge(random float64) Verdict {
	delays := schedule()
	switch {
	case o.Status >= 200 && o.Status <= 299:
		return Verdict{Status: Delivered}
	case o.Status == 410:
		return Verdict{Status: Failed, Disable: "The target answered 410 Gone."}
	case o.FailingSince != nil && o.At.Sub(*o.FailingSince) >= disableAfter:
		return Verdict{Status: Failed, Disable: "Every attempt failed for five days, since " + o.FailingSince.Format(time.RFC3339) + "."}
	case o.Attempt >= len(delays):
		return Verdict{Status: Failed}
	}
	const jitter = 0.1
	delay := time.Duration(float64(delays[o.Attempt]) * (1 - jitter + 2*jitter*random))
	if o.Status == 429 || o.Status == 503 {
		delay = max(delay, hosts.RetryAfter(o.RetryAfter, o.At, maxRetryAfter))
	}
	return Verdict{Status: Waiting, Next: o.At.Add(delay).Truncate(time.Microsecond)}
}
