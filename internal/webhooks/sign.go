package webhooks

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"strconv"
	"strings"
	"time"
)

const (
	secretPrefix = "whsec_"
	secretBytes  = 32
	// secretOverlap is how long the secret before a rotation signs as well.
	secretOverlap = 24 * time.Hour
)

// Secrets are the secrets that sign the messages of a webhook.
type Secrets struct {
	Current   string    `json:"current"`
	CreatedAt time.Time `json:"created_at"`
	// Previous signs as well until PreviousUntil; "" for none.
	Previous      string    `json:"previous,omitempty"`
	PreviousUntil time.Time `json:"previous_until,omitzero"`
}

// newSecret returns a random secret, as whsec_ and base64.
func newSecret() string {
	random := make([]byte, secretBytes)
	_, _ = rand.Read(random) // it never fails
	return secretPrefix + base64.StdEncoding.EncodeToString(random)
}

// rotate returns secrets with a new current one.
func (s Secrets) rotate(now time.Time) Secrets {
	return Secrets{Current: newSecret(), CreatedAt: now, Previous: s.Current, PreviousUntil: now.Add(secretOverlap)}
}

// valid returns the secrets that sign at a time.
func (s Secrets) valid(now time.Time) []string {
	if s.Previous != "" && now.Before(s.PreviousUntil) {
		return []string{s.Current, s.Previous}
	}
	return []string{s.Current}
}

// Sign returns the header webhook-signature of Standard Webhooks 1.0, with a signature by each valid secret.
func (s Secrets) Sign(id string, at time.Time, body []byte) (string, error) {
	var signatures []string
	for _, secret := range s.valid(at) {
		key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, secretPrefix))
		if err != nil {
			return "", fmt.Errorf("reading the secret of a webhook: %w", err)
		}
		mac := hmac.New(sha256.New, key)
		mac.Write([]byte(id + "." + strconv.FormatInt(at.Unix(), 10) + "."))
		mac.Write(body)
		signatures = append(signatures, "v1,"+base64.StdEncoding.EncodeToString(mac.Sum(nil)))
	}
	return strings.Join(signatures, " "), nil
}
