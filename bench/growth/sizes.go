package growth

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/signalbox/signalbox/bench/servers"
)

// largestVariable leaves out the largest sizes when it is "no".
const largestVariable = "SIGNALBOX_BENCH_LARGEST"

// size says what a database has besides the account that is measured, which always has the same flags and jobs.
type size struct {
	name    string
	others  int // other accounts
	each    int // flags, and jobs, of each other account
	ended   int // ended runs of the measured account
	largest bool
}

// own is the number of flags, and of jobs, of the measured account.
const own = 1_000

// Rows compares an account in databases with 1,000 to 1,000,000 flags, jobs and ended runs: the start and the memory of the server,
// what it does when nobody asks for anything, and the time of the main operations.
func Rows(ctx context.Context, out io.Writer) error {
	return compareSizes(ctx, out, "flags, jobs and runs", []size{
		{name: "1,000 of each", ended: 1_000},
		{name: "100,000 of each", others: 10, each: 9_900, ended: 100_000},
		{name: "1,000,000 of each", others: 100, each: 9_990, ended: 1_000_000, largest: true},
	})
}

// Accounts compares the same in databases with 10 to 100,000 accounts.
func Accounts(ctx context.Context, out io.Writer) error {
	return compareSizes(ctx, out, "accounts", []size{
		{name: "10 accounts", others: 9, each: 1, ended: 1_000},
		{name: "1,000 accounts", others: 999, each: 1, ended: 1_000},
		{name: "100,000 accounts", others: 99_999, each: 1, ended: 1_000, largest: true},
	})
}

func compareSizes(ctx context.Context, out io.Writer, what string, sizes []size) error {
	sizes = slices.DeleteFunc(sizes, func(s size) bool { return s.largest && os.Getenv(largestVariable) == "no" })
	sink, err := servers.StartSink(ctx)
	if err != nil {
		return err
	}
	defer sink.Stop()
	return servers.Each(func(folder string, store servers.Store) error {
		return grow(ctx, out, folder, store, sink, what, sizes)
	})
}

// grow measures databases in which one thing grows. All are filled first; then they take turns at each operation.
func grow(ctx context.Context, out io.Writer, folder string, store servers.Store, sink *servers.Sink, what string, sizes []size) error {
	var targets []*target
	defer func() {
		for _, each := range targets {
			each.close()
		}
	}()
	for i, s := range sizes {
		made, err := newTarget(ctx, filepath.Join(folder, fmt.Sprint(i)), store, sink, s)
		if err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
		targets = append(targets, made)
	}
	table := newTable(targets)
	for _, each := range targets {
		table.set("filling the database, s", each, each.filled.Seconds())
		if err := each.observeStart(ctx, table); err != nil {
			return err
		}
	}
	for _, each := range operations() {
		if err := takeTurns(ctx, table, targets, each); err != nil {
			return fmt.Errorf("%s: %w", each.name, err)
		}
	}
	for _, each := range targets {
		if err := each.observeEnd(table); err != nil {
			return err
		}
	}
	return table.print(out, fmt.Sprintf("%s: growing %s; an account with %d flags and %d jobs; medians", store.Name, what, own, own))
}

// takeTurns measures an operation on every target and keeps the medians.
func takeTurns(ctx context.Context, into *table, targets []*target, do operation) error {
	taken := make(map[*target][]float64)
	for range do.turns {
		for _, each := range targets {
			times, err := do.measure(ctx, each)
			if err != nil {
				return err
			}
			for _, took := range times {
				taken[each] = append(taken[each], took.Seconds()*1e3)
			}
		}
	}
	for _, each := range targets {
		into.set(do.name+", ms", each, median(taken[each]))
	}
	return nil
}

// table has a row for every figure and a column for every target.
type table struct {
	targets []*target
	names   []string
	figures map[string]map[*target]float64
}

func newTable(targets []*target) *table {
	return &table{targets: targets, figures: map[string]map[*target]float64{}}
}

func (t *table) set(name string, of *target, figure float64) {
	if t.figures[name] == nil {
		t.names, t.figures[name] = append(t.names, name), map[*target]float64{}
	}
	t.figures[name][of] = figure
}

// print prints the figures, and the ratio of the last target to the first.
func (t *table) print(out io.Writer, title string) error {
	var text strings.Builder
	text.WriteString("what")
	for _, each := range t.targets {
		text.WriteString("\t" + each.size.name)
	}
	text.WriteString("\tratio\n")
	for _, name := range t.names {
		text.WriteString(name)
		for _, each := range t.targets {
			fmt.Fprintf(&text, "\t%.2f", t.figures[name][each])
		}
		first, last := t.figures[name][t.targets[0]], t.figures[name][t.targets[len(t.targets)-1]]
		if first == 0 {
			text.WriteString("\t\n")
			continue
		}
		fmt.Fprintf(&text, "\t%.2f\n", last/first)
	}
	lines := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	_, err := fmt.Fprintf(lines, "\n%s\n%s", title, text.String())
	return errors.Join(err, lines.Flush())
}

// observeStart starts the server of a target. It records how long that takes, the processor time of the chores that follow,
// and then the memory and the processor time of a server that nobody asks for anything.
func (t *target) observeStart(ctx context.Context, into *table) error {
	if err := t.start(ctx); err != nil {
		return err
	}
	into.set("start to ready, ms", t, t.server.Ready.Seconds()*1e3)
	chores, err := t.settle()
	if err != nil {
		return err
	}
	into.set("processor time until idle, s", t, chores.Seconds())
	const watched = 5 * time.Second
	before, err := t.server.CPU()
	if err != nil {
		return err
	}
	time.Sleep(watched)
	after, err := t.server.CPU()
	if err != nil {
		return err
	}
	into.set("processor when idle, %", t, 100*(after-before).Seconds()/watched.Seconds())
	resident, err := t.server.Resident()
	into.set("memory when idle, MB", t, float64(resident)/1e6)
	return err
}

// settle waits until the server has ended the chores of its start, and returns the processor time that it has used. It gives up
// after a while, because a server may never be idle.
func (t *target) settle() (used time.Duration, err error) {
	const window, quiet, patience = 500 * time.Millisecond, 50 * time.Millisecond, 90
	calm := 0
	for range patience {
		before := used
		time.Sleep(window)
		if used, err = t.server.CPU(); err != nil {
			return 0, err
		}
		if calm++; used-before > quiet {
			calm = 0
		}
		if calm == 3 {
			break
		}
	}
	return used, nil
}

// observeEnd records the memory after all operations.
func (t *target) observeEnd(into *table) error {
	resident, err := t.server.Resident()
	into.set("memory at the end, MB", t, float64(resident)/1e6)
	return err
}
