package terminal

import (
	"errors"
	"strings"

	signalbox "github.com/signalbox/signalbox/client"
)

// plainError is an error of the client without the prefix "signalbox: ", which Fail adds to every line.
type plainError struct{ error }

// Error returns the text without "signalbox: ".
func (e plainError) Error() string { return withoutName(e.error.Error()) }

// Unwrap returns the error.
func (e plainError) Unwrap() error { return e.error }

func withoutName(text string) string {
	return strings.ReplaceAll(strings.TrimPrefix(text, "signalbox: "), ": signalbox: ", ": ")
}

// Unprefixed removes the client's prefix from an error, so that the program's name is printed once. A refusal of the server
// stays: only its details are printed, which have no prefix.
func Unprefixed(err error) error {
	if err == nil || withoutName(err.Error()) == err.Error() {
		return err
	}
	if refused, is := errors.AsType[*signalbox.APIError](err); is && len(refused.Errors) > 0 {
		return err
	}
	return plainError{err}
}
