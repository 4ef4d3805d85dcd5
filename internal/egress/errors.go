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
// or memory for a connection: nothing was sent, and the destination did not fail.
const (
	Timeout         Reason = "TIMEOUT"
	ConnectionError Reason = "CONNECTION_ERROR"
	SSRFBlocked     Reason = "SSRF_BLOCKED"
	Canceled        Reason = "CANCELED"
	Exhausted       Reason = "EXHAUSTED"
)

// Error is the failure of a request. Detail is a sentence for the owner of the request. It names hosts and addresses,
// but nothing of the request's content.
type Error struct {
	Reason Reason
	Detail string
	Err    error // the cause, or nil
}

// Error returns the detail.
func (e *Error) Error() string { return e.Detail }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// phase is a part of an exchange, in words that can follow "while".
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

// classified returns the *Error for a *failure. It returns an *Error and nil unchanged.
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

// unconnected returns the *Error for a connection that could not be opened. Nothing was sent.
func unconnected(ctx context.Context, err error) error {
	failed, ok := errors.AsType[*failure](err)
	if !ok || ctx.Err() != nil || !isShortage(err) {
		return classified(ctx, err)
	}
	return &Error{Reason: Exhausted, Detail: "This node ran out of resources while " + string(failed.phase) + ": " + cause(failed.err) + ".", Err: failed.err}
}

// isShortage reports whether this machine had no file descriptor or memory left. It compares lookup errors as text.
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

// refused returns the error of an invalid request, which is not sent.
func refused(detail string) *Error {
	return &Error{Reason: ConnectionError, Detail: "The request cannot be sent: " + detail + "."}
}

// cause describes an error without the local addresses and system calls that Go's errors mention.
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

// shortened returns an error text, which may quote a server, in a short and printable form.
func shortened(text string) string {
	const most = 300
	if len(text) > most {
		text = text[:most] + "…"
	}
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) { // control characters from a server must not reach a terminal, and a NUL must not reach a database
			return utf8.RuneError
		}
		return r
	}, text)
}
