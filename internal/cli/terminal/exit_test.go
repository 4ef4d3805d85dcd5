package terminal_test

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"syscall"
	"testing"

	signalbox "github.com/signalbox/signalbox/client"
	"github.com/signalbox/signalbox/internal/cli/terminal"
	"github.com/signalbox/signalbox/internal/fault"
)

func TestExitCode(t *testing.T) {
	t.Parallel()
	refused := func(status int, codes ...signalbox.Code) error {
		apiErr := &signalbox.APIError{StatusCode: status}
		for _, code := range codes {
			apiErr.Errors = append(apiErr.Errors, signalbox.ErrorEntry{Code: code})
		}
		return fmt.Errorf("doing it: %w", apiErr)
	}
	tests := map[string]struct {
		err  error
		want int
	}{
		"nothing":             {nil, 0},
		"any error":           {errors.New("x"), 1},
		"usage":               {fmt.Errorf("x: %w", terminal.Usagef("y")), 2},
		"silent":              {terminal.Silent(1), 1},
		"not found":           {refused(404, signalbox.CodeNotFound), 3},
		"a proxy's 404":       {refused(404), 1},
		"taken":               {refused(409, signalbox.CodeAlreadyExists), 4},
		"changed meanwhile":   {refused(412, signalbox.CodeVersionMismatch), 4},
		"a new kind of 409":   {refused(409, "something_new"), 4},
		"the plan":            {refused(402, signalbox.CodeLimitReached), 5},
		"the rows":            {refused(409, signalbox.CodeRowLimitReached), 5},
		"too fast":            {refused(429, signalbox.CodeRateLimited), 5},
		"a rule":              {refused(400, signalbox.CodeValidation), 1},
		"no such key":         {refused(401, signalbox.CodeUnauthorized), 6},
		"the role":            {refused(403, signalbox.CodeForbidden), 6},
		"a proxy's 403":       {refused(403), 6},
		"different":           {terminal.Silent(terminal.ExitDiffers), 10},
		"in the way":          {fmt.Errorf("x: %w", terminal.Conflictf("y")), 4},
		"of the store":        {fault.New(fault.NotFound, "x"), 3},
		"a rule of the store": {fault.New(fault.Validation, "x"), 1},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := terminal.ExitCode(test.err); got != test.want {
				t.Errorf("got %d, want %d", got, test.want)
			}
		})
	}
}

// fullDisk refuses every write.
type fullDisk struct{ err error }

func (f fullDisk) Write([]byte) (int, error) { return 0, f.err }

func TestTerminal_Finish(t *testing.T) {
	t.Parallel()
	full := &fs.PathError{Op: "write", Path: "/dev/stdout", Err: syscall.ENOSPC}
	tests := map[string]struct {
		err, lost error
		want      int
	}{
		"nothing is wrong":         {nil, nil, 0},
		"a lost result":            {nil, full, 1},
		"a lost difference":        {terminal.Silent(terminal.ExitDiffers), full, 1},
		"a failure":                {terminal.Conflictf("x"), full, 4},
		"a pipe closed on purpose": {nil, &fs.PathError{Op: "write", Path: "|1", Err: syscall.EPIPE}, 0},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			to := &terminal.Terminal{Out: io.Discard}
			if test.lost != nil {
				to.Out = fullDisk{test.lost}
			}
			to.Say("sb_secret\n")
			err := to.Finish(test.err)
			if got := terminal.ExitCode(err); got != test.want {
				t.Errorf("the exit code is %d", got)
			}
			if test.want == 1 && err.Error() != "write /dev/stdout: no space left on device" {
				t.Errorf("got %v", err)
			}
		})
	}
}
