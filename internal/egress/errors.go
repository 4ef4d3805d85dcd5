package egress

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"syscall"
	"unicode"
	"unicode/utf8"
)

// Reason says in one word why a request failed.
type Reason string

// The reasons. Canceled means that the caller's context was canceled. Exhausted means that this machine had no file descriptor
// or memory for a connection: nothing was sent, and the destination is not to blame.
const (
	Timeout         Reason = "TIMEOUT"
	ConnectionError Reason = "CONNECTION_ERROR"
	SSRFBlocked     Reason = "SSRF_BLOCKED"
	Canceled        Reason = "CANCELED"
	Exhausted       Reason = "EXHAUSTED"
)

// Error is the failure of a request. Its detail is a sentence for the owner of the request. The detail names
// hosts and addresses, but nothing that was sent.
type Error struct {
	Reason Reason
	Detail string
	Err    error // the cause, when there is one
}

// Error returns the detail.
func (e *Error) Error() string { return e.Detail }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// phase is a part of an exchange, in words that follow "while".
type phase string

const (
	preparing phase = "preparing the request"
	resolving phase = "looking up the host's address"
	securing  phase = "agreeing on TLS"
	sending   phase = "sending the request"
	waiting   phase = "waiting for the answer"
	receiving phase = "reading the answer's body"
)

// failure is an error with the phase in which it happened.
type failure struct {
	phase phase
	err   error
}

func (f *failure) Error() string { return "while " + string(f.phase) + ": " + f.err.Error() }
func (f *failure) Unwrap() error { return f.err }

// classified returns the *Error for a *failure. An *Error and nil stay as they are.
func classified(ctx context.Context, err error) error {
	failed, ok := errors.AsType[*failure](err)
	switch {
	case !ok:
		return err
	case ctx.Err() != nil:
		return ended(ctx, failed.phase)
	case errors.Is(err, os.ErrDeadlineExceeded) || errors.Is(err, context.DeadlineExceeded):
		return timedOut(failed.phase, failed.err)
	}
	detail := "The request failed while " + string(failed.phase) + ": " + cause(failed.err) + "."
	return &Error{Reason: ConnectionError, Detail: detail, Err: failed.err}
}

// unconnected returns the *Error for a connection that could not be made. Nothing was sent.
func unconnected(ctx context.Context, err error) error {
	failed, ok := errors.AsType[*failure](err)
	if !ok || ctx.Err() != nil || !isShortage(err) {
		return classified(ctx, err)
	}
	return &Error{Reason: Exhausted, Detail: "This node ran out of resources while " + string(failed.phase) + ": " + cause(failed.err) + ".", Err: failed.err}
}

// isShortage reports whether this machine had no file descriptor or memory left. Errors of lookups are compared as text.
func isShortage(err error) bool {
	lookup, isLookup := errors.AsType[*net.DNSError](err)
	for _, shortage := range []syscall.Errno{syscall.EMFILE, syscall.ENFILE, syscall.ENOBUFS, syscall.ENOMEM} {
		if errors.Is(err, shortage) || isLookup && strings.HasSuffix(lookup.Err, shortage.Error()) {
			return true
		}
	}
	return false
}

// ended returns the error of a request whose context has ended.
func ended(ctx context.Context, at phase) *Error {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return timedOut(at, ctx.Err())
	}
	return &Error{Reason: Canceled, Detail: "The request was canceled while " + string(at) + ".", Err: context.Cause(ctx)}
}

func timedOut(at phase, err error) *Error {
	return &Error{Reason: Timeout, Detail: "The time ran out while " + string(at) + ".", Err: err}
}

// refused returns the error of a request that cannot be sent as it is.
func refused(detail string) *Error {
	return &Error{Reason: ConnectionError, Detail: "The request cannot be sent: " + detail + "."}
}

// cause describes an error without the local addresses and system calls that Go's errors name.
func cause(err error) string {
	if lookup, ok := errors.AsType[*net.DNSError](err); ok {
		return lookup.Err
	}
	if system, ok := errors.AsType[*os.SyscallError](err); ok {
		return system.Err.Error()
	}
	if record, ok := errors.AsType[tls.RecordHeaderError](err); ok {
		return "the server does not speak TLS on this port (" + record.Msg + ")"
	}
	if operation, ok := errors.AsType[*net.OpError](err); ok {
		err = operation.Err
	}
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return "the server closed the connection in the middle of its answer"
	case errors.Is(err, io.EOF):
		return "the server closed the connection without an answer"
	}
	return shortened(err.Error())
}

// shortened returns an error text that may quote a server, short and printable.
func shortened(text string) string {
	const most = 300
	if len(text) > most {
		text = text[:most] + "…"
	}
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) { // a server's bytes must not reach a terminal, nor NUL a database
			return utf8.RuneError
		}
		return r
	}, text)
}
