package allowance_test

import (
	"testing"
	"time"

	"github.com/signalbox/signalbox/internal/allowance"
)

// taken returns how many of count tokens a sender gets at an instant.
func taken(buckets *allowance.Buckets[int], sender, count int, now time.Time) (got int) {
	for range count {
		if buckets.Wait(sender, now) == 0 {
			buckets.Take(sender, now)
			got++
		}
	}
	return got
}

func expect(t *testing.T, what string, got, want int) {
	t.Helper()
	if got != want {
		t.Errorf("%s: got %d, want %d", what, got, want)
	}
}

func TestBuckets_BurstThenRate(t *testing.T) {
	t.Parallel()
	var buckets allowance.Buckets[int]
	buckets.Limit(5, 2)
	now := time.Date(2031, 1, 1, 0, 0, 0, 0, time.UTC)
	expect(t, "the burst", taken(&buckets, 1, 10, now), 5)
	if wait := buckets.Wait(1, now); wait != 500*time.Millisecond {
		t.Errorf("the next token is expected in %s", wait)
	}
	expect(t, "another sender", taken(&buckets, 2, 10, now), 5)
	expect(t, "after two seconds", taken(&buckets, 1, 10, now.Add(2*time.Second)), 4)
	expect(t, "after a long time", taken(&buckets, 1, 10, now.Add(time.Hour)), 5)
}

func TestBuckets_GivenTokens(t *testing.T) {
	t.Parallel()
	var buckets allowance.Buckets[int]
	buckets.Limit(2, 1)
	now := time.Date(2031, 1, 1, 0, 0, 0, 0, time.UTC)
	buckets.Take(1, now)
	if !buckets.Remembers(1) {
		t.Error("a sender that took a token is forgotten")
	}
	buckets.Give(1)
	buckets.Give(1) // it has all its tokens
	if buckets.Remembers(1) || buckets.Len() != 0 {
		t.Error("a sender with all its tokens is remembered")
	}
	expect(t, "the burst", taken(&buckets, 1, 10, now), 2)
}

func TestBuckets_ManySendersShareOne(t *testing.T) {
	t.Parallel()
	var buckets allowance.Buckets[int]
	buckets.Limit(2, 1)
	now := time.Date(2031, 1, 1, 0, 0, 0, 0, time.UTC)
	for sender := range allowance.MaxSenders {
		buckets.Take(sender, now)
	}
	got := 0
	for sender := range 10 {
		got += taken(&buckets, -1-sender, 1, now)
	}
	expect(t, "ten new senders", got, 2)
	expect(t, "a known sender", taken(&buckets, 7, 10, now), 1)
	later := now.Add(time.Minute)
	expect(t, "a new sender when the others are full again", taken(&buckets, -1, 10, later), 2)
	expect(t, "the remembered senders", buckets.Len(), 1)
}
