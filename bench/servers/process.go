package servers

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// Resident returns the resident memory of the server's process in bytes. It reads
// /proc, and so needs Linux.
func (p *Server) Resident() (int64, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.command.Process.Pid))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(text)) {
		if fields := strings.Fields(line); len(fields) == 3 && fields[0] == "VmRSS:" {
			kib, err := strconv.ParseInt(fields[1], 10, 64)
			return kib << 10, err
		}
	}
	return 0, fmt.Errorf("the process %d has no VmRSS", p.command.Process.Pid)
}

// CPU returns the processor time that the server has used, exact to 10 ms.
func (p *Server) CPU() (time.Duration, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.command.Process.Pid))
	if err != nil {
		return 0, err
	}
	const user, system, ticks = 11, 12, 100 // fields after the name in brackets; ticks a second
	fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
	total := int64(0)
	for _, field := range []int{user, system} {
		spent, err := strconv.ParseInt(fields[field], 10, 64)
		if err != nil {
			return 0, err
		}
		total += spent
	}
	return time.Duration(total) * time.Second / ticks, nil
}
