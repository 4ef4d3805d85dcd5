package logging

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/signalbox/signalbox/client/loglevel"
)

// Resolve measures one pass over an account's loggers against a walk up the
// ancestors of each.
func Resolve(out io.Writer) {
	loggers := make([]loglevel.Logger, 10_000)
	byKey := map[string]loglevel.Logger{}
	for i := range loggers {
		loggers[i].Key = fmt.Sprintf("com.example.team%d.service%d.class%d", i%10, i%100, i)
		if i < 10 {
			loggers[i] = loglevel.Logger{Key: fmt.Sprintf("com.example.team%d", i), Level: loglevel.Warn,
				Environments: map[string]loglevel.Level{"production": loglevel.Error}}
		}
		byKey[loggers[i].Key] = loggers[i]
	}
	tree := loglevel.NewTree(loggers, nil)
	pass := median(func() {
		for range tree.All("production") {
		}
	})
	walk := median(func() {
		for _, logger := range loggers {
			walked(byKey, logger.Key, "production")
		}
	})
	fmt.Fprintf(out, "10,000 loggers resolved in an environment: one pass %s, a walk for each %s, ratio %.1fx\n",
		pass.Round(time.Microsecond), walk.Round(time.Microsecond), walk.Seconds()/pass.Seconds())
}

// walked is the obvious way to resolve a level.
func walked(loggers map[string]loglevel.Logger, key, environment string) loglevel.Level {
	segments := strings.Split(key, ".")
	for length := len(segments); length > 0; length-- {
		logger, exists := loggers[strings.Join(segments[:length], ".")]
		if !exists {
			continue
		}
		if level := logger.Environments[environment]; level != loglevel.None {
			return level
		}
		if logger.Level != loglevel.None {
			return logger.Level
		}
	}
	return loglevel.Default
}

func median(run func()) time.Duration {
	const turns = 51
	took := make([]time.Duration, turns)
	for i := range took {
		started := time.Now()
		run()
		took[i] = time.Since(started)
	}
	slices.Sort(took)
	return took[turns/2]
}
