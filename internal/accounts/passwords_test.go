package accounts_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/signalbox/signalbox/internal/accounts"
	"github.com/signalbox/signalbox/internal/fault"
)

func TestPasswords_HashAndVerify(t *testing.T) {
	t.Parallel()
	passwords := accounts.NewPasswords(accounts.PasswordCost{Memory: 64, Passes: 1})
	hash, err := passwords.Hash(t.Context(), accounts.Sender{}, "correct horse")
	if err != nil || !strings.HasPrefix(hash, "$argon2id$v=19$m=64,t=1,p=1$") {
		t.Fatalf("got %q, %v", hash, err)
	}
	if again, err := passwords.Hash(t.Context(), accounts.Sender{}, "correct horse"); err != nil || again == hash {
		t.Errorf("the salt is the same: %v", err)
	}
	for password, want := range map[string]bool{"correct horse": true, "Correct horse": false, "": false, "correct horse\x00": false} {
		t.Run(fmt.Sprintf("%q", password), func(t *testing.T) {
			if got, err := passwords.Verify(t.Context(), accounts.Sender{}, password, hash); got != want || err != nil {
				t.Errorf("%q: got %v, %v", password, got, err)
			}
		})
	}
	if got, err := passwords.Verify(t.Context(), accounts.Sender{}, "", ""); got || err != nil {
		t.Errorf("no hash: got %v, %v", got, err)
	}
	for _, damaged := range []string{"x", "$argon2id$v=19$m=64,t=1,p=1$!$!", "$argon2id$v=19$m=x,t=1,p=1$AAAA$AAAA"} {
		t.Run(damaged, func(t *testing.T) {
			if _, err := passwords.Verify(t.Context(), accounts.Sender{}, "x", damaged); err == nil {
				t.Errorf("%q was read", damaged)
			}
		})
	}
	// A hash with an older cost can still be verified.
	if got, err := accounts.NewPasswords(accounts.PasswordCost{Memory: 32, Passes: 2}).Verify(t.Context(), accounts.Sender{}, "correct horse", hash); !got || err != nil {
		t.Errorf("got %v, %v", got, err)
	}
}

// TestPasswords_Bounded: hashing uses at most 64 MiB at once, and no password
// waits long.
func TestPasswords_Bounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		passwords := accounts.NewPasswords(accounts.PasswordCost{Memory: 30 << 10, Passes: 1})
		var leave []func()
		for range passwords.HashesAtOnce() {
			leave = append(leave, passwords.Occupy(t.Context()))
		}
		began := time.Now()
		_, err := passwords.Verify(t.Context(), accounts.Sender{}, "x", "")
		if refusals := fault.All(err); len(refusals) != 1 || refusals[0].Code != fault.RateLimited || refusals[0].RetryAfter != time.Second {
			t.Errorf("got %v", err)
		}
		if waited := time.Since(began); waited != 2*time.Second {
			t.Errorf("waited %s", waited)
		}
		leaving, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := passwords.Verify(leaving, accounts.Sender{}, "x", ""); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
		for _, each := range leave {
			each()
		}
		if _, err := passwords.Verify(t.Context(), accounts.Sender{}, "x", ""); err != nil {
			t.Error(err)
		}
	})
}

// TestPasswords_DefaultCost checks that the cost that OWASP recommends fits the
// memory bound.
func TestPasswords_DefaultCost(t *testing.T) {
	t.Parallel()
	cost := accounts.DefaultPasswordCost()
	if cost.Memory < 19<<10 || cost.Passes < 2 {
		t.Errorf("got %+v", cost)
	}
	passwords := accounts.NewPasswords(cost)
	if hashes := passwords.HashesAtOnce(); hashes*int(cost.Memory) > 64<<10 || hashes > max(1, runtime.GOMAXPROCS(0)/2) {
		t.Errorf("%d passwords are hashed at once, with %d KiB each", hashes, cost.Memory)
	}
	var inFlight sync.WaitGroup
	var failed atomic.Int32
	for range 6 { // more than are hashed at once
		inFlight.Go(func() {
			if _, err := passwords.Hash(t.Context(), accounts.Sender{}, "x"); err != nil && !fault.Is(err, fault.RateLimited) {
				failed.Add(1)
			}
		})
	}
	inFlight.Wait()
	if failed.Load() > 0 {
		t.Errorf("%d failed", failed.Load())
	}
}

func TestAttempts_GrowingDelay(t *testing.T) {
	t.Parallel()
	var attempts accounts.Attempts
	now := time.Date(2031, 1, 1, 0, 0, 0, 0, time.UTC)
	try := func(address, peer string) error {
		_, err := attempts.Admit(address, peer, now)
		return err
	}
	for range 5 {
		if err := try("ada", "192.0.2.1:1"); err != nil {
			t.Fatal(err)
		}
	}
	for _, seconds := range []int{1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 900, 900} {
		delay := time.Duration(seconds) * time.Second
		refusals := fault.All(try("ada", "192.0.2.1:2"))
		if len(refusals) != 1 || refusals[0].RetryAfter != delay {
			t.Fatalf("got %v, want a delay of %s", refusals, delay)
		}
		for _, other := range [][2]string{{"bob", "192.0.2.1:1"}, {"ada", "192.0.2.2:1"}} {
			who, err := attempts.Admit(other[0], other[1], now)
			if err != nil {
				t.Errorf("%v waits too: %v", other, err)
			}
			attempts.Succeeded(who)
		}
		now = now.Add(delay)
		if err := try("ada", "192.0.2.1:1"); err != nil {
			t.Fatal(err)
		}
	}
	now = now.Add(2 * time.Hour) // all failures are forgotten
	for range 5 {
		if err := try("ada", "192.0.2.1:1"); err != nil {
			t.Fatal(err)
		}
	}
	now = now.Add(time.Second)
	who, err := attempts.Admit("ada", "192.0.2.1:1", now)
	if err != nil {
		t.Fatal(err)
	}
	attempts.Succeeded(who)
	for range 4 {
		if err := try("ada", "192.0.2.1:1"); err != nil {
			t.Fatal(err)
		}
	}
	// An attempt that ended without a decision does not count.
	who, _ = attempts.Admit("ada", "192.0.2.1:1", now)
	attempts.Withdraw(who)
	if err := try("ada", "192.0.2.1:1"); err != nil {
		t.Error(err)
	}
}
