package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"time"
)

// report writes what benchmarks print to the terminal and to a Markdown file, so that every figure has its date, its
// commit and its machine.
type report struct {
	out  io.Writer
	file *os.File
}

// newReport makes the file in a folder. Its name has the time and the commit.
func newReport(ctx context.Context, out io.Writer, folder string, now time.Time) (*report, error) {
	commit := commitOf(ctx)
	if err := os.MkdirAll(folder, 0o755); err != nil { //nolint:gosec // results are for everybody
		return nil, err
	}
	name := filepath.Join(folder, now.Format("2006-01-02T1504")+"-"+commit+".md")
	file, err := os.Create(name) //nolint:gosec // the caller chooses the folder
	if err != nil {
		return nil, err
	}
	r := &report{out: io.MultiWriter(out, file), file: file}
	_, err = fmt.Fprintf(r.out, "Measured %s at commit %s on %s.\n", now.Format(time.DateOnly), commit, machine())
	return r, err
}

// run runs a benchmark. In the file, its output is a section with a block of text.
func (r *report) run(ctx context.Context, b benchmark) error {
	fmt.Fprintf(r.out, "\n## %s\n\n", b.name)
	fmt.Fprintln(r.file, "```text")
	err := b.run(ctx, r.out)
	fmt.Fprintln(r.file, "```")
	if err != nil {
		return fmt.Errorf("%s: %w", b.name, err)
	}
	return nil
}

// close ends the file and names it.
func (r *report) close() error {
	if err := r.file.Close(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(os.Stderr, "\nThe results are in %s.\n", filepath.Join("bench", r.file.Name()))
	return err
}

// commitOf returns the commit of the source, with -dirty if files differ from it.
func commitOf(ctx context.Context) string {
	commit, err := exec.CommandContext(ctx, "git", "describe", "--always", "--dirty", "--match=").Output()
	if err != nil {
		return "unknown"
	}
	return strings.TrimSpace(string(commit))
}

// machine describes this machine. Only Linux says what its processor, its memory and its load are.
func machine() string {
	said := []string{runtime.GOOS + "/" + runtime.GOARCH, fmt.Sprint(runtime.NumCPU(), " cores"), runtime.Version()}
	for _, each := range []struct{ file, pattern, format string }{
		{"/proc/cpuinfo", `(?m)^model name\s*: (.+)$`, "%s"},
		{"/proc/meminfo", `(?m)^MemTotal:\s*(\d+ kB)$`, "memory of %s"},
		{"/proc/loadavg", `^(\S+)`, "load %s before"},
	} {
		text, _ := os.ReadFile(each.file) // it is missing elsewhere
		if found := regexp.MustCompile(each.pattern).FindSubmatch(text); found != nil {
			said = append(said, fmt.Sprintf(each.format, found[1]))
		}
	}
	return strings.Join(said, ", ")
}
