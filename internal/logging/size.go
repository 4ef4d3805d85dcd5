package logging

import (
	"context"
	"encoding/json"

	"github.com/signalbox/signalbox/internal/fault"
)

const (
	// MaxOverrideBytes is what the overrides of an account's loggers and groups
	// may take together: a list shows a thousand of them at once.
	MaxOverrideBytes = 32 << 20
	// SmallBytes is up to where overrides are not counted, so that most writes do not ask.
	SmallBytes = 8 << 10
)

// bytes returns what the overrides take as they are stored.
func (l Levels) bytes() int {
	text, err := json.Marshal(l.Environments)
	if err != nil {
		panic(err) // names, levels and times cannot fail
	}
	return len(text)
}

// checkTotalSize refuses overrides that grow past what an account may have.
// before are those that are still stored.
func checkTotalSize(ctx context.Context, tx ReadTx, account string, before, after Levels) error {
	size, was := after.bytes(), before.bytes()
	if size <= max(SmallBytes, was) {
		return nil
	}
	total, err := tx.LargeOverrideBytes(ctx, account)
	if err != nil {
		return err
	}
	if was > SmallBytes {
		total -= was
	}
	if total+size <= MaxOverrideBytes {
		return nil
	}
	return fault.RowLimit("logging.override_bytes", MaxOverrideBytes,
		"Loggers and log groups whose overrides have more than %d bytes may have %d bytes together, in one account. Remove overrides that are not used, or set the level once on a group.",
		SmallBytes, MaxOverrideBytes)
}
