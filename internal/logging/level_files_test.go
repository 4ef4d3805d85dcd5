package logging_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/signalbox/signalbox/client/loglevel"
	"github.com/signalbox/signalbox/internal/logging"
)

// TestFileLevels_UnexpiredSharesNothing: the results for two instants have their own released loggers, also if the list of the
// original has spare capacity, as json.Unmarshal leaves it.
func TestFileLevels_UnexpiredSharesNothing(t *testing.T) {
	t.Parallel()
	noon := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	earlier := logging.Released{Key: "earlier", Name: "earlier", At: noon.Add(-time.Hour)}
	temporary := logging.Levels{Level: loglevel.Debug, LevelExpiresAt: new(noon)}
	levels := &logging.FileLevels{Released: append(make([]logging.Released, 0, 4), earlier),
		Loggers: []logging.FileLogger{{Key: "shop", Levels: temporary, Managed: true}}}
	first, second := levels.Unexpired(noon), levels.Unexpired(noon.Add(time.Minute))
	for at, got := range map[time.Time][]logging.Released{noon: first.Released, noon.Add(time.Minute): second.Released} {
		if difference := cmp.Diff([]logging.Released{earlier, {Key: "shop", Name: "shop", At: at}}, got); difference != "" {
			t.Errorf("at %s (-want +got):\n%s", at, difference)
		}
	}
}
