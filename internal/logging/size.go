package logging

import (
	"context"
	"encoding/json"

	"github.com/signalbox/signalbox/internal/fault"
)

const (
	// MaxOverrideBytes limits the total size of an account's overrides, because a list shows a
	// thousand loggers or groups at once.
	MaxOverrideBytes = 32 << 20
	// SmallBytes is the largest size of overrides that does not count. So most writes skip the
	// query.
	SmallBytes = 8 << 10
)

// bytes returns the stored size of the overrides.
func (l Levels) bytes() int {
	text, err := json.Marshal(l.Environments)
	if err != nil {
		panic(err) // names, levels and times always encode
	}
	return len(text)
}

// checkTotalSize refuses overrides that grow beyond the limit of the account. before has the stored
// overrides.
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
