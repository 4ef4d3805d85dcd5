package configs

import (
	"bytes"
	"context"
	"encoding/json"
	"time"

	"github.com/signalbox/signalbox/internal/fault"
	"github.com/signalbox/signalbox/internal/rawjson"
)

// maxWork bounds what checking may cost one write. A schema of a few lines can
// ask for more work than a machine can do, and the account's lock, which on
// SQLite is everybody's, is held meanwhile. It is the sum of prices and not a
// time that is measured: a write is refused everywhere or nowhere.
const maxWork = 250 * time.Millisecond

// maxChecking is the last resort, should prices be wrong or the machine busy:
// then the write is given up, and may be tried again.
const maxChecking = 2 * time.Second

// What things cost, roughly as measured on a busy machine.
const (
	priceOfLookup = 50 * time.Nanosecond  // of a key, in one config of a chain
	priceOfByte   = 10 * time.Nanosecond  // of text that is decoded or merged
	priceOfToken  = 200 * time.Nanosecond // of a value in such text
)

// budget is the work that one write may still cause.
type budget struct {
	left time.Duration
	// gaveUp tells why checking must end although there is work left.
	gaveUp func() error
}

func newBudget() *budget {
	return &budget{left: maxWork, gaveUp: func() error { return nil }}
}

// begin makes the budget that of a new check, which lasts no longer than its
// context and the patience that is left.
func (b *budget) begin(ctx context.Context, patience time.Duration) (end func()) {
	limited, cancel := context.WithTimeout(ctx, patience)
	b.left, b.gaveUp = maxWork, limited.Err
	return cancel
}

func (b *budget) spend(work time.Duration) {
	if work > b.left || b.gaveUp() != nil {
		work = b.left + 1
	}
	b.left -= work
}

func (b *budget) spent() bool { return b.left < 0 }

// interrupted is why the check ended too early to know anything; nil when the
// work was too much, or was done.
func (b *budget) interrupted() error {
	if err := b.gaveUp(); b.spent() && err != nil {
		return fault.New(fault.Unavailable, "Checking the config took too long; nothing was changed. Try again in a moment.").Because(err)
	}
	return nil
}

// reading is what it costs to decode a text or to merge it with another.
func reading(text json.RawMessage) time.Duration {
	tokens := bytes.Count(text, []byte(",")) + bytes.Count(text, []byte(":")) + bytes.Count(text, []byte(`\`)) +
		bytes.Count(text, []byte("[")) + bytes.Count(text, []byte("{"))
	return time.Duration(len(text))*priceOfByte + time.Duration(1+tokens)*priceOfToken
}

// same compares two values. When nothing is left to pay with, they differ.
func (b *budget) same(a, c json.RawMessage) bool {
	if bytes.Equal(a, c) {
		return true
	}
	b.spend(2 * (reading(a) + reading(c)))
	return !b.spent() && rawjson.Same(a, c)
}
