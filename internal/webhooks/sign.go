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
	// maxReplaced bounds how many replaced secrets sign at once, so that the header stays short.
	maxReplaced = 9
)

// Secrets are the secrets that sign the messages of a webhook.
type Secrets struct {
	Current   string    `json:"current"`
	CreatedAt time.Time `json:"created_at"`
	// Previous signs as well until PreviousUntil; "" for none.
	Previous      string    `json:"previous,omitempty"`
	PreviousUntil time.Time `json:"previous_until,omitzero"`
	// Earlier are the secrets before Previous that still sign, newest first.
	Earlier []Replaced `json:"earlier,omitempty"`
}

// Replaced is a secret that was replaced, and signs as well until a time.
type Replaced struct {
	Secret string    `json:"secret"`
	Until  time.Time `json:"until"`
}

// newSecret returns a random secret, as whsec_ and base64.
func newSecret() string {
	random := make([]byte, secretBytes)
	_, _ = rand.Read(random) // it never fails
	return secretPrefix + base64.StdEncoding.EncodeToString(random)
}

// rotate returns secrets with a new current one.
func (s Secrets) rotate(now time.Time) Secrets {
	earlier := s.replaced(now)
	return Secrets{Current: newSecret(), CreatedAt: now, Previous: s.Current, PreviousUntil: now.Add(secretOverlap),
		Earlier: earlier[:min(len(earlier), maxReplaced-1)]}
}

// replaced returns the replaced secrets that sign at a time, newest first.
func (s Secrets) replaced(now time.Time) (signing []Replaced) {
	for _, each := range append([]Replaced{{s.Previous, s.PreviousUntil}}, s.Earlier...) {
		if each.Secret != "" && now.Before(each.Until) {
			signing = append(signing, each)
		}
	}
	return signing
}

// valid returns the secrets that sign at a time.
func (s Secrets) valid(now time.Time) []string {
	valid := []string{s.Current}
	for _, each := range s.replaced(now) {
		valid = append(valid, each.Secret)
	}
	return valid
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
