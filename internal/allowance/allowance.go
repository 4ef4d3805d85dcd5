// Package allowance limits how often each of many senders may do something.
package allowance

import "time"

// MaxSenders bounds how many senders are remembered.
const MaxSenders = 100_000

// Buckets has a token bucket for each sender. Buckets that are full again are forgotten.
// When there is no room for more buckets, new senders share one, so that using many
// addresses or keys does not lift the limit. Limit must be called before use. Buckets are
// not safe for concurrent use.
type Buckets[K comparable] struct {
	burst, perSecond float64

	known  map[K]*bucket
	shared bucket
	swept  time.Time
}

// bucket is the token bucket of one sender.
type bucket struct {
	left float64
	at   time.Time
}

// Limit sets the capacity of each bucket and its refill per second, at its first call.
func (b *Buckets[K]) Limit(burst, perSecond float64) {
	if b.known == nil {
		b.known = map[K]*bucket{}
		b.burst, b.perSecond = burst, perSecond
		b.shared.left = burst
	}
}

// of returns the bucket of a sender, refilled up to now. exists is false for a sender that
// is not remembered; its bucket is full.
func (b *Buckets[K]) of(sender K, now time.Time) (found *bucket, exists bool) {
	found, exists = b.known[sender]
	switch {
	case !exists && len(b.known) < MaxSenders:
		return &bucket{b.burst, now}, false
	case !exists:
		found, exists = &b.shared, true
	}
	if now.After(found.at) {
		found.left = min(b.burst, found.left+now.Sub(found.at).Seconds()*b.perSecond)
		found.at = now
	}
	return found, exists
}

// Remembers reports whether the sender's bucket may be less than full.
func (b *Buckets[K]) Remembers(sender K) bool {
	return b.known[sender] != nil || len(b.known) >= MaxSenders
}

// Len returns how many senders are remembered.
func (b *Buckets[K]) Len() int { return len(b.known) }

// Wait returns how long a sender has to wait for its next token; 0 if it has one now.
func (b *Buckets[K]) Wait(sender K, now time.Time) time.Duration {
	if len(b.known) >= MaxSenders {
		b.sweep(now)
	}
	found, _ := b.of(sender, now)
	if found.left >= 1 {
		return 0
	}
	return time.Duration((1 - found.left) / b.perSecond * float64(time.Second))
}

// Take uses one token of a sender.
func (b *Buckets[K]) Take(sender K, now time.Time) {
	found, exists := b.of(sender, now)
	if !exists {
		b.known[sender] = found
	}
	found.left--
}

// Give returns one token to a sender.
func (b *Buckets[K]) Give(sender K) {
	found, exists := b.known[sender]
	switch {
	case !exists && len(b.known) < MaxSenders:
		return // its bucket is full
	case !exists:
		found = &b.shared
	}
	if found.left = min(b.burst, found.left+1); found.left >= b.burst {
		delete(b.known, sender)
	}
}

// sweep forgets senders whose bucket is full, at most once a second.
func (b *Buckets[K]) sweep(now time.Time) {
	if now.Sub(b.swept) < time.Second {
		return
	}
	b.swept = now
	for sender, each := range b.known {
		if each.left+now.Sub(each.at).Seconds()*b.perSecond >= b.burst {
			delete(b.known, sender)
		}
	}
}
