package cli_test

import (
	"flag"
	"testing"

	"github.com/signalbox/signalbox/internal/app/apptest"
	"github.com/signalbox/signalbox/internal/suite"
)

func TestMain(m *testing.M) {
	// A check of rapid is an export and an apply here.
	if err := flag.Set("rapid.checks", suite.Scale("6", "100")); err != nil {
		panic(err) // rapid has the flag
	}
	apptest.Main(m)
}
