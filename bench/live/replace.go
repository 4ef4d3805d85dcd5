package live

import (
	"context"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	signalbox "github.com/signalbox/signalbox/client"
	"github.com/signalbox/signalbox/client/live"
)

const (
	readers     = 1000
	pause       = 10 * time.Millisecond // between two snapshots
	samples     = 500                   // samples of each reader
	readsBefore = 50                    // reads before each sample
	turns       = 5
)

// Replaced writes how long a read takes with a thousand goroutines that read: first while nothing changes, then while
// the snapshot is replaced a hundred times a second and every flag differs each time.
func Replaced(ctx context.Context, w io.Writer) error {
	box, set := live.Static(snapshot(0))
	flag := box.Bool(key, false)
	fmt.Fprintln(w, "a read by one of 1,000 goroutines, ns with the clock's share: p50, p99")
	var ratios []float64
	for range turns {
		idle50, idle99 := readAll(flag)
		replacing, stop := context.WithCancel(ctx)
		var running sync.WaitGroup
		running.Go(func() { replace(replacing, set) })
		busy50, busy99 := readAll(flag)
		stop()
		running.Wait()
		ratios = append(ratios, float64(busy99)/float64(idle99))
		fmt.Fprintf(w, "idle %d, %d; replaced %d, %d; ratio of the p99 %.2f\n", idle50, idle99, busy50, busy99, ratios[len(ratios)-1])
	}
	slices.Sort(ratios)
	fmt.Fprintf(w, "median ratio of the p99 %.2f (goal 2)\n", ratios[len(ratios)/2])
	return ctx.Err()
}

// replace sets other snapshots until ctx ends.
func replace(ctx context.Context, set func(signalbox.Snapshot)) {
	versions := []signalbox.Snapshot{snapshot(1), snapshot(2)}
	tick := time.NewTicker(pause)
	defer tick.Stop()
	for i := 0; ; i++ {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			set(versions[i%2])
		}
	}
}

// readAll lets all readers read, and returns the p50 and p99 of their samples in nanoseconds.
func readAll(flag *live.Flag[bool]) (p50, p99 int64) {
	all := make([][]int64, readers)
	var running sync.WaitGroup
	for i := range all {
		running.Go(func() { all[i] = readSome(flag) })
	}
	running.Wait()
	sorted := slices.Concat(all...)
	slices.Sort(sorted)
	return sorted[len(sorted)/2], sorted[len(sorted)*99/100]
}

func readSome(flag *live.Flag[bool]) []int64 {
	ctx := request()
	took := make([]int64, samples)
	for i := range took {
		for range readsBefore {
			flag.Get(ctx)
		}
		began := time.Now()
		flag.Get(ctx)
		took[i] = time.Since(began).Nanoseconds()
	}
	return took
}
