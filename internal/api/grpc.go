package api

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/signalbox/signalbox/internal/fault"
	"github.com/signalbox/signalbox/internal/jsonapi"
	"github.com/signalbox/signalbox/internal/telemetry"
)

// This file has the parts of gRPC that three methods need: messages in frames, and a status in the trailers of an HTTP/2
// response. docs/decisions/0062 says why there is no library.

// The status codes of gRPC that this package answers with.
type grpcCode int

const (
	grpcOK               grpcCode = 0
	grpcInvalidArgument  grpcCode = 3
	grpcNotFound         grpcCode = 5
	grpcPermissionDenied grpcCode = 7
	grpcExhausted        grpcCode = 8
	grpcUnimplemented    grpcCode = 12
	grpcInternal         grpcCode = 13
	grpcUnavailable      grpcCode = 14
	grpcUnauthenticated  grpcCode = 16
)

const (
	grpcMedia     = "application/grpc"
	grpcStatus    = "Grpc-Status"
	grpcMessage   = "Grpc-Message"
	frameHeader   = 5        // a byte for the compression and four for the length
	maxRPCMessage = 64 << 10 // of a request
)

// statusOf returns the code of gRPC for the HTTP status of a refusal.
func statusOf(r *http.Request, status int) grpcCode {
	if r.Pattern == "" || r.Pattern == everything || status == http.StatusMethodNotAllowed {
		return grpcUnimplemented
	}
	return codeOf(status)
}

func codeOf(status int) grpcCode {
	switch status {
	case http.StatusUnauthorized:
		return grpcUnauthenticated
	case http.StatusForbidden:
		return grpcPermissionDenied
	case http.StatusNotFound:
		return grpcNotFound
	case http.StatusTooManyRequests, http.StatusRequestEntityTooLarge:
		return grpcExhausted
	case http.StatusUnsupportedMediaType:
		return grpcUnimplemented
	case http.StatusServiceUnavailable:
		return grpcUnavailable
	case http.StatusInternalServerError:
		return grpcInternal
	}
	return grpcInvalidArgument
}

// endWithStatus ends a response of gRPC: in the headers if nothing was sent yet, else in the trailers.
func (w *recorder) endWithStatus(code grpcCode, message string) {
	prefix := http.TrailerPrefix
	if w.status == 0 {
		prefix = ""
		w.Header().Set("Content-Type", grpcMedia)
	}
	w.Header().Set(prefix+grpcStatus, strconv.Itoa(int(code)))
	if message != "" {
		w.Header().Set(prefix+grpcMessage, percentEncoded(message))
	}
	if w.status == 0 {
		w.WriteHeader(http.StatusOK)
	}
}

// fail ends a response of gRPC with an error.
func (w *recorder) fail(err error) {
	status, errs := jsonapi.Errors(err, telemetry.RequestID(w.ctx))
	w.endWithStatus(codeOf(status), errs.Errors[0].Detail)
}

// percentEncoded encodes a status message, which may only have printable ASCII.
func percentEncoded(message string) string {
	var encoded strings.Builder
	for i := range len(message) {
		if c := message[i]; c < ' ' || c > '~' || c == '%' {
			fmt.Fprintf(&encoded, "%%%02X", c)
		} else {
			encoded.WriteByte(c)
		}
	}
	return encoded.String()
}

// readMessage reads the only message of a request.
func readMessage(r *http.Request) ([]byte, error) {
	if r.ProtoMajor < 2 || !strings.HasPrefix(header(r, "Content-Type"), grpcMedia) {
		return nil, fault.New(fault.UnsupportedMediaType, "This is a method of gRPC. It needs HTTP/2 and the media type %s.", grpcMedia)
	}
	var head [frameHeader]byte
	if _, err := io.ReadFull(r.Body, head[:]); err != nil {
		return nil, noMessage(err)
	}
	size := binary.BigEndian.Uint32(head[1:])
	switch {
	case head[0] != 0:
		return nil, fault.New(fault.UnsupportedMediaType, "The message is compressed. Send it without compression.")
	case size > maxRPCMessage:
		return nil, fault.New(fault.PayloadTooLarge, "The message must have at most %d bytes.", maxRPCMessage)
	}
	message := make([]byte, size)
	if _, err := io.ReadFull(r.Body, message); err != nil {
		return nil, noMessage(err)
	}
	return message, nil
}

func noMessage(err error) error {
	return fault.New(fault.Validation, "The request has no complete message: %v.", err)
}

// texts returns the text fields of a message by number. Other fields are skipped, as protobuf requires.
func texts(message []byte) (map[protowire.Number]string, error) {
	found := map[protowire.Number]string{}
	for len(message) > 0 {
		number, kind, n := protowire.ConsumeTag(message)
		if n < 0 {
			return nil, errMalformed()
		}
		message = message[n:]
		if kind == protowire.BytesType {
			value, n := protowire.ConsumeBytes(message)
			if n < 0 {
				return nil, errMalformed()
			}
			found[number], message = string(value), message[n:]
			continue
		}
		if n = protowire.ConsumeFieldValue(number, kind, message); n < 0 {
			return nil, errMalformed()
		}
		message = message[n:]
	}
	return found, nil
}

func errMalformed() error { return fault.New(fault.Validation, "The message is not valid protobuf.") }

// slowestReader is how long a caller may take to read a message, as an event socket may take to read its events.
const slowestReader = 90 * time.Second

// startMessage begins the time in which the caller has to read a message.
func (w *recorder) startMessage() error {
	return http.NewResponseController(w).SetWriteDeadline(time.Now().Add(slowestReader))
}

// writeMessage writes a message with one field, a text, in its frame. The text is not copied: thousands of callers may read
// the same one slowly.
func (w *recorder) writeMessage(number protowire.Number, text []byte) error {
	head := protowire.AppendTag(make([]byte, frameHeader, frameHeader+2*binary.MaxVarintLen32), number, protowire.BytesType)
	head = protowire.AppendVarint(head, uint64(len(text)))
	binary.BigEndian.PutUint32(head[1:], uint32(len(head)-frameHeader+len(text))) //nolint:gosec // documents are smaller than maxSnapshot
	if _, err := w.Write(head); err != nil {
		return err
	}
	if _, err := w.Write(text); err != nil {
		return err
	}
	return http.NewResponseController(w).Flush()
}

// beginRPC sends the headers of a response. It has no deadline, because a stream may be open for days.
func (w *recorder) beginRPC() error {
	w.Header().Set("Content-Type", grpcMedia)
	controller := http.NewResponseController(w)
	if err := errors.Join(noDeadline(controller.SetReadDeadline), noDeadline(controller.SetWriteDeadline)); err != nil {
		return err
	}
	w.WriteHeader(http.StatusOK)
	return controller.Flush()
}
