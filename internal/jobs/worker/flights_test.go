package worker

import (
	"context"
	"errors"
	"testing"
)

func TestACancellationBetweenClaimAndRequestIsRemembered(t *testing.T) {
	t.Parallel()
	f := &flights{observe: func(int) {}}
	f.expect()
	f.abort("a", errCanceled)
	aborted, going := f.take(t.Context(), Claim{Run: "a"}), f.take(t.Context(), Claim{Run: "b"})
	f.expected()
	if !errors.Is(context.Cause(aborted), errCanceled) || going.Err() != nil {
		t.Errorf("the one has %v, the other %v", context.Cause(aborted), going.Err())
	}
	f.abort("c", errCanceled)
	if later := f.take(t.Context(), Claim{Run: "c"}); later.Err() != nil {
		t.Error("an abort without a claim was remembered")
	}
}

func TestAFuseThatBurnsDownDuringAClaimAbortsItsRequests(t *testing.T) {
	t.Parallel()
	f := &flights{observe: func(int) {}}
	f.expect()
	f.abortAll(errLost)
	if aborted := f.take(t.Context(), Claim{Run: "a"}); !errors.Is(context.Cause(aborted), errLost) {
		t.Errorf("the request has %v", context.Cause(aborted))
	}
	f.expected()
	f.expect()
	if later := f.take(t.Context(), Claim{Run: "b"}); later.Err() != nil {
		t.Error("the next claim is aborted too")
	}
}
