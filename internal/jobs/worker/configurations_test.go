package worker

import (
	"fmt"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/internal/jobs"
)

func TestConfigurationCache_KeepsWhatFits(t *testing.T) {
	t.Parallel()
	body := strings.Repeat("x", 1<<20)
	configuration := jobs.NewConfiguration(jobs.Plain{Body: &body})
	cache := configurationCache{known: map[string]jobs.Configuration{}}
	for i := range 100 {
		id := fmt.Sprint(i % 40)
		cache.put(id, configuration)
		cache.put(id, configuration) // what is known is not counted twice
		if _, known := cache.get(id); !known {
			t.Errorf("what was put last is gone")
		}
		if want := len(cache.known) * configuration.Size(); cache.bytes != want || want > maxCachedBytes {
			t.Fatalf("%d configurations count as %d bytes", len(cache.known), cache.bytes)
		}
	}
	if len(cache.known) != 31 {
		t.Errorf("%d of 31 that fit are known", len(cache.known))
	}
}
