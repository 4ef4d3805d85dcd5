package assistant

import (
	"strings"
	"testing"
	"time"
)

func TestConfirmations_Expire(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_700_000_000, 0)
	c := newConfirmations(func() time.Time { return now })
	token, err := c.offer("call", "state")
	if err != nil {
		t.Fatal(err)
	}
	now = now.Add(confirmationLife)
	if _, err := c.take(token, "call"); err == nil {
		t.Error("an expired confirmation counts")
	}
}

func TestConfirmations_Bounded(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_700_000_000, 0)
	c := newConfirmations(func() time.Time { return now })
	for range maxPending {
		if _, err := c.offer("call", ""); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := c.offer("call", ""); err == nil || !strings.Contains(err.Error(), "confirm one, or wait") {
		t.Errorf("one more: %v", err)
	}
	now = now.Add(confirmationLife)
	if _, err := c.offer("call", ""); err != nil || len(c.pending) != 1 {
		t.Errorf("after they expired: %v, %d are kept", err, len(c.pending))
	}
}
