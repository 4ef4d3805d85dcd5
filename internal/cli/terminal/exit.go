package terminal

import (
	"errors"
	"fmt"
	"net/http"
	"strings"

	signalbox "github.com/signalbox/signalbox/client"
	"github.com/signalbox/signalbox/internal/fault"
)

// The exit codes of every command.
const (
	ExitFailed   = 1 // the command failed, or diff found differences
	ExitUsage    = 2 // the command was called wrongly
	ExitNotFound = 3 // a named resource does not exist
	ExitConflict = 4 // the state of the server is in the way, such as an id in use
	ExitLimit    = 5 // a limit of the plan or the server was reached
)

// usageError is an error in how a command was called.
type usageError struct{ error }

// Unwrap returns the error.
func (e usageError) Unwrap() error { return e.error }

// Usage marks an error as one in how a command was called.
func Usage(err error) error { return usageError{err} }

// Usagef returns an error in how a command was called.
func Usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

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
	if _, is := errors.AsType[usageError](err); is {
		return ExitUsage
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
	if len(refused.Errors) > 0 && refused.StatusCode == http.StatusConflict {
		return ExitConflict
	}
	return ExitFailed
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
	for _, line := range sentences(err) {
		Fprintf(t.Err, "signalbox: %s\n", strings.ReplaceAll(line, "\t", "  ")) // drivers indent their causes
	}
}

// sentences returns the lines to print for an error: the details of refusals, with causes that an operator may see.
func sentences(err error) (lines []string) {
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
			lines = append(lines, sentences(each)...)
		}
		return lines
	}
	if refused, is := errors.AsType[*signalbox.APIError](err); is && len(refused.Errors) > 0 {
		return serverSentences(err, refused)
	}
	return strings.Split(err.Error(), "\n")
}

// serverSentences returns the details of a server's refusal, each after the text that err has before the refusal.
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
