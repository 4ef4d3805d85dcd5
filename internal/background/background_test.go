package background_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/signalbox/signalbox/internal/background"
)

func TestLoop_EndsWithStopAlone(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var loop background.Loop
		ended := 0
		until := func(ctx context.Context) { <-ctx.Done() }
		ctx, cancel := context.WithCancel(t.Context())
		loop.Start(ctx, until, func(ctx context.Context) { until(ctx); ended++ })
		cancel()
		synctest.Wait()
		if ended != 0 {
			t.Fatal("the loop ended with the context that it was started with")
		}
		loop.Stop()
		if ended != 1 {
			t.Error("Stop did not wait for the end")
		}
		loop.Stop() // may be repeated
	})
}

func TestLoop_StopWithoutStart(t *testing.T) {
	t.Parallel()
	new(background.Loop).Stop()
}

func TestEvery(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var loop background.Loop
		began, worked := time.Now(), make(chan time.Duration)
		loop.Start(t.Context(), func(ctx context.Context) {
			background.Every(ctx, time.Minute, func(context.Context) { worked <- time.Since(began) })
		})
		for _, want := range []time.Duration{time.Minute, 2 * time.Minute, 3 * time.Minute} {
			if after := <-worked; after != want {
				t.Errorf("it worked after %v, want %v", after, want)
			}
		}
		loop.Stop()
	})
}

func TestBell_RingsOnce(t *testing.T) {
	t.Parallel()
	bell := background.NewBell()
	bell.Ring()
	bell.Ring() // nobody listened yet
	<-bell
	select {
	case <-bell:
		t.Error("two rings before anybody looked woke it twice")
	default:
	}
	bell.Ring()
	<-bell
}
