package webhooks

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"
)

// TestSecrets_SignLikeOthers signs the messages that other libraries of Standard Webhooks have signed and verified.
// scripts/webhook-vectors writes them.
func TestSecrets_SignLikeOthers(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../client/testdata/webhooks.json")
	if err != nil {
		t.Fatal(err)
	}
	var vectors []struct {
		Secret, ID, Signature, Body string
		Timestamp                   int64
		Valid                       bool
	}
	if err := json.Unmarshal(text, &vectors); err != nil {
		t.Fatal(err)
	}
	signed := 0
	for _, vector := range vectors {
		if !vector.Valid {
			continue
		}
		signature, err := Secrets{Current: vector.Secret}.Sign(vector.ID, time.Unix(vector.Timestamp, 0), []byte(vector.Body))
		if err != nil || !strings.Contains(vector.Signature, signature) {
			t.Errorf("%s, want %s, %v", signature, vector.Signature, err)
		}
		signed++
	}
	if signed < 8 {
		t.Errorf("%d messages", signed)
	}
}
