package terminal

import (
	"errors"
	"strings"

	signalbox "github.com/signalbox/signalbox/client"
)

// plainError is an error of the client without the name that the client puts in front: every line has the program's.
type plainError struct{ error }

// Error returns the text without "signalbox: ".
func (e plainError) Error() string { return withoutName(e.error.Error()) }

// Unwrap returns the error.
func (e plainError) Unwrap() error { return e.error }

func withoutName(text string) string {
	return strings.ReplaceAll(strings.TrimPrefix(text, "signalbox: "), ": signalbox: ", ": ")
}

// Unprefixed returns an error that names the program once when it is printed. A refusal of the server is printed by its details,
// which have no name.
func Unprefixed(err error) error {
	if err == nil || withoutName(err.Error()) == err.Error() {
		return err
	}
	if refused, is := errors.AsType[*signalbox.APIError](err); is && len(refused.Errors) > 0 {
		return err
	}
	return plainError{err}
}
