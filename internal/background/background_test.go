package background_test

import (
	"context"
	"errors"
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
		loop.Stop() // stopping twice is allowed
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
				t.Errorf("work ran after %v, want %v", after, want)
			}
		}
		loop.Stop()
	})
}

func TestBell_RingsOnce(t *testing.T) {
	t.Parallel()
	bell := background.NewBell()
	bell.Ring()
	bell.Ring() // nobody receives yet
	<-bell
	select {
	case <-bell:
		t.Error("two rings before the loop received woke it twice")
	default:
	}
	bell.Ring()
	<-bell
}

func TestRepeat_RunsAtOnceWhenRungAndAfterPause(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var loop background.Loop
		bell, began, ran := background.NewBell(), time.Now(), make(chan time.Duration, 10)
		loop.Start(t.Context(), func(ctx context.Context) {
			background.Repeat(ctx, bell, func(context.Context) (time.Duration, error) {
				ran <- time.Since(began)
				return time.Minute, nil
			}, nil)
		})
		for _, want := range []time.Duration{0, time.Minute, time.Minute + 30*time.Second, 2*time.Minute + 30*time.Second} {
			if got := <-ran; got != want {
				t.Errorf("ran after %v, want %v", got, want)
			}
			if time.Since(began) == time.Minute {
				<-time.After(30 * time.Second)
				bell.Ring()
			}
		}
		loop.Stop()
	})
}

func TestRepeat_ReportsOutageOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var loop background.Loop
		runs, reported := 0, 0
		loop.Start(t.Context(), func(ctx context.Context) {
			background.Repeat(ctx, nil, func(context.Context) (time.Duration, error) {
				if runs++; runs%5 == 0 {
					return time.Second, nil
				}
				return time.Second, errors.New("down")
			}, func(error) { reported++ })
		})
		<-time.After(14*time.Second + time.Millisecond) // 15 runs: three outages of four runs, and three successes
		loop.Stop()
		if runs != 15 || reported != 3 {
			t.Errorf("%d runs reported %d outages, want 15 and 3", runs, reported)
		}
	})
}
