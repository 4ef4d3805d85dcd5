package cli_test

import (
	"testing"

	"github.com/signalbox/signalbox/internal/app/apptest"
)

func TestMain(m *testing.M) { apptest.Main(m) }
