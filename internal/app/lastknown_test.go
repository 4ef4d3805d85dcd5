package app

import (
	"strings"
	"testing"

	"github.com/signalbox/signalbox/internal/accounts"
)

// TestFitKeys: an account with large, recently used keys does not displace the keys of
// others. It gets the space that they leave.
func TestFitKeys(t *testing.T) {
	t.Parallel()
	var keys []accounts.KnownKey
	for range 100 {
		keys = append(keys, accounts.KnownKey{Account: "large", Origins: []string{strings.Repeat("x", 4<<10)}})
	}
	keys = append(keys, accounts.KnownKey{Account: "small"})
	kept, size := map[string]int{}, 0
	for _, key := range fitKeys(keys, 64<<10) {
		kept[key.Account]++
		size += keyBytes(key)
	}
	if kept["small"] != 1 || kept["large"] != 14 || size > 64<<10 {
		t.Errorf("kept %v, %d bytes", kept, size)
	}
}
