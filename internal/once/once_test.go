package once_test

import (
	"context"
	"testing"
	"time"

	"github.com/signalbox/signalbox/internal/fault"
	"github.com/signalbox/signalbox/internal/once"
)

// kept is a store that holds one request.
type kept struct {
	once.Store
	state once.Kept
}

func (k kept) BeginRequest(context.Context, once.Ticket, string, string, time.Duration, time.Duration) (once.Kept, bool, error) {
	return k.state, false, nil
}

// TestBegin: the answer to a repeated request depends on the state of the first one.
func TestBegin(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		state once.Kept
		want  fault.Code // empty is the answer
	}{
		"another request":               {once.Kept{Fingerprint: "other", CarriedOut: true, Answer: []byte(`{}`)}, fault.IdempotencyMismatch},
		"in progress":                   {once.Kept{Fingerprint: "same"}, fault.InProgress},
		"carried out, about to answer":  {once.Kept{Fingerprint: "same", CarriedOut: true}, fault.InProgress},
		"carried out, never to answer":  {once.Kept{Fingerprint: "same", CarriedOut: true, Abandoned: true}, fault.AnswerLost},
		"answered":                      {once.Kept{Fingerprint: "same", CarriedOut: true, Answer: []byte(`{"status":201}`)}, ""},
		"answered without a write":      {once.Kept{Fingerprint: "same", Abandoned: true, Answer: []byte(`{"status":201}`)}, ""},
		"an abandoned one by somebody":  {once.Kept{Fingerprint: "same", Abandoned: true}, fault.InProgress},
		"another one that is abandoned": {once.Kept{Fingerprint: "other", Abandoned: true}, fault.IdempotencyMismatch},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			service := once.Service{Store: kept{state: test.state}}
			ticket, answer, err := service.Begin(t.Context(), once.Request{Account: "a", Caller: "b", Key: "c", Fingerprint: "same"})
			switch {
			case ticket != nil:
				t.Error("it is carried out again")
			case test.want == "" && (err != nil || answer.Status != 201):
				t.Errorf("got %v, %v", answer, err)
			case test.want != "" && !fault.Is(err, test.want):
				t.Errorf("got %v", err)
			}
		})
	}
}
