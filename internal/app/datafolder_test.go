package app_test

import (
	"log/slog"
	"testing"

	"github.com/signalbox/signalbox/internal/app"
	"github.com/signalbox/signalbox/internal/app/apptest"
	"github.com/signalbox/signalbox/internal/store/storetest"
)

func TestNew_DataFolderInUse(t *testing.T) {
	t.Parallel()
	s := apptest.Settings(storetest.New(t, "sqlite"))
	first := started(t, s)
	refuses(t, s, "is in use by another Signalbox server (process ")
	operator, err := app.OpenOperator(t.Context(), s, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatalf("commands must work beside a server: %v", err)
	}
	if err := operator.Close(); err != nil {
		t.Error(err)
	}
	stop(t, first)
	stop(t, started(t, s))
}
