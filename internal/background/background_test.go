package background_test

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/signalbox/signalbox/internal/background"
)

func TestALoopEndsWithStopAlone(t *testing.T) {
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

func TestStopWithoutStart(t *testing.T) {
	t.Parallel()
	new(background.Loop).Stop()
}

func TestEveryWorksAtItsPace(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var loop background.Loop
		began, times := time.Now(), []time.Duration{}
		loop.Start(t.Context(), func(ctx context.Context) {
			background.Every(ctx, time.Minute, func(context.Context) { times = append(times, time.Since(began)) })
		})
		time.Sleep(150 * time.Second) //nolint:forbidigo // inside the bubble, where time is made up
		loop.Stop()
		if !slices.Equal(times, []time.Duration{time.Minute, 2 * time.Minute}) {
			t.Errorf("it worked after %v, want 1m and 2m", times)
		}
	})
}

func TestABellRingsOnce(t *testing.T) {
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
