// Package once carries out a request at most once. A caller that sends an
// Idempotency-Key and loses the answer sends the request again: it gets the first
// answer, and nothing happens twice.
//
// A request is begun under a ticket before anything else. The transaction that does its
// work marks the ticket, so that work and mark are committed together, and then the
// answer is kept. A request whose node died is begun again with a new token after a
// while. If its old transaction is still alive, it finds the other token and fails.
package once

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"time"

	"github.com/signalbox/signalbox/internal/fault"
)

const (
	// Keep is how long answers are kept.
	Keep = 24 * time.Hour
	// abandoned is when a request that was begun and has done nothing may be begun again.
	abandoned = time.Minute
	// maxAnswer bounds the bytes of an answer that is kept.
	maxAnswer = 1 << 20
	// MaxKey bounds the characters of an idempotency key.
	MaxKey = 255
)

// Request is a request with an idempotency key. Callers have keys of their own.
type Request struct {
	Account, Caller, Key string
	// Fingerprint differs if the method, the path or the body differs.
	Fingerprint string
}

// id returns an id of the request that is unique among all accounts.
func (r Request) id() string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%q %q %q", r.Account, r.Caller, r.Key))
	return hex.EncodeToString(sum[:])
}

// Answer is the answer to a request.
type Answer struct {
	Status    int    `json:"status"`
	MediaType string `json:"media_type"`
	ETag      string `json:"etag,omitempty"`
	Body      []byte `json:"body"`
}

// Ticket identifies one attempt to carry out a request.
type Ticket struct{ ID, Token string }

// Kept is the state of a request that was begun before.
type Kept struct {
	Fingerprint string
	CarriedOut  bool   // the transaction that does its work was committed
	Abandoned   bool   // it was begun so long ago that no answer will come
	Answer      []byte // nil while there is none
}

// Store keeps requests and answers. It seals the answers, which may have secrets.
type Store interface {
	// BeginRequest stores a request, and reports whether it did. A stored request is replaced if it
	// is older than forget. It is also replaced if it is older than abandoned, has the same
	// fingerprint and was not carried out. Otherwise BeginRequest returns it.
	BeginRequest(ctx context.Context, ticket Ticket, account, fingerprint string, forget, abandoned time.Duration) (Kept, bool, error)
	// FinishRequest keeps the answer to a request.
	FinishRequest(ctx context.Context, ticket Ticket, answer []byte) error
	// ReleaseRequest forgets a request that was not carried out.
	ReleaseRequest(ctx context.Context, ticket Ticket) error
}

// Service carries out requests at most once.
type Service struct{ Store Store }

// Begin returns the ticket to carry out a request, or the answer to it if it was carried
// out before.
func (s *Service) Begin(ctx context.Context, request Request) (*Ticket, *Answer, error) {
	ticket := Ticket{ID: request.id(), Token: rand.Text()}
	kept, begun, err := s.Store.BeginRequest(ctx, ticket, request.Account, request.Fingerprint, Keep, abandoned)
	switch {
	case err != nil:
		return nil, nil, err
	case begun:
		return &ticket, nil, nil
	case kept.Fingerprint != request.Fingerprint:
		return nil, nil, fault.New(fault.IdempotencyMismatch,
			"This Idempotency-Key was sent with another method, path or body in the last 24 hours. A new request needs a new key.")
	case kept.Answer != nil:
		answer := &Answer{}
		if err := json.Unmarshal(kept.Answer, answer); err != nil {
			return nil, nil, fmt.Errorf("reading a kept answer: %w", err)
		}
		return nil, answer, nil
	case kept.CarriedOut && kept.Abandoned:
		return nil, nil, fault.New(fault.AnswerLost,
			"The first request with this Idempotency-Key was carried out, but its answer was lost. Read the resource to see its state.")
	}
	return nil, nil, ErrInProgress()
}

// ErrInProgress returns the refusal of a request that another node or connection carries
// out at the moment.
func ErrInProgress() error {
	refusal := fault.New(fault.InProgress, "A request with this Idempotency-Key is being carried out. Try again in a moment.")
	refusal.RetryAfter = time.Second
	return refusal
}

// Finish keeps the answer to a request. An answer that is too large is not kept.
func (s *Service) Finish(ctx context.Context, ticket Ticket, answer Answer) error {
	text, err := json.Marshal(answer)
	if err != nil {
		return fmt.Errorf("keeping an answer: %w", err)
	}
	if len(text) > maxAnswer {
		return s.Release(ctx, ticket)
	}
	return s.Store.FinishRequest(ctx, ticket, text)
}

// Release forgets a request that was refused, so that it can be sent again. A request
// that was carried out stays.
func (s *Service) Release(ctx context.Context, ticket Ticket) error {
	return s.Store.ReleaseRequest(ctx, ticket)
}
