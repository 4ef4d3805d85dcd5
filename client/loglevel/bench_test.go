package loglevel_test

import (
	"fmt"
	"testing"

	"github.com/signalbox/signalbox/client/loglevel"
)

// tenThousand returns the loggers of a large account: five segments deep, few levels set.
func tenThousand() ([]loglevel.Logger, []loglevel.Group) {
	var loggers []loglevel.Logger
	for i := range 10_000 {
		logger := loglevel.Logger{Key: fmt.Sprintf("com.example.team%d.service%d.class%d", i%10, i%100, i)}
		switch {
		case i < 10:
			logger.Key = fmt.Sprintf("com.example.team%d", i)
			logger.Level, logger.Environments = loglevel.Warn, map[string]loglevel.Level{"production": loglevel.Error}
		case i%50 == 0:
			logger.Group = "sql"
		}
		loggers = append(loggers, logger)
	}
	return loggers, []loglevel.Group{{Key: "sql", Level: loglevel.Debug}}
}

func BenchmarkTree_All(b *testing.B) {
	loggers, groups := tenThousand()
	tree := loglevel.NewTree(loggers, groups)
	b.ReportAllocs()
	for b.Loop() {
		for range tree.All("production") {
		}
	}
}

func BenchmarkNewTree(b *testing.B) {
	loggers, groups := tenThousand()
	b.ReportAllocs()
	for b.Loop() {
		loglevel.NewTree(loggers, groups)
	}
}
