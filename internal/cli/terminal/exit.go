package terminal

import (
	"errors"
	"fmt"
	"net/http"
	"strings"

	signalbox "github.com/signalbox/signalbox/client"
	"github.com/signalbox/signalbox/internal/fault"
)

// The exit codes of every command. ExitDiffers is never a failure, so scripts can accept it.
const (
	ExitFailed       = 1  // it did not work
	ExitUsage        = 2  // it was called wrongly
	ExitNotFound     = 3  // a named resource does not exist
	ExitConflict     = 4  // something else is in the way, such as an id that is taken
	ExitLimit        = 5  // a limit of the plan or the server was reached
	ExitUnauthorized = 6  // the server does not know the key, or the key may not do it
	ExitDiffers      = 10 // it worked, and found a difference
)

// exitError is an error with an exit code of its own.
type exitError struct {
	error
	code int
}

// Unwrap returns the error.
func (e exitError) Unwrap() error { return e.error }

// Usage marks an error as one in how a command was called.
func Usage(err error) error { return exitError{err, ExitUsage} }

// Usagef returns an error in how a command was called.
func Usagef(format string, args ...any) error { return Usage(fmt.Errorf(format, args...)) }

// Unauthorized marks an error as one about a key or a session.
func Unauthorized(err error) error { return exitError{err, ExitUnauthorized} }

// NotFoundf returns an error about something that does not exist.
func NotFoundf(format string, args ...any) error {
	return exitError{fmt.Errorf(format, args...), ExitNotFound}
}

// Conflictf returns an error about something that is in the way.
func Conflictf(format string, args ...any) error {
	return exitError{fmt.Errorf(format, args...), ExitConflict}
}

// silentError ends a command with an exit code after the command has printed everything.
type silentError struct{ code int }

func (e silentError) Error() string { return fmt.Sprintf("exit code %d", e.code) }

// Silent returns an error that ends a command with an exit code and prints nothing.
func Silent(code int) error { return silentError{code} }

// ExitCode returns the exit code of a command that ended with err.
func ExitCode(err error) int {
	if err == nil {
		return 0
	}
	if silent, is := errors.AsType[silentError](err); is {
		return silent.code
	}
	if marked, is := errors.AsType[exitError](err); is {
		return marked.code
	}
	if refused, is := errors.AsType[*signalbox.APIError](err); is {
		return exitOfStatus(refused)
	}
	for _, coded := range fault.All(err) {
		return exitOfCode(coded.Code)
	}
	return ExitFailed
}

// exitOfStatus returns the exit code for a server's answer. Codes win over the status: a proxy's 404 does not mean that a
// resource is missing.
func exitOfStatus(refused *signalbox.APIError) int {
	for _, entry := range refused.Errors {
		if code := exitOfCode(fault.Code(entry.Code)); code != ExitFailed {
			return code
		}
	}
	switch {
	case refused.StatusCode == http.StatusUnauthorized || refused.StatusCode == http.StatusForbidden:
		return ExitUnauthorized // a proxy's too
	case len(refused.Errors) > 0 && refused.StatusCode == http.StatusConflict:
		return ExitConflict
	default:
		return ExitFailed
	}
}

func exitOfCode(code fault.Code) int {
	switch code {
	case fault.NotFound:
		return ExitNotFound
	case fault.LimitReached, fault.RowLimitReached, fault.RateLimited:
		return ExitLimit
	case fault.AlreadyExists, fault.RunFinished, fault.JobDeleted, fault.EnvironmentProtected, fault.FlagDemotion,
		fault.ConfigInUse, fault.ConfigProtected, fault.ChangedSince, fault.NotRevertible, fault.LastOwner, fault.VersionMismatch:
		return ExitConflict
	default:
		return ExitFailed
	}
}

// Fail prints an error unless it is silent. Every line names the program.
func (t *Terminal) Fail(err error) {
	if _, silent := errors.AsType[silentError](err); silent {
		return
	}
	for _, line := range Sentences(err) {
		Fprintf(t.Err, "signalbox: %s\n", strings.ReplaceAll(line, "\t", "  ")) // drivers indent their causes
	}
}

// Sentences returns the lines to print for an error: the details of refusals, with causes that an operator may see.
func Sentences(err error) (lines []string) {
	for _, coded := range fault.All(err) {
		line := coded.Detail
		if coded.Err != nil {
			line += " (" + coded.Err.Error() + ")"
		}
		lines = append(lines, line)
	}
	if len(lines) > 0 {
		return lines
	}
	if joined, is := err.(interface{ Unwrap() []error }); is && err.Error() == errors.Join(joined.Unwrap()...).Error() {
		for _, each := range joined.Unwrap() {
			lines = append(lines, Sentences(each)...)
		}
		return lines
	}
	if refused, is := errors.AsType[*signalbox.APIError](err); is && len(refused.Errors) > 0 {
		return serverSentences(err, refused)
	}
	return strings.Split(strings.TrimPrefix(err.Error(), "signalbox: "), "\n") // the client adds this prefix too
}

// serverSentences returns the details of a server's refusal, each with the text of err that precedes the refusal.
func serverSentences(err error, refused *signalbox.APIError) (lines []string) {
	before, after, _ := strings.Cut(err.Error(), refused.Error())
	for _, entry := range refused.Errors {
		line := before + entry.Detail
		if refused.StatusCode >= http.StatusInternalServerError && refused.RequestID != "" {
			line += " (request " + refused.RequestID + ")"
		}
		lines = append(lines, line)
	}
	lines[len(lines)-1] += after
	return lines
}
