package worker

import (
	"context"
	"errors"
	"testing"
)

func TestInFlight_CanceledDuringClaim(t *testing.T) {
	t.Parallel()
	f := &inFlight{observe: func(int) {}}
	f.beginClaim()
	f.abort("a", errCanceled)
	aborted, going := f.start(t.Context(), Claim{Run: "a"}), f.start(t.Context(), Claim{Run: "b"})
	if !errors.Is(context.Cause(aborted), errCanceled) || going.Err() != nil {
		t.Errorf("the one has %v, the other %v", context.Cause(aborted), going.Err())
	}
	f.abort("c", errCanceled)
	f.beginClaim()
	if later := f.start(t.Context(), Claim{Run: "c"}); later.Err() != nil {
		t.Error("an abort before the claim was remembered")
	}
}

func TestInFlight_AllAbortedDuringClaim(t *testing.T) {
	t.Parallel()
	f := &inFlight{observe: func(int) {}}
	f.beginClaim()
	f.abortAll(errLost)
	if aborted := f.start(t.Context(), Claim{Run: "a"}); !errors.Is(context.Cause(aborted), errLost) {
		t.Errorf("the request has %v", context.Cause(aborted))
	}
	f.beginClaim()
	if later := f.start(t.Context(), Claim{Run: "b"}); later.Err() != nil {
		t.Error("the next claim is aborted too")
	}
}
