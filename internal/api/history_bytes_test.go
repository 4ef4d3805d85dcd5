package api_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/internal/settings"
	"github.com/signalbox/signalbox/internal/store/storetest"
)

// largeConfig returns the body of a config of the given size; different numbers give different bodies.
func largeConfig(number, bytes int) string {
	text := fmt.Sprintf("%d%s", number, strings.Repeat("x", bytes))
	return envelope("", "", attributes{"items": attributes{"text": attributes{"value": text, "type": "STRING"}}})
}

// A config that is written again and again fills the history up to its limit. The oldest changes stay without their
// documents and cannot be reverted; changes that still have their documents can.
func TestHistory_BoundedInBytes(t *testing.T) {
	t.Parallel()
	const limit, size = 128 << 10, 3 << 10 // a change has two documents, and is less than the limit/16 that trimming frees besides
	storetest.Each(t, func(t *testing.T, database storetest.Database) {
		owner := start(t, database, func(s *settings.Settings) { s.HistoryBytes = limit })
		path := owner.makeConfig("large", nil)
		created := owner.seq()
		for number := range 30 {
			owner.put(path, largeConfig(number, size)).want(200)
		}
		usage := owner.get(usagePath).want(200)
		if bytes := usage.attribute("history_bytes").(float64); bytes > limit || bytes < limit/2 || usage.attribute("history_bytes_limit") != float64(limit) {
			t.Errorf("got %s", usage.body)
		}
		oldest, newest := owner.get(changePath(created+1)).want(200), owner.get(changePath(owner.seq())).want(200)
		if oldest.attribute("documents_removed") != true || oldest.attribute("before") != nil || oldest.attribute("after") != nil ||
			oldest.attribute("action") != "updated" || oldest.attribute("key") != "large" {
			t.Errorf("the oldest is %s", oldest.body)
		}
		if _, says := newest.data().Attributes["documents_removed"]; says || newest.attribute("before") == nil {
			t.Errorf("the newest has no documents: %v", newest.data().Attributes["documents_removed"])
		}
		owner.revert(changePath(created)+"?force=true").refused(409, problem{code: "not_revertible"}) // its creation, of which nothing is known
		if refused := owner.revert(changePath(created+1) + "?force=true").want(409); !refused.contains("not_revertible") || !refused.contains("no longer kept, because the account's history became too large") {
			t.Errorf("got %s", refused.body)
		}
		owner.revert(changePath(owner.seq())).want(200)
		if got := owner.get(path).want(200); !got.contains(`"28xxx`) {
			t.Error("the last change is not reverted")
		}
		if listed := owner.get(changesPath + "?filter[resource]=config:large&page[size]=100").want(200); !listed.contains(`"documents_removed":true`) {
			t.Error("the list does not say what was removed")
		}
	})
}

// A repeated large write adds nothing.
func TestHistory_RepetitionAddsNothing(t *testing.T) {
	t.Parallel()
	owner := newOwner(t, "pro")
	path := owner.makeConfig(unique("config"), nil)
	owner.put(path, largeConfig(1, 100<<10)).want(200)
	bytes := owner.get(usagePath).attribute("history_bytes")
	for range 3 {
		owner.put(path, largeConfig(1, 100<<10)).want(200)
	}
	if now := owner.get(usagePath).attribute("history_bytes"); now != bytes {
		t.Errorf("%v bytes became %v", bytes, now)
	}
}
