package e2e

import (
	"bytes"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/signalbox/signalbox/internal/store/storetest"
)

// The goals. A test fails only if it misses a goal by far, because other load on the machine slows it; its log has the
// measured values.
const (
	startGoal = 300 * time.Millisecond
	idleGoal  = 60 << 20
	sizeGoal  = 40 << 20
	leeway    = 3
)

// It is not parallel: the scripts would be measured as well.
func TestMeasure_StartIdleAndSize(t *testing.T) {
	info, err := os.Stat(binary)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("binary: %.1f MB (goal: under %d)", float64(info.Size())/(1<<20), sizeGoal>>20)
	if info.Size() > leeway*sizeGoal {
		t.Error("the binary is far too large")
	}
	for _, kind := range []string{"sqlite", "postgres"} {
		t.Run(kind, func(t *testing.T) {
			fastest, idle := measure(t, kind)
			t.Logf("start to ready %s (goal: under %s), idle memory %.1f MB (goal: under %d)",
				fastest.Round(time.Millisecond), startGoal, float64(idle)/(1<<20), idleGoal>>20)
			if fastest > leeway*startGoal {
				t.Error("the start takes far too long")
			}
			if idle > leeway*idleGoal {
				t.Error("the memory is far too much")
			}
		})
	}
}

// measure returns the shortest of a few starts on fresh data, and of some more when
// the machine is busy, from the start of the process to an answer of the
// readiness check, and the memory after it.
func measure(t *testing.T, kind string) (fastest time.Duration, idle int64) {
	t.Helper()
	fastest = time.Hour
	for i := 0; i < 3 || i < 20 && fastest > leeway*startGoal; i++ {
		database := storetest.New(t, kind)
		began := time.Now()
		n := start(t, database)
		if status := n.get(t, "/api/readiness"); status != http.StatusOK {
			t.Fatalf("the server that says it is ready answers %d", status)
		}
		fastest = min(fastest, time.Since(began))
		for range 50 { // idle after some work, not untouched
			n.get(t, "/api/v1/environments")
		}
		memory, err := residentMemory(t, n.command.Process.Pid)
		if err != nil {
			t.Fatal(err)
		}
		idle = max(idle, memory)
		if err := n.signal(syscall.SIGTERM); err != nil {
			t.Error(err)
		}
	}
	return fastest, idle
}

// residentMemory asks the system for a process's resident memory in bytes.
func residentMemory(t *testing.T, process int) (int64, error) {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", process))
	if err != nil { // not Linux
		text, err := exec.CommandContext(t.Context(), "ps", "-o", "rss=", "-p", strconv.Itoa(process)).Output()
		if err != nil {
			return 0, err
		}
		kilobytes, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
		return kilobytes << 10, err
	}
	_, rest, _ := bytes.Cut(status, []byte("VmRSS:"))
	var kilobytes int64
	_, err = fmt.Sscan(string(rest), &kilobytes)
	return kilobytes << 10, err
}
